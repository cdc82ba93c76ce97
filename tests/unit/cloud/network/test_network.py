import unittest

from rally_vmperf.cloud.network import network


class NamespaceTestCase(unittest.TestCase):
    def test_a_mere_name_is_none(self):
        """A name that is no mount is an empty file."""
        self.assertFalse(network.is_namespace("/etc/hostname"))
        self.assertFalse(network.is_namespace("none-of-that-name"))
        self.assertTrue(network.is_namespace("/proc/self/ns/net"))
