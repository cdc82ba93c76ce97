import io
import pathlib
import shutil
import tempfile
import unittest
from unittest import mock

from rally_vmperf.cmd import tools
from rally_vmperf.toolbox import folder
from rally_vmperf.toolbox import manifest
from rally_vmperf.workloads import registry
from tests.unit.doc import pages
from tests.unit.toolbox import made


class ToolsTestCase(unittest.TestCase):
    def setUp(self):
        super().setUp()
        created = tempfile.TemporaryDirectory()
        self.addCleanup(created.cleanup)
        self.top = pathlib.Path(created.name) / "tools"
        self.app = mock.Mock(stdout=io.StringIO())

    def run_command(self, kind, *words):
        command = kind(app=self.app, app_args=None)
        parser = command.get_parser("x")
        command.take_action(parser.parse_args([str(self.top), *words]))

    def fetched(self, *words):
        """Return what was asked of apt, without asking it."""

        def fetch(wish, top, log):
            return made.toolbox(top).sets[0]

        with mock.patch.object(
            tools.tool_packages, "fetch", autospec=True, side_effect=fetch
        ) as asked:
            self.run_command(tools.Fetch, *words)
        return [call.args[0] for call in asked.call_args_list]

    def test_all_tools(self):
        (wish,) = self.fetched(
            *("--distribution", "jammy", "--architecture", "arm64"),
            *("--mirror", "http://m.example/ubuntu"),
        )
        packages = {
            tool.package
            for name in registry.names()
            for tool in registry.get(name).TOOLS
            if "apt" not in tool.advice
        } - {"vsftpd"}  # for FTP, which has to be asked for
        self.assertEqual(tuple(sorted(packages)), wish.packages)
        self.assertNotIn("iozone3", packages)
        self.assertLessEqual({"fio", "python3"}, packages)
        self.assertEqual(("jammy", "arm64"), (wish.suite, wish.architecture))
        self.assertEqual("http://m.example/ubuntu", wish.mirror)
        self.assertIn("option tools:", self.app.stdout.getvalue())

    def test_tools_of_tasks(self):
        scenarios = pages.ROOT / "scenarios"
        (wish, other) = self.fetched(
            *("--task", str(scenarios / "overhead-mbw.yaml")),
            *("--task", str(scenarios / "overhead-fio.yaml")),
            *("--distribution", "bookworm", "--distribution", "trixie"),
            *("--architecture", "amd64"),
        )
        self.assertEqual(("bash", "fio", "mbw"), wish.packages)
        self.assertEqual("trixie", other.suite)

    @unittest.skipUnless(shutil.which("dpkg-deb"), "no dpkg-deb here")
    def test_index(self):
        self.top.mkdir()
        made.deb(self.top, "mbw", "1.2")
        self.run_command(tools.Index, "--distribution", "bookworm")
        (one,) = folder.load(self.top).sets
        self.assertEqual("bookworm (amd64)", str(one))
        self.assertIn("1 packages for bookworm", self.app.stdout.getvalue())

    def test_a_name_that_no_guest_has(self):
        self.top.mkdir()
        made.file(self.top, "repodata/repomd.xml", b"m")
        made.file(self.top, "fio-1-1.x86_64.rpm", b"x")
        with (
            mock.patch.dict("os.environ", {"PATH": str(self.top)}),
            self.assertRaisesRegex(manifest.ToolboxError, "distribution: "),
        ):
            self.run_command(tools.Index, "--distribution", "Rocky Linux")
