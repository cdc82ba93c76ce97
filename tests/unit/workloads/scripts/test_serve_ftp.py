# SPDX-License-Identifier: Apache-2.0
import contextlib
import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

import ddt

from rally_vmperf.workloads.scripts import serve_ftp


@ddt.ddt
class ServeFtpTestCase(unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(
            self.enterContext(tempfile.TemporaryDirectory())
        )
        self.enterContext(contextlib.chdir(self.folder))

    def test_clients_read_only_published_files(self):
        """The file is readable whatever the umask; writing here fills it."""
        for _ in range(2):
            serve_ftp.publish("data")
        (self.folder / "data").write_text("content")
        self.assertEqual(
            ["data"], [path.name for path in self.folder.glob("ftp/*")]
        )
        self.assertEqual([], list(self.folder.glob("ftp-empty/*")))
        served = self.folder / "ftp/data"
        self.assertEqual("content", served.read_text())
        modes = [
            oct(path.stat().st_mode)
            for path in (served, served.parent, self.folder / "ftp-empty")
        ]
        self.assertEqual(["0o100644", "0o40755", "0o40755"], modes)

    @ddt.data(
        ("192.0.2.1", ["listen=YES", "listen_address=192.0.2.1"]),
        ("2001:db8::1", ["listen_ipv6=YES", "listen_address6=2001:db8::1"]),
    )
    @ddt.unpack
    def test_listens_on_one_address(self, address, expected):
        text = serve_ftp.configuration(address, 5301, 5302, 5429)
        lines = text.splitlines()
        self.assertEqual(
            expected,
            [
                line
                for line in lines
                if line.startswith("listen")
                and not line.startswith("listen_port")
            ],
        )
        self.assertLessEqual(
            {
                "listen_port=5301",
                "pasv_min_port=5302",
                "pasv_max_port=5429",
                f"anon_root={os.getcwd()}/ftp",
                f"secure_chroot_dir={os.getcwd()}/ftp-empty",
            },
            set(lines),
        )
        self.assertNotIn("run_as_launching_user", text)

    def test_limits_the_number_of_clients(self):
        """More clients can connect than there are ports for their data."""
        text = serve_ftp.configuration("192.0.2.1", 5301, 5302, 5429)
        self.assertLessEqual(
            {"max_clients=256", "max_per_ip=256"}, set(text.splitlines())
        )

    def test_rejects_users_other_than_root(self):
        """Nothing is published without root."""
        argv = ["serve_ftp.py", "publish", "data"]
        with (
            mock.patch.object(sys, "argv", argv),
            mock.patch.object(os, "geteuid", autospec=True, return_value=1000),
            self.assertRaisesRegex(SystemExit, "^protocols=ftp: .* root"),
        ):
            serve_ftp.main()
        self.assertEqual([], list(self.folder.iterdir()))
