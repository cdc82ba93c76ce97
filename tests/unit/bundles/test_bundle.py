# SPDX-License-Identifier: Apache-2.0
import asyncio
import gzip
import hashlib
import io
import json
import os
import pathlib
import platform
import shutil
import subprocess
import tarfile
import tempfile
import unittest

import ddt

from rally_vmperf.bundles import bundle
from rally_vmperf.bundles import bundling
from rally_vmperf.machines import base
from rally_vmperf.machines import local
from rally_vmperf.machines.provisioning import provision
from rally_vmperf.workloads import tools
from tests.unit.bundles import bundled
from tests.unit.machines import folders

LS = tools.Tool(command="ls", package="coreutils", version=("ls", "--version"))
SILENT = tools.Tool(command="ls", package="coreutils", version=())
CAT = tools.Tool(
    command="cat", package="coreutils", version=("cat", "--version")
)
HERE = shutil.which("dpkg-deb") and platform.machine() == "x86_64"


class Case(unittest.TestCase):
    """Has a folder."""

    def setUp(self):
        super().setUp()
        self.top = pathlib.Path(
            self.enterContext(tempfile.TemporaryDirectory())
        )


@unittest.skipUnless(HERE, "deb packages of amd64 cannot be built here")
class RealTestCase(Case):
    """A program of this machine, with the C library of this machine."""

    def setUp(self):
        super().setUp()
        path, self.omitted = bundled.made(self.top)
        self.bundle = bundle.load(path)
        self.folder = folders.made(self)

    def unpacked(self):
        """Return the bundle, unpacked on this machine."""
        return asyncio.run(
            provision.unpack(
                local.Local("here"), self.bundle, str(self.folder)
            )
        )

    def facts(self, *commands):
        """Return what this machine says of its programs."""
        return asyncio.run(
            provision.ensure(
                local.Local("here"), commands, unpacked=self.unpacked()
            )
        )

    def test_it_holds_programs_and_no_scripts(self):
        self.assertEqual(["bmkrun", "shown"], self.omitted)
        self.assertEqual({"ls"}, set(self.bundle.programs))
        program = self.bundle.programs["ls"]
        self.assertEqual(
            ("coreutils", "9.1-1"), (program.package, program.version)
        )
        self.assertEqual(
            ("bookworm", "amd64"),
            (self.bundle.distribution, self.bundle.architecture),
        )

    def test_the_same_packages_give_the_same_bundle(self):
        again = self.top / "again"
        again.mkdir()
        other, _ = bundled.made(again)
        self.assertEqual(self.bundle.path.read_bytes(), other.read_bytes())

    def test_programs_run_with_their_own_libraries(self):
        unpacked = self.unpacked()
        process = subprocess.run(
            [
                *unpacked.prefix,
                *("sh", "-c", 'ls "$1" && exec cat /proc/self/maps', "x"),
                unpacked.folder,
            ],
            capture_output=True,
            text=True,
            check=True,
        )
        self.assertEqual("ls", process.stdout.splitlines()[0])
        traced = subprocess.run(
            [*unpacked.prefix, "ls", "/proc/self/exe", "-l"],
            capture_output=True,
            text=True,
            check=True,
        )
        self.assertIn(f"{self.folder}/bundle/lib/ld.so", traced.stdout)

    def test_facts_are_those_of_the_program(self):
        facts = self.facts(LS, CAT)
        self.assertEqual(
            self.bundle.programs["ls"].sha256, facts["ls"].checksum
        )
        self.assertIn("coreutils", facts["ls"].version)
        self.assertEqual(f"{self.folder}/bundle/bin/ls", facts["ls"].path)
        self.assertEqual(
            os.path.realpath(shutil.which("cat")), facts["cat"].path
        )

    def test_a_program_that_cannot_tell(self):
        self.assertEqual("coreutils 9.1-1", self.facts(SILENT)["ls"].version)

    def test_another_program_instead(self):
        unpacked = self.unpacked()
        (self.folder / "bundle/bin/ls").unlink()
        with self.assertRaisesRegex(
            base.MachineError, "here runs /.*/ls and not the ls of the bundle"
        ):
            asyncio.run(
                provision.ensure(local.Local("here"), [LS], unpacked=unpacked)
            )

    def test_a_program_that_was_changed(self):
        """The program itself is compared, not its description."""
        unpacked = self.unpacked()
        program = self.folder / "bundle/programs/ls"
        changed = b"\x7fELF"
        program.write_bytes(changed)
        checksum = hashlib.sha256(changed).hexdigest()
        described = self.bundle.programs["ls"].sha256
        with self.assertRaisesRegex(
            base.MachineError,
            f"^here: ls of the bundle has the SHA-256 {checksum} instead of "
            f"{described}; create",
        ):
            asyncio.run(
                provision.ensure(local.Local("here"), [LS], unpacked=unpacked)
            )

    def test_no_room(self):
        (self.folder / "bundle").mkdir()
        with self.assertRaisesRegex(
            base.MachineError, "here: cannot unpack the bundle tools.tar.gz"
        ):
            self.unpacked()

    def test_packages_that_are_missing(self):
        for commands, prefix in (
            ({"fio": "fio"}, "bookworm has no package .* fio"),
            ({"shown": "coreutils"}, "contain none of shown"),
            ({"bmkrun": ""}, "contain none of bmkrun"),
        ):
            top = pathlib.Path(
                self.enterContext(tempfile.TemporaryDirectory())
            )
            with self.assertRaisesRegex(bundle.BundleError, prefix):
                bundled.made(top, commands)
            self.assertFalse((top / "tools.tar.gz").exists())

    def test_packages_without_the_c_library(self):
        package, _ = bundled.packages(self.top)
        with self.assertRaisesRegex(
            bundle.BundleError, "not contain ld-linux.so"
        ):
            bundling.create_bundle(
                self.top / "x.tar.gz",
                {bundled.PROGRAM: "coreutils"},
                [package],
                bundled.RELEASE,
                self.folder / "tree",
            )


