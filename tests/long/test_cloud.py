# SPDX-License-Identifier: Apache-2.0
"""The container of the embedded cloud ends, and starts again."""

import json
import os
import shutil
import signal
import tempfile

import ddt

from tests.cloud.state import settings
from tests.functional import breakage as d
from tests.functional import left_behind
from tests.functional import recovering
from tests.long import guest
from tests.long import long

SECRETS = d.PLACE.etc / "secrets.json"


@long.LONG
class TestEnd(recovering.Case):
    """However it ends, nothing is left but the folder."""

    def setUp(self):
        super().setUp()
        self.addCleanup(self.up)

    def down(self):
        """Take the cloud down; return what the host has without it."""
        d.run(*d.COMMAND, "down", *d.ROOT)
        self.assertEqual(set(), left_behind.ours())
        return left_behind.snapshot()

    def test_killed_with_a_guest(self):
        """The first process of the container gets SIGKILL."""
        before = self.down()
        self.up()
        cloud = recovering.connect("admin")
        self.enterContext(guest.booted(cloud, d.PLACE.root, "vmperf-killed"))
        # It must be up for the removal of the rest of the guest.
        self.addCleanup(self.up)
        self.assertEqual(1, len(d.guests()))
        d.end_container()
        self.assertEqual(set(), left_behind.snapshot() - before)
        self.up()
        self.assertEqual([], [*cloud.compute.servers(all_projects=True)])

    def test_waiting_process_killed(self):
        """The container goes on, and ``down`` removes all the same."""
        before = self.down()
        self.up()
        os.kill(d.waiting_process(), signal.SIGKILL)
        self.check_it_works()
        self.assertEqual(set(), self.down() - before)


@long.LONG
class TestInterrupted(recovering.Case):
    """Commands that are killed."""

    def test_up(self):
        """It is killed at each step from empty databases on."""
        d.interrupt(["up", "--rebuild"], "databases, images and logs")
        for sign in ("container", "identity", "image", "networks"):
            d.interrupt(["up"], sign)
        self.up()


@ddt.ddt
@long.LONG
class TestSettings(recovering.Case):
    """Options and files that have changed since the last time."""

    def test_disk_cache(self):
        """The services that read it start anew, and guests go on."""
        cloud = recovering.connect("admin")
        self.enterContext(guest.booted(cloud, d.PLACE.root, "vmperf-cached"))
        running = d.guests()
        self.assertEqual(1, len(running))
        before = {name: d.program(name)["pid"] for name in ("nova-compute",
                  "libvirtd", "keystone")}  # fmt: skip
        chosen = settings.load(d.PLACE).disk_cache
        self.addCleanup(self.up, "--disk-cache", chosen)
        self.up("--disk-cache", "writeback")
        text = (d.PLACE.etc / "nova.conf").read_text()
        self.assertIn("disk_cachemodes = file=writeback", text)
        changed = {
            name for name in before if d.program(name)["pid"] != before[name]
        }
        self.assertEqual({"nova-compute"}, changed)
        self.assertEqual(running, d.guests())

    @ddt.data("", "{", '{"admin": ""}')
    def test_damaged_secrets(self, text):
        """Rejected, and nothing is changed."""
        secrets = SECRETS.read_text()
        self.addCleanup(SECRETS.write_text, secrets)
        SECRETS.write_text(text)
        self.check_rejected("secrets.json lacks 14 secrets .*--rebuild")
        self.assertEqual(text, SECRETS.read_text())

    def test_rebuild(self):
        """One that is missing is made; the others, and keys, remain."""
        before = json.loads(SECRETS.read_text())
        key = (d.PLACE.etc / "id_ed25519").read_bytes()
        clouds = d.PLACE.clouds.read_text()
        lost = {**before}
        del lost["database_nova"]
        SECRETS.write_text(json.dumps(lost))
        self.check_rejected("secrets.json lacks 1 secrets .*--rebuild")
        self.up("--rebuild")
        after = json.loads(SECRETS.read_text())
        self.assertNotEqual(before, after)
        self.assertEqual(lost, {name: after[name] for name in lost})
        self.assertEqual(key, (d.PLACE.etc / "id_ed25519").read_bytes())
        self.assertEqual(clouds, d.PLACE.clouds.read_text())

    def test_full_disk(self):
        """A file cannot be written: the error says so."""
        etc = str(d.PLACE.etc)
        with tempfile.TemporaryDirectory() as copy:
            shutil.copytree(etc, f"{copy}/etc")
            d.run("mount", "-t", "tmpfs", "-o", "size=1m", "none", etc)
            self.addCleanup(self.up)
            self.addCleanup(d.run, "umount", etc)
            shutil.copytree(f"{copy}/etc", etc, dirs_exist_ok=True)
        with self.assertRaises(OSError), open(f"{etc}/filler", "wb") as filler:
            while True:
                filler.write(bytes(4096))
        self.check_rejected("the disk is full: .*free some")
