import json
import pathlib
import tempfile
import unittest

import ddt

from rally_vmperf.toolbox import folder
from rally_vmperf.toolbox import manifest
from tests.unit.toolbox import made


@ddt.ddt
class FolderTestCase(unittest.TestCase):
    def setUp(self):
        super().setUp()
        created = tempfile.TemporaryDirectory()
        self.addCleanup(created.cleanup)
        self.top = pathlib.Path(created.name)

    def change(self, **changed):
        """Change the first package in the manifest."""
        path = self.top / manifest.NAME
        content = json.loads(path.read_text())
        content["sets"][0]["packages"][0].update(changed)
        path.write_text(json.dumps(content))

    def refused(self, text):
        with self.assertRaisesRegex(manifest.ToolboxError, text):
            folder.load(self.top)

    def test_what_is_written_is_read(self):
        written = made.toolbox(self.top)
        self.assertEqual(written, folder.load(str(self.top)))
        (one,) = written.sets
        self.assertEqual("1.2.2-1.1", one.packages[0].version)
        self.assertTrue(written.file(one.packages[0]).exists())

    def test_sets_are_added_and_replaced(self):
        made.toolbox(self.top, architecture="arm64")
        made.toolbox(self.top)
        both = made.toolbox(self.top)
        self.assertEqual(
            ["bookworm (arm64)", "bookworm (amd64)"], [*map(str, both.sets)]
        )

    def test_no_manifest(self):
        self.refused(f"{self.top} has no tools.json; .*tools fetch")

    @ddt.data(
        ("{", "Expecting"),
        ("[]", r"content: \[\] is not of type"),
        ('{"version": 2, "sets": []}', "version: 1 was expected"),
        ('{"version": 1, "sets": [{}]}', r"sets\[0\]: 'family' is a required"),
    )
    @ddt.unpack
    def test_damaged_manifest(self, text, reason):
        (self.top / manifest.NAME).write_text(text)
        self.refused(reason)

    @ddt.data("/etc/passwd", "../x", "a/../x", "a/..", "./x", "..", "")
    def test_paths_that_lead_out(self, path):
        made.toolbox(self.top)
        self.change(path=path)
        self.refused(r"packages\[0\].path")

    @ddt.data("/etc/passwd", "../x", "-x", "a b", "a\nb", "repodata/../x")
    def test_names_that_no_guest_should_see(self, target):
        made.toolbox(self.top)
        self.change(target=target)
        self.refused(r"packages\[0\].target")

    def test_another_file(self):
        toolbox = made.toolbox(self.top)
        path = toolbox.file(toolbox.sets[0].packages[1])
        path.write_bytes(b"FIO")
        self.refused(f"{path} is not the file .*SHA-256 .*index the folder")

    def test_missing_file(self):
        toolbox = made.toolbox(self.top)
        path = toolbox.file(toolbox.sets[0].packages[1])
        path.unlink()
        self.refused(f"{path}: No such file")

    def test_the_set_for_a_guest(self):
        toolbox = made.toolbox(self.top)
        names = {"bookworm", "debian-12"}
        self.assertIs(
            toolbox.sets[0], toolbox.find(names, "amd64", whose="g1")
        )

    @ddt.data(
        ({"jammy", "ubuntu-22.04"}, "amd64"),
        ({"bookworm"}, "arm64"),
        (set(), ""),
    )
    @ddt.unpack
    def test_none_for_a_guest(self, names, architecture):
        toolbox = made.toolbox(self.top)
        own = " or ".join(sorted(names)) or "of no known release"
        with self.assertRaises(manifest.ToolboxError) as caught:
            toolbox.find(names, architecture, whose="g1")
        self.assertEqual(
            f"folder {self.top} has packages for bookworm (amd64), and g1 is "
            f"{own} ({architecture}); add what it needs with: rally-vmperf "
            "tools fetch, or tools index",
            str(caught.exception),
        )
