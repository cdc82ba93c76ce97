# SPDX-License-Identifier: Apache-2.0
import unittest

from rally_vmperf.image import mirror

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


class LoginsTestCase(unittest.TestCase):
    def test_passwords_are_for_the_environment(self):
        """All else is an option of apt's."""
        options = [
            'Acquire::http::Proxy "http://user:pw@192.0.2.1:3128";',
            'Acquire::https::proxy "http://user:pw@192.0.2.2:3128";',
            'Acquire::http::Proxy "http://192.0.2.3:3128";',
            'Acquire::http::Proxy::mirror.example "DIRECT";',
        ]
        self.assertEqual(
            {
                "http_proxy": "http://user:pw@192.0.2.1:3128",
                "https_proxy": "http://user:pw@192.0.2.2:3128",
            },
            mirror.logins(options),
        )
        self.assertEqual({}, mirror.logins(options[2:]))


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
