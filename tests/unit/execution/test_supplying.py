import pathlib
import tempfile
import unittest

import ddt

from rally_vmperf.execution import supplying
from tests.unit.toolbox import made


@ddt.ddt
class SupplyingTestCase(unittest.TestCase):
    def test_nothing_said(self):
        supply = supplying.of_options({})
        self.assertTrue(supply.install)
        self.assertEqual("", supply.proxy)
        self.assertIsNone(supply.tools)

    def test_all_said(self):
        with tempfile.TemporaryDirectory() as folder:
            made.toolbox(pathlib.Path(folder))
            supply = supplying.of_options(
                {"install": False, "proxy": "http://p:1", "tools": folder}
            )
            self.assertFalse(supply.install)
            self.assertEqual(pathlib.Path(folder), supply.tools.path)

    @ddt.data(
        "http://proxy",
        "http://proxy.example.org:3128/",
        "http://192.0.2.1:8080",
        "http://[2001:db8::1]:3128",
    )
    def test_proxies(self, proxy):
        self.assertEqual(proxy, supplying.of_options({"proxy": proxy}).proxy)

    @ddt.data(
        "https://proxy:3128",
        "socks5://proxy",
        "proxy:3128",
        "http://",
        "http://proxy/path",
        "http://proxy:port",
        "http://proxy -o x",
        "http://proxy\n",
        "http://-x",
        8080,
        None,
    )
    def test_no_proxies(self, proxy):
        with self.assertRaises(supplying.Error) as caught:
            supplying.of_options({"proxy": proxy})
        self.assertEqual(
            f"proxy {proxy!r}: it must be like http://HOST:PORT",
            str(caught.exception),
        )

    def test_a_password_is_refused_and_not_shown(self):
        for proxy in ("http://me:s3cret@proxy:1", "me:s3cret@proxy"):
            with self.assertRaises(supplying.Error) as caught:
                supplying.of_options({"proxy": proxy})
            self.assertIn("password", str(caught.exception))
            self.assertNotIn("s3cret", str(caught.exception))

    def test_a_folder_that_is_none(self):
        with self.assertRaisesRegex(
            supplying.Error, "/proc/none has no tools"
        ):
            supplying.of_options({"tools": "/proc/none"})
