"""Guests on a private network, without floating addresses."""

import pathlib
import subprocess
import time

from rally_vmperf.machines import hostkey
from tests import patience
from tests.functional import laboratory

SHORT = laboratory.TASKS / "short.yaml"
PORT = 2222


class ReachCase(laboratory.Case):
    """A short task with one guest that has no address of the outside."""

    def setUp(self):
        """Have the short task's baseline, and the router's namespace."""
        super().setUp()
        self.laboratory.record_baseline(
            "short", "--task", str(SHORT), "--flavor", "vmperf.tiny"
        )
        self.laboratory.use("member")
        (self.router,) = (
            router
            for router in self.laboratory.admin.network.routers()
            if router.external_gateway_info
        )
        self.namespace = f"qrouter-{self.router.id}"

    def check(self, options, words):
        """Expect a run of which every repetition is complete."""
        lab = self.laboratory
        before = lab.journals()
        with lab.started(
            SHORT, network="private", guest_options=options
        ) as process:
            process.wait(patience.seconds(300))
        said = process.log.read_text()
        self.assertEqual(0, process.returncode, said[-3000:])
        self.assertIn(f"{words} after", said)
        (path,) = lab.journals() - before
        records = lab.records(path)
        self.assertEqual(["complete"] * 3, [r["state"] for r in records])
        nova = lab.machines(records[0])["g1"]["nova"]
        self.assertEqual("fixed", nova["reached_by"])
        self.assertIsNone(nova["floating_address"])
        for name in ("jump", "namespace", "login", "host_key"):
            self.assertNotIn(name, nova)


class TestJump(ReachCase):
    """Through a jump host."""

    def test_through_a_jump_host(self):
        """An OpenSSH server beside the router forwards to the guest."""
        hop = self._jump()
        self.check(
            {"jump": hop},
            f" through root@{hop['address']}:{PORT}",
        )

    def _jump(self):
        """Start an SSH server of our own in the router's namespace."""
        folder = self.laboratory.folder / "jump"
        folder.mkdir(exist_ok=True)
        host, client = hostkey.generate("jump"), hostkey.generate("client")
        for name, content in (
            ("host", host.private),
            ("client", client.private),
            ("authorized", client.public),
        ):
            path = folder / name
            path.write_text(content)
            path.chmod(0o600)
        (address,) = (
            one["ip_address"]
            for one in self.router.external_gateway_info["external_fixed_ips"]
        )
        known = folder / "known_hosts"
        known.write_text(f"[{address}]:{PORT} {host.public}\n")
        self._serve(folder, address)
        return {
            "address": address,
            "port": PORT,
            "user": "root",
            "key_file": str(folder / "client"),
            "known_hosts": str(known),
        }

    def _serve(self, folder: pathlib.Path, address: str):
        settings = [
            f"HostKey={folder}/host",
            f"AuthorizedKeysFile={folder}/authorized",
            "StrictModes=no",
            "UsePAM=no",
            "PidFile=none",
            "MaxSessions=0",
            f"ListenAddress={address}:{PORT}",
        ]
        words = [word for one in settings for word in ("-o", one)]
        inside = ["ip", "netns", "exec", self.namespace]
        server = subprocess.Popen(
            [*inside, "/usr/sbin/sshd", "-D", "-f", "/dev/null", *words],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        time.sleep(1)
        self.assertIsNone(server.poll(), "sshd has ended at once")
