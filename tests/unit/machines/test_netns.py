# SPDX-License-Identifier: Apache-2.0
import os
import socket
import subprocess
import threading
import unittest

import ddt

from rally_vmperf.machines import base
from rally_vmperf.machines.remote import routes
from tests import skips

NAME = f"vmperf-test-{os.getpid()}"
ADDRESS = "192.0.2.77"


@ddt.ddt
class RefusedTestCase(unittest.TestCase):
    @ddt.data("no-such-namespace", "..", "a/b", "", "../../proc/1/ns/net")
    def test_a_missing_namespace_is_named(self, name):
        with self.assertRaisesRegex(
            base.MachineError, "is not on this machine .*ip netns"
        ):
            routes.open_socket(name)


def ip(*arguments):
    return subprocess.run(["ip", *arguments], capture_output=True, check=True)


class NamespaceTestCase(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        skips.require(self, "ip", root=True)
        try:
            ip("netns", "add", NAME)
        except subprocess.CalledProcessError as error:
            self.skipTest(f"no network namespaces here: {error.stderr}")
        self.addCleanup(ip, "netns", "delete", NAME)
        ip("-n", NAME, "link", "set", "lo", "up")
        ip("-n", NAME, "address", "add", f"{ADDRESS}/32", "dev", "lo")

    async def test_a_server_that_only_the_namespace_sees(self):
        with routes.open_socket(NAME) as listener:
            listener.bind((ADDRESS, 0))
            listener.listen()
            port = listener.getsockname()[1]
            way = routes.Namespace(NAME)
            opened = await way.open(self, ADDRESS, port)
            with opened["sock"] as reached:
                self.assertEqual((ADDRESS, port), reached.getpeername())
            outside = socket.socket()
            with outside, self.assertRaises(OSError):
                outside.bind((ADDRESS, 0))

    def test_this_process_stays_where_it_is(self):
        inode = os.stat("/proc/self/ns/net").st_ino
        routes.open_socket(NAME).close()
        self.assertEqual(inode, os.stat("/proc/self/ns/net").st_ino)
        self.assertEqual(
            inode,
            os.stat(
                f"/proc/self/task/{threading.get_native_id()}/ns/net"
            ).st_ino,
        )

    def test_only_root_may(self):
        """The process is not root."""
        read, write = os.pipe()
        child = os.fork()
        if not child:
            os.setresuid(65534, 65534, 65534)
            try:
                routes.open_socket(NAME)
            except base.MachineError as error:
                os.write(write, str(error).encode())
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        os.close(write)
        with open(read, encoding="utf-8") as message:
            self.assertIn("can be entered by root alone", message.read())

    def test_the_network_out_of_which_an_address_is_reached(self):
        """The network in the namespace is found for a duplicate address."""
        ip("-n", NAME, "link", "add", "d0", "type", "bridge")
        for network_address in ("198.51.100.7/25", "fd00:77::7/64"):
            ip(
                "-n",
                NAME,
                "address",
                "add",
                network_address,
                "dev",
                "d0",
                "nodad",
            )
        ip("-n", NAME, "link", "set", "d0", "up")
        for address, expected in (
            ("198.51.100.9", "198.51.100.0/25"),
            ("fd00:77::9", "fd00:77::/64"),
            (ADDRESS, f"{ADDRESS}/32"),
            ("203.0.113.1", "None"),
        ):
            with self.subTest(address):
                network = routes.source_network(address, NAME)
                self.assertEqual(expected, str(network))
