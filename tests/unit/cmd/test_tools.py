# SPDX-License-Identifier: Apache-2.0
import io
import pathlib
import platform
import tempfile
import unittest
import urllib.parse
from unittest import mock

from rally_vmperf.bundles import bundle
from rally_vmperf.cmd import tools
from rally_vmperf.image import commands
from rally_vmperf.image import tool_packages
from rally_vmperf.workloads import registry
from tests import repository
from tests import skips
from tests.unit.bundles import bundled
from tests.unit.doc import pages

SCENARIOS = pages.ROOT / "scenarios"


@skips.requires("apt-get")
class BundleTestCase(unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(
            self.enterContext(tempfile.TemporaryDirectory())
        )
        self.target = self.folder / "made" / "tools.tar.gz"
        self.target.parent.mkdir()
        self.app = mock.Mock(stdout=io.StringIO())

    def run_command(self, *arguments):
        command = tools.Bundle(app=self.app, app_args=None)
        parser = command.get_parser("x")
        command.take_action(parser.parse_args([str(self.target), *arguments]))

    def request(self, *arguments):
        """Return the request for packages, which are not downloaded."""
        refusal = commands.HostError("no mirror")
        with (
            mock.patch.object(
                tool_packages, "fetch", autospec=True, side_effect=refusal
            ) as fetch,
            self.assertRaisesRegex(commands.HostError, "no mirror"),
        ):
            self.run_command(*arguments)
        self.assertEqual([], [*self.target.parent.iterdir()])
        return fetch.call_args.args[0]

    def test_what_is_no_path_of_a_file(self):
        """It is rejected before anything is downloaded."""
        for path in ("/", ".", str(self.folder)):
            self.target = path
            with self.assertRaisesRegex(
                bundle.BundleError,
                f"^bundle {path}: must be the path of a file, such as",
            ):
                self.run_command()

    def test_request_without_a_task(self):
        request = self.request(
            *("--distribution", "jammy"),
            *("--mirror", "http://m.example/ubuntu"),
        )
        packages = {
            tool.package
            for name in registry.workload_names()
            for tool in registry.get_workload(name).TOOLS
            if tool.affects_results and tool.side != "peer"
            if "apt" not in tool.advice
        }
        self.assertEqual(tuple(sorted(packages)), request.packages)
        self.assertNotIn("iozone3", packages)
        self.assertLessEqual({"fio", "sysbench"}, packages)
        self.assertEqual("jammy", request.suite)
        self.assertEqual("http://m.example/ubuntu", request.mirror)

    def test_request_for_tasks(self):
        """Programs that only prepare are not among them."""
        request = self.request(
            *("--task", str(SCENARIOS / "overhead-mbw.yaml")),
            *("--task", str(SCENARIOS / "overhead-fio.yaml")),
        )
        self.assertEqual(("fio", "mbw"), request.packages)
        release = platform.freedesktop_os_release()
        self.assertEqual(release["VERSION_CODENAME"], request.suite)

    @unittest.skipUnless(platform.machine() == "x86_64", "made for amd64")
    def test_packages_are_downloaded(self):
        """Nothing but the bundle and the output of apt is left."""
        served = self.folder / "served"
        served.mkdir()
        repository.make(served, bundled.packages(self.folder, "cp"))
        lines = [
            f"deb [trusted=yes] copy:{urllib.parse.quote(str(served))} ./"
        ]
        with mock.patch.object(
            tool_packages, "sources", autospec=True, return_value=lines
        ):
            self.run_command(
                *("--task", str(SCENARIOS / "overhead-cp.yaml")),
                *("--distribution", "bookworm"),
            )
        made = bundle.load(self.target)
        self.assertEqual(
            {"cp": ("coreutils", "9.1-1")},
            {
                name: (program.package, program.version)
                for name, program in made.programs.items()
            },
        )
        self.assertEqual(
            ("bookworm", "amd64"), (made.distribution, made.architecture)
        )
        self.assertEqual(
            {"tools.tar.gz", "tools.tar.gz.log"},
            {path.name for path in self.target.parent.iterdir()},
        )
        printed = self.app.stdout.getvalue()
        self.assertIn("cp of bookworm,", printed)
        self.assertIn("omitted: sync, because", printed)
