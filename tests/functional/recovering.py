"""``cloud up`` after damage, for tests of any length."""

import subprocess
import unittest

import openstack

from rally_vmperf.cloud.services import probes
from tests import patience
from tests.functional import breakage as d
from tests.functional import laboratory


def up() -> subprocess.CompletedProcess:
    """Run ``cloud up`` to its end."""
    return subprocess.run(
        [*d.COMMAND, "up", *d.ROOT],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=patience.seconds(400),
        check=False,
    )


@unittest.skipUnless(laboratory.CLOUD, "VMPERF_CLOUD names no embedded cloud")
class Case(unittest.TestCase):
    """A test that leaves the cloud working."""

    def setUp(self):
        super().setUp()
        self.said = ""
        self.addCleanup(self.check_it_works)

    def up(self):
        """Bring the cloud up, and keep what it said."""
        done = up()
        self.said = done.stdout
        self.assertEqual(0, done.returncode, self.said)

    def repaired(self, *said: str):
        """Bring the cloud up; it says what was wrong, and works again."""
        self.up()
        for phrase in said:
            self.assertRegex(self.said, f"found: .*{phrase}")

    def nothing_more(self):
        """Bring the cloud up again; there is nothing more to repair."""
        self.up()
        self.assertNotIn("found:", self.said)

    def connect(self, user):
        """Return a connection with what clouds.yaml says now."""
        config = openstack.config.OpenStackConfig(
            config_files=[str(d.PLACE.clouds)], load_envvars=False
        )
        return openstack.connection.Connection(
            config=config.get_one(f"vmperf-{user}")
        )

    def check_it_works(self):
        """Use every service of the cloud."""
        for user in ("admin", "member"):
            cloud = self.connect(user)
            cloud.authorize()
            images = [(i.name, i.status) for i in cloud.image.images()]
            self.assertIn(("vmperf-guest", "active"), images)
            flavors = {flavor.name for flavor in cloud.compute.flavors()}
            self.assertIn("vmperf.small", flavors)
            networks = {network.name for network in cloud.network.networks()}
            self.assertLessEqual({"public", "private"}, networks)
        hypervisors = list(self.connect("admin").compute.hypervisors())
        self.assertEqual(["up"], [one.state for one in hypervisors])
        self.assertTrue(probes.tcp(f"{laboratory.networks().peer.ip}:22"))
