import unittest

from rally_vmperf.cloud import mirror

# apt-get indextargets of a machine with security, updates and a vendor
TARGETS = """\
http://mirror.example/debian/|bookworm|main|Debian|$(SIGNED_BY)
http://mirror.example/debian/|bookworm|contrib|Debian|$(SIGNED_BY)
http://mirror.example/debian/|bookworm-updates|main|Debian|$(SIGNED_BY)
http://mirror.example/debian/|bookworm-backports|main|Debian|$(SIGNED_BY)
http://mirror.example/security/|bookworm-security|main|Debian|$(SIGNED_BY)
http://mirror.example/debian/|bookworm|main|Debian|$(SIGNED_BY)
https://vendor.example/apt/|bookworm|main|Vendor|/etc/vendor.gpg
"""


class ParseTestCase(unittest.TestCase):
    def test_own_sources_of_the_suite(self):
        self.assertEqual(
            [
                "deb http://mirror.example/debian bookworm main",
                "deb http://mirror.example/debian bookworm-updates main",
                "deb http://mirror.example/security bookworm-security main",
            ],
            [source.line() for source in mirror.parse(TARGETS, "bookworm")],
        )

    def test_another_suite(self):
        self.assertEqual([], mirror.parse(TARGETS, "trixie"))
