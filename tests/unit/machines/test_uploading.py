"""The real script, with package managers that note what they find."""

import pathlib
import tempfile
import unittest

from rally_vmperf.machines import base
from rally_vmperf.machines import local
from rally_vmperf.machines import testing
from rally_vmperf.machines.provisioning import packages
from tests.unit.machines import programs
from tests.unit.toolbox import made

#: apt-get that wants one file, and notes what is there when it installs.
APT = """\
for word; do case $word in
    Dir::Etc::sourcelist=*) place=$(dirname "${word#*=}") ;;
esac; done
case " $* " in
*" --print-uris "*)
    echo "'file:$place/./WANTED' mbw_1.2.2-1.1_amd64.deb 150000 " ;;
*" install "*)
    cat "$place/sources.list" >SEEN
    (cd "$place" && sha256sum *.deb) >>SEEN ;;
esac
"""
RPM = """\
case "$*" in *-qa*) echo libfake-2.0-1.x86_64.rpm ;; esac
"""


class UploadingTestCase(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name)
        self.programs = programs.Programs(self)
        self.made = self.top / "made"
        self.note_folders()
        self.machine = local.Local("g1")

    def note_folders(self):
        """Have mktemp note what it makes: others upload here meanwhile."""
        program = self.programs.folder / "mktemp"
        real = program.readlink()
        program.unlink()
        program.write_text(
            f'#!/bin/sh\nmade=$({real} "$@") || exit\n'
            f'case $1 in -d) echo "$made" >>{self.made} ;; esac\n'
            'echo "$made"\n'
        )
        program.chmod(0o755)

    async def upload(self, manager, *names, **changed):
        toolbox = made.toolbox(self.top, **changed)
        (chosen,) = toolbox.sets
        reason = await packages.from_toolbox(
            self.machine, manager, names, toolbox, chosen
        )
        (path,) = self.made.read_text().splitlines()
        self.assertFalse(pathlib.Path(path).exists(), path)
        return chosen, reason

    def apt(self, wanted):
        body = APT.replace("SEEN", str(self.top / "detail"))
        self.programs.fake("apt-get", body.replace("WANTED", wanted))

    async def test_apt_gets_what_it_wants_and_no_more(self):
        mbw = made.file(self.top, "mbw.deb", b"mbw" * 50_000)
        self.apt(mbw.target)
        await self.upload("apt-get", "mbw")
        source, *sums = (self.top / "detail").read_text().splitlines()
        self.assertEqual([f"{mbw.sha256}  {mbw.target}"], sums)
        place = source.split()[2].removeprefix("file:")
        self.assertEqual(f"deb [trusted=yes] file:{place} ./", source)
        self.assertFalse(pathlib.Path(place).exists())
        for call in self.programs.calls:
            for option in (
                f"Dir::Etc::sourcelist={place}/sources.list",
                "Dir::Etc::sourceparts=/dev/null",
                f"Dir::State::lists={place}/lists",
            ):
                self.assertIn(option, call)
        update, look, install = self.programs.calls
        self.assertEqual("update", update[-1])
        self.assertEqual(["--print-uris", "install", "--", "mbw"], look[-4:])
        self.assertEqual(
            ["-y", "--no-install-recommends", "install", "--", "mbw"],
            install[-5:],
        )

    async def test_what_a_guest_asks_for_is_no_path(self):
        """Files that are not in the manifest are never sent."""
        self.apt("../../etc/shadow")
        await self.upload("apt-get", "mbw")
        self.assertEqual(
            1, len((self.top / "detail").read_text().splitlines())
        )

    async def test_a_file_that_is_not_the_one_that_was_meant(self):
        """It is found on the machine, and nothing is installed."""
        mbw = made.file(self.top, "mbw.deb", b"mbw" * 50_000)
        self.apt(mbw.target)
        toolbox = made.toolbox(self.top)
        (chosen,) = toolbox.sets
        toolbox.file(chosen.packages[0]).write_bytes(b"evil")
        reason = await packages.from_toolbox(
            self.machine, "apt-get", ["mbw"], toolbox, chosen
        )
        self.assertIn("checksum", reason)
        self.assertFalse((self.top / "detail").exists())

    async def test_apt_does_not_find_it(self):
        self.programs.fake(
            "apt-get", stderr="E: Unable to locate package x\n", exit_status=1
        )
        _, reason = await self.upload("apt-get", "x")
        self.assertEqual("E: Unable to locate package x", reason)
        self.assertEqual(1, len(self.programs.calls))

    def rpms(self):
        return {
            "family": "rpm",
            "distribution": "rocky-9",
            "architecture": "x86_64",
            "index": (),
            "packages": tuple(
                made.file(
                    self.top,
                    f"{name}-2.0-1.x86_64.rpm",
                    name.encode(),
                    package=name,
                    version="2.0-1",
                )
                for name in ("fio", "libfake")
            ),
        }

    async def rpm(self, manager):
        """Upload for a manager; return its command line, and what it saw."""
        self.programs.fake("rpm", RPM)
        seen = self.top / "detail"
        self.programs.fake(
            manager,
            "for word; do case $word in\n"
            "*file:///*) place=${word#*file://} ;;\n"
            "dir:/*) place=${word#dir:} ;;\nesac; done\n"
            f'ls "$place" >{seen}',
        )
        await self.upload(manager, "fio", **self.rpms())
        listed = seen.read_text().split()
        return self.programs.calls[-1], listed

    async def test_dnf(self):
        """What is installed in that very version is not sent."""
        call, listed = await self.rpm("dnf")
        self.assertIn("fio-2.0-1.x86_64.rpm", listed)
        self.assertNotIn("libfake-2.0-1.x86_64.rpm", listed)
        place = call[4].partition("=vmperf-tools,file://")[2]
        self.assertEqual(
            [
                *("dnf", "-y", "--setopt=install_weak_deps=False"),
                f"--setopt=cachedir={place}/cache",
                f"--repofrompath=vmperf-tools,file://{place}",
                *("--repo=vmperf-tools", "--setopt=vmperf-tools.gpgcheck=0"),
                *("--setopt=vmperf-tools.module_hotfixes=1", "install", "fio"),
            ],
            call,
        )

    async def test_zypper(self):
        call, listed = await self.rpm("zypper")
        self.assertIn("fio-2.0-1.x86_64.rpm", listed)
        place = call[6].removeprefix("dir:")
        self.assertEqual(
            [
                *("zypper", "--non-interactive", "--quiet"),
                *("--no-gpg-checks", "--no-remote", "--plus-repo"),
                *(f"dir:{place}", "install", "--no-recommends", "fio"),
            ],
            call,
        )

    async def test_a_manager_that_cannot(self):
        self.programs.fake("rpm", RPM)
        _, reason = await self.upload("microdnf", "fio", **self.rpms())
        self.assertIn("'microdnf'", reason)

    async def test_a_folder_that_is_none(self):
        """What a machine answers is not removed unless it is ours."""
        for answer in ("/etc", "/var/tmp/rally-vmperf-", "", "../x"):
            machine = testing.FakeMachine("g1", {"id": "0", "bash": answer})
            toolbox = made.toolbox(self.top)
            (chosen,) = toolbox.sets
            with self.assertRaisesRegex(base.MachineError, "is no folder"):
                await packages.from_toolbox(
                    machine, "apt-get", ["mbw"], toolbox, chosen
                )
