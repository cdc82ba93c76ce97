from rally_vmperf.cloud.state import addresses
from rally_vmperf.cloud.state import hypervisors
from tests.unit.cloud import base

SECRET = "0123456789abcdef0123456789abcdef"


class DescribeTestCase(base.CloudTestCase):
    def test_nothing_is_shared(self):
        """Names, addresses, identifiers, files and devices differ."""
        first, second = hypervisors.describe(
            self.folders, addresses.USUAL, SECRET
        )
        for name in (
            *("name", "address", "uuid", "data", "nova", "neutron"),
            *("libvirtd", "qemu", "socket", "external_port"),
        ):
            values = {str(getattr(one, name)) for one in (first, second)}
            self.assertEqual(2, len(values), name)
        self.assertEqual("172.30.0.3", second.address)
