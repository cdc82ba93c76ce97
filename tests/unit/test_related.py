# SPDX-License-Identifier: Apache-2.0
import contextlib
import io
import pathlib
import unittest

from tests import related
from tests.bench import architecture


class FindTestsTest(unittest.TestCase):
    def test_modules_that_import_it(self):
        importers = {
            "rally_vmperf.a": {"rally_vmperf.b", "tests.unit.test_a"},
            "rally_vmperf.b": {"tests.unit.test_b"},
        }
        self.assertEqual(
            ["tests.unit.test_a"],
            related.find_tests("rally_vmperf.a", importers),
        )

    def test_users_of_what_no_test_imports(self):
        """Also in a circle, and beside a module that helps tests."""
        importers = {
            "rally_vmperf.a": {"rally_vmperf.b", "tests.unit.made"},
            "rally_vmperf.b": {"rally_vmperf.a", "tests.unit.test_b"},
        }
        self.assertEqual(
            ["tests.unit.test_b"],
            related.find_tests("rally_vmperf.a", importers),
        )

    def test_folder_of_what_nobody_imports(self):
        self.assertIn(
            "tests.unit.runs.events.test_command",
            related.find_tests("rally_vmperf.runs.events.resize", {}),
        )
        self.assertIn(
            "tests.unit.test_layers", related.find_tests("rally_vmperf.x", {})
        )

    def test_each_module_has_tests(self):
        importers = related.read_importers()
        for path in sorted(architecture.TOP.rglob("*.py")):
            if path.name != "__init__.py":
                name = architecture.name_module(path)
                with self.subTest(name):
                    for found in related.find_tests(name, importers):
                        test = related.ROOT.joinpath(*found.split("."))
                        self.assertTrue(test.with_suffix(".py").is_file())


class MainTest(unittest.TestCase):
    def run_main(self, *arguments):
        output, errors = io.StringIO(), io.StringIO()
        with (
            contextlib.redirect_stdout(output),
            contextlib.redirect_stderr(errors),
        ):
            code = related.main(arguments)
        return code, output.getvalue().split(), errors.getvalue()

    def test_prints_each_once(self):
        module = str(architecture.TOP / "judging" / "axis.py")
        code, printed, _ = self.run_main(module, module)
        self.assertEqual(0, code)
        self.assertIn("tests.unit.judging.test_axis", printed)
        self.assertEqual(sorted(set(printed)), sorted(printed))

    def test_no_module(self):
        """Without one, unittest would run all tests."""
        code, printed, errors = self.run_main()
        self.assertEqual((2, []), (code, printed))
        self.assertIn("give the path of one", errors)

    def test_no_module_of_the_package(self):
        for path in (__file__, "/none.py", str(pathlib.Path.cwd())):
            code, printed, errors = self.run_main(path)
            self.assertEqual((2, []), (code, printed))
            self.assertIn(f"{path}: no module of rally_vmperf", errors)
