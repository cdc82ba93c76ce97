# SPDX-License-Identifier: Apache-2.0
"""``cloud up`` after damage, for tests of any length."""

import socket
import subprocess
import unittest

import openstack
from keystoneauth1 import exceptions

from tests import patience
from tests.functional import breakage as d
from tests.functional import laboratory

#: Of an API that does not answer, or not yet.
ERRORS = (openstack.exceptions.SDKException, exceptions.ClientException)


def up(*options: str) -> subprocess.CompletedProcess:
    """Run ``cloud up`` to its end."""
    return subprocess.run(
        [*d.COMMAND, "up", *options, *d.ROOT],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=patience.seconds(600),
        check=False,
    )


def connect(user):
    """Return a connection with what clouds.yaml says now."""
    config = openstack.config.OpenStackConfig(
        config_files=[str(d.PLACE.clouds)], load_envvars=False
    )
    return openstack.connection.Connection(
        config=config.get_one(f"vmperf-{user}")
    )


@unittest.skipUnless(laboratory.CLOUD, "VMPERF_CLOUD names no embedded cloud")
class Case(unittest.TestCase):
    """A test that leaves the cloud working."""

    def setUp(self):
        super().setUp()
        self.addCleanup(self.check_it_works)

    def up(self, *options):
        """Bring the cloud up; return what it said."""
        process = up(*options)
        self.assertEqual(0, process.returncode, process.stdout)
        return process.stdout

    def check_rejected(self, pattern, *options):
        """Fail unless ``cloud up`` says what the pattern describes."""
        process = up(*options)
        self.assertEqual(1, process.returncode, process.stdout)
        self.assertRegex(process.stdout.splitlines()[-1], pattern)

    def check_it_works(self):
        """Use every service of the cloud; one may have started just now."""
        errors = []

        def works():
            try:
                self._use()
            except (AssertionError, OSError, *ERRORS) as error:
                errors.append(error)
                return False
            return True

        try:
            laboratory.wait_for("working cloud", works, 120)
        except AssertionError as error:
            raise error from errors[-1]

    def _use(self):
        for user in ("admin", "member"):
            cloud = connect(user)
            cloud.authorize()
            images = [(i.name, i.status) for i in cloud.image.images()]
            self.assertIn(("vmperf-guest", "active"), images)
            flavors = {flavor.name for flavor in cloud.compute.flavors()}
            self.assertIn("vmperf.small", flavors)
            networks = {network.name for network in cloud.network.networks()}
            self.assertLessEqual({"public", "private"}, networks)
        admin = connect("admin")
        hypervisors = {
            hypervisor.state for hypervisor in admin.compute.hypervisors()
        }
        self.assertEqual({"up"}, hypervisors)
        self.assertTrue(
            all(agent.is_alive for agent in admin.network.agents())
        )
        address = (laboratory.networks().peer, 22)
        socket.create_connection(address, timeout=10).close()
