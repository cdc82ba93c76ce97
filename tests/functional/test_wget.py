# SPDX-License-Identifier: Apache-2.0
"""Downloads from the real servers of the wget workload, over loopback."""

import asyncio
import ftplib
import io
import pathlib
import tempfile
import unittest

import ddt

from rally_vmperf.execution import assignment
from rally_vmperf.execution import measure
from rally_vmperf.execution import measured
from rally_vmperf.execution import ports
from rally_vmperf.execution import servers
from rally_vmperf.execution.stations import roles
from rally_vmperf.image import packages
from rally_vmperf.machines import local
from rally_vmperf.machines import workfolder
from rally_vmperf.workloads import base
from rally_vmperf.workloads import registry
from tests.functional import laboratory

ADDRESS = "127.0.0.1"
CANARY = "canary of the wget test"


@ddt.ddt
@unittest.skipUnless(laboratory.CLOUD, "VMPERF_CLOUD names no embedded cloud")
class TestDownload(unittest.IsolatedAsyncioTestCase):
    """This machine as a guest and as the peer, both with root's home."""

    @classmethod
    def setUpClass(cls):
        """Install the servers without starting their services."""
        super().setUpClass()
        log = laboratory.laboratory().folder / "apt.log"
        packages.install(registry.debian_packages({"wget"}), log)

    async def asyncSetUp(self):
        """Make the working directories as a run does."""
        await super().asyncSetUp()
        machine = local.Local("here")
        self.guest, self.peer = [
            roles.Station(
                name=role,
                machine=machine,
                role=role,
                folder=(await workfolder.create(machine, "")).path,
                address=ADDRESS,
            )
            for role in ("guest", "peer")
        ]
        for place in (self.guest, self.peer):
            self.addAsyncCleanup(workfolder.remove, machine, place.folder)

    async def prepare(self, protocol):
        """Return the workload with its file on the peer."""
        (chosen,) = assignment.assign(
            [
                {
                    "name": "wget",
                    "arguments": {"size_mib": 4, "protocols": [protocol]},
                }
            ]
        )
        await measure.prepare([chosen], [self.guest], self.peer, str)
        return chosen

    @ddt.data("http", "ftp")
    async def test_downloads_the_file(self, protocol):
        """The rate is measured, with the commands of a run."""
        chosen = await self.prepare(protocol)
        result = measured.Measured()
        await measure.repetition(
            [chosen], [self.guest], self.peer, str, result
        )
        self.assertEqual([], result.missing)
        (observation,) = result.observations
        self.assertGreater(observation.sample.value, 0)

    async def test_ftp_serves_nothing_but_the_file(self):
        """No path, absolute or relative, leads out of the directory."""
        chosen = await self.prepare("ftp")
        (allotment,) = ports.allocate([chosen])
        ends = base.Endpoints(peer=ADDRESS, shared_ports=allotment.shared)
        (command,) = chosen.workload.commands(chosen.arguments, ends)
        running = servers.Servers(title=chosen.title, peer=self.peer)
        await running.hold(self.guest, command, 60)
        try:
            await asyncio.to_thread(self.attack, command.server.port)
        finally:
            await running.close()

    def attack(self, port):
        """Try to read files outside of the directory, and to write."""
        top = pathlib.Path(self.peer.folder, "wget")
        open_to_all = pathlib.Path(
            self.enterContext(tempfile.TemporaryDirectory())
        )
        open_to_all.chmod(0o755)
        for folder in (top, open_to_all):
            canary = folder / "canary"
            canary.write_text(CANARY)
            canary.chmod(0o644)
        ftp = self.enterContext(ftplib.FTP(timeout=20))
        ftp.connect(ADDRESS, port)
        ftp.login()
        self.assertEqual((top / "data").read_bytes(), read(ftp, "data"))
        upward = "../" * 9
        for path in (
            "../canary",
            f"{top}/canary",
            f"/{top}/canary",
            f"{upward}{top}/canary",
            f"{open_to_all}/canary",
            f"{upward}{open_to_all}/canary",
            "/etc/passwd",
            f"{upward}etc/passwd",
        ):
            with self.subTest(path), self.assertRaises(ftplib.error_perm):
                read(ftp, path)
        for folder in ("", "/", "..", upward):
            with self.subTest(folder):
                self.assertEqual({"data"}, listed(ftp, folder))
        for folder in ("/etc", str(top), str(open_to_all), f"{upward}etc"):
            with self.subTest(folder):
                self.assertEqual(set(), listed(ftp, folder))
                self.assertRaises(ftplib.error_perm, ftp.cwd, folder)
        for order in ("STOR new", "DELE data", "MKD new", "RNFR data"):
            with self.subTest(order), self.assertRaises(ftplib.error_perm):
                ftp.sendcmd(order)


def read(ftp, path):
    """Return the content of a file."""
    content = io.BytesIO()
    ftp.retrbinary(f"RETR {path}", content.write)
    return content.getvalue()


def listed(ftp, folder):
    """Return the base names of the entries of a directory."""
    return {pathlib.PurePath(name).name for name in ftp.nlst(folder)}