@ddt.ddt
class LoadTestCase(Case):
    """A file that is not a bundle is rejected in one line."""

    def test_good(self):
        path = self.top / "b.tar.gz"
        bundled.written(path, bundle.NAME, json.dumps(bundled.GOOD).encode())
        self.assertEqual("3.33-3", bundle.load(path).programs["fio"].version)

    @ddt.data(
        (
            "other.json",
            bundled.GOOD,
            "its first member is not a file bundle.json",
        ),
        (bundle.NAME, {**bundled.GOOD, "version": 2}, "1 was expected"),
        (bundle.NAME, {**bundled.GOOD, "programs": {"../x": {}}}, "match"),
        (bundle.NAME, {**bundled.GOOD, "programs": {}}, "programs"),
        (bundle.NAME, "{", "damaged"),
    )
    @ddt.unpack
    def test_refused(self, name, content, prefix):
        path = self.top / "b.tar.gz"
        text = content if isinstance(content, str) else json.dumps(content)
        bundled.written(path, name, text.encode())
        with self.assertRaisesRegex(bundle.BundleError, prefix) as caught:
            bundle.load(path)
        self.assertIn("rally-vmperf tools bundle", str(caught.exception))
        self.assertNotIn("\n", str(caught.exception))

    @ddt.data(tarfile.SYMTYPE, tarfile.LNKTYPE)
    def test_a_link_to_the_description(self, kind):
        path = self.top / "b.tar.gz"
        content = json.dumps(bundled.GOOD).encode()
        for target in ("other", "missing", bundle.NAME):
            with tarfile.open(path, "w:gz") as archive:
                link = tarfile.TarInfo(bundle.NAME)
                link.type, link.linkname = kind, target
                archive.addfile(link)
                other = tarfile.TarInfo("other")
                other.size = len(content)
                archive.addfile(other, io.BytesIO(content))
            with self.assertRaisesRegex(
                bundle.BundleError, "first member is not a file bundle.json"
            ):
                bundle.load(path)

    def test_no_archive(self):
        for content in (b"", b"x" * 1000, gzip.compress(b"x" * 1000)[:-12]):
            path = self.top / "b.tar.gz"
            path.write_bytes(content)
            with self.assertRaises(bundle.BundleError):
                bundle.load(path)
        with self.assertRaisesRegex(bundle.BundleError, "No such file"):
            bundle.load(self.top / "none")
