import os
import pathlib
import shutil
import tempfile
import unittest
from unittest import mock

import ddt

from rally_vmperf.toolbox import folder
from rally_vmperf.toolbox import indexing
from rally_vmperf.toolbox import manifest
from tests.unit.toolbox import made


class Case(unittest.TestCase):
    def setUp(self):
        super().setUp()
        created = tempfile.TemporaryDirectory()
        self.addCleanup(created.cleanup)
        self.top = pathlib.Path(created.name)

    def refused(self, text):
        with self.assertRaisesRegex(manifest.ToolboxError, text):
            indexing.index(self.top, "", "rocky-9")


@unittest.skipUnless(shutil.which("dpkg-deb"), "no dpkg-deb here")
class DebTestCase(Case):
    def test_epochs_and_signs_reach_no_url(self):
        made.deb(
            self.top, "libmariadb3", "1:10.11~rc+1", depends="Depends: x\n"
        )
        made.deb(self.top, "mysql-common", "5.8", "all")
        indexed = indexing.index(self.top, "", "bookworm")
        self.assertEqual(
            ("deb", "amd64"), (indexed.family, indexed.architecture)
        )
        first, second = indexed.packages
        self.assertEqual("1:10.11~rc+1", first.version)
        self.assertEqual("mysql-common", second.package)
        paragraphs = (self.top / "Packages").read_text().split("\n\n")
        self.assertEqual(2, len(paragraphs))
        for line in (
            "Package: libmariadb3",
            "Depends: x",
            f"Filename: ./{first.target}",
            f"Size: {first.size}",
            f"SHA256: {first.sha256}",
        ):
            self.assertIn(line, paragraphs[0].splitlines())
        self.assertEqual((indexed,), folder.load(self.top).sets)

    def test_no_package_at_all(self):
        (self.top / "x_1_amd64.deb").write_bytes(b"x")
        self.refused("dpkg-deb cannot read .*x_1_amd64.deb")


@ddt.ddt
class RpmTestCase(Case):
    def rpms(self, *names):
        for name in names:
            (self.top / name).write_bytes(name.encode())

    def createrepo(self, body):
        """Put a program there that makes metadata."""
        place = self.top / "bin"
        place.mkdir()
        program = place / "createrepo_c"
        program.write_text(f"#!/bin/sh\n{body}\n")
        program.chmod(0o755)
        path = f"{place}:{os.environ['PATH']}"
        patch = mock.patch.dict(os.environ, {"PATH": path})
        patch.start()
        self.addCleanup(patch.stop)

    def test_metadata_is_part_of_the_index(self):
        self.rpms("fio-3.35-1.el9.x86_64.rpm", "tzdata-2024a-1.el9.noarch.rpm")
        self.createrepo(
            'for place; do :; done; [ "$1 $2" = "--quiet --no-database" ] &&'
            ' mkdir "$place/repodata" && echo m >"$place/repodata/repomd.xml"'
        )
        made = indexing.index(self.top, "", "rocky-9")
        self.assertEqual(("rpm", "x86_64"), (made.family, made.architecture))
        self.assertEqual(
            ["repodata/repomd.xml"], [one.target for one in made.index]
        )
        self.assertEqual(
            [("fio", "3.35-1.el9"), ("tzdata", "2024a-1.el9")],
            [(one.package, one.version) for one in made.packages],
        )
        self.assertEqual("fio-3.35-1.el9.x86_64.rpm", made.packages[0].target)
        self.assertEqual((made,), folder.load(self.top).sets)

    def test_metadata_made_elsewhere(self):
        self.rpms("fio-3.35-1.el9.x86_64.rpm")
        made.file(self.top, "repodata/repomd.xml", b"m")
        with mock.patch.dict(os.environ, {"PATH": str(self.top)}):
            found = indexing.index(self.top, "", "rocky-9")
        self.assertEqual(1, len(found.index))

    def test_no_metadata(self):
        self.rpms("fio-3.35-1.el9.x86_64.rpm")
        with mock.patch.dict(os.environ, {"PATH": str(self.top)}):
            self.refused("has no repodata, and createrepo_c is not installed")

    def test_metadata_that_cannot_be_made(self):
        self.rpms("fio-3.35-1.el9.x86_64.rpm")
        self.createrepo("echo 'C_CREATEREPOLIB: bad' >&2; exit 1")
        self.refused("createrepo_c cannot read .*C_CREATEREPOLIB: bad")

    @ddt.data(
        ([], "neither deb nor rpm"),
        (["a-1-1.x86_64.rpm", "a_1_amd64.deb"], "both deb and rpm"),
        (["fio.rpm"], "fio.rpm has not the name of a binary rpm"),
        (["fio-1-1.src.rpm"], "fio-1-1.src.rpm has not the name"),
    )
    @ddt.unpack
    def test_folders_that_are_none(self, names, text):
        self.rpms(*names)
        self.refused(text)

    @ddt.data(
        (["a-1-1.i686.rpm", "b-1-1.x86_64.rpm"], "of i686, x86_64 arch"),
        (["a-1-1.noarch.rpm"], "of no architecture"),
    )
    @ddt.unpack
    def test_one_architecture(self, names, text):
        self.rpms(*names)
        made.file(self.top, "repodata/repomd.xml", b"m")
        with mock.patch.dict(os.environ, {"PATH": str(self.top)}):
            self.refused(text)

    def test_no_folder(self):
        self.top = self.top / "none"
        self.refused("none: No such file")
