# SPDX-License-Identifier: Apache-2.0
import tempfile
import unittest

import ddt

from rally_vmperf.execution import assignment
from rally_vmperf.execution import requirements
from rally_vmperf.execution.stations import roles
from rally_vmperf.machines import base
from rally_vmperf.machines import testing
from rally_vmperf.machines.provisioning import provision
from rally_vmperf.workloads import registry

(SYSBENCH,) = assignment.assign([{"name": "sysbench"}])
THERE = "tool sysbench\npath /usr/bin/sysbench\n"


@ddt.ddt
class RequirementsTestCase(unittest.IsolatedAsyncioTestCase):
    def place(self, role):
        machine = testing.FakeMachine(
            "m1",
            {
                "bash": ["tool sysbench\n", THERE],
                "sh": ["apt-get\n", ""],
                "id -u": "0",
            },
        )
        return roles.Station(
            name="m1", machine=machine, role=role, folder="/f"
        )

    async def ensure(self, place):
        return await requirements.ensure(
            [SYSBENCH], [place], None, supply=provision.Supply()
        )

    async def test_guests_get_what_they_lack(self):
        tools = await self.ensure(self.place("guest"))
        self.assertEqual("/usr/bin/sysbench", tools["m1"]["sysbench"].path)

    @ddt.data("copy", "peer")
    async def test_nothing_is_installed_elsewhere(self, role):
        place = self.place(role)
        with self.assertRaisesRegex(
            base.MachineError, "install it there: apt-get install sysbench"
        ):
            await self.ensure(place)
        self.assertEqual(2, len(place.machine.commands))

    async def test_the_newest_wish_counts(self):
        iperf3 = registry.get_workload("iperf3")
        both = [
            assignment.Assignment(iperf3, iperf3.complete(arguments), label)
            for arguments, label in (({}, ""), ({"protocol": "udp"}, "udp"))
        ]
        for order in (both, both[::-1]):
            (tool,) = requirements.tools(order)
            self.assertEqual("3.11", tool.minimum_version.version)

    @ddt.data(
        ("3.9", "3.9 is older than 3.11: .*; use a newer"), ("3.12", None)
    )
    @ddt.unpack
    async def test_a_tool_that_is_too_old(self, version, message):
        machine = testing.FakeMachine(
            "m1",
            {
                "bash": "tool iperf3\npath /usr/bin/iperf3\n"
                f"version iperf {version} (cJSON 1.7.13)\n"
            },
        )
        place = roles.Station(
            name="m1", machine=machine, role="peer", folder="/f"
        )
        udp = assignment.assign(
            [{"name": "iperf3", "arguments": {"protocol": "udp"}}]
        )
        ensured = requirements.ensure(
            udp, [], place, supply=provision.Supply()
        )
        if message is None:
            self.assertIn("iperf3", (await ensured)["m1"])
            return
        with self.assertRaisesRegex(base.MachineError, f"^m1: .*{message}"):
            await ensured


class OmissionsTestCase(unittest.TestCase):
    def test_a_metric_that_old_versions_omit(self):
        """One line names all machines, and none if it is required."""
        mbw = registry.get_workload("mbw")
        optional, required = (
            assignment.Assignment(mbw, mbw.complete({"methods": methods}), "")
            for methods in (["memcpy", "mcblock"], ["mcblock"])
        )
        facts = {
            name: {
                "mbw": provision.ToolFacts(
                    path="/mbw", version=version, checksum=""
                )
            }
            for name, version in (
                ("g1", "mbw 1.2.2-1.1"),
                ("g2", "mbw 1.2.2-1.1"),
                ("g3", "mbw 2.0-1"),
            )
        }
        (line,) = requirements.describe_omissions([optional], facts)
        self.assertRegex(
            line,
            "^warning: g1, g2: memory.mbw.mcblock.bandwidth is omitted: mbw "
            r"1.2.2 is older than 1.4: its mcblock .*; install 1.4 or later",
        )
        self.assertEqual(
            [],
            requirements.describe_omissions([optional, required], facts),
        )


@ddt.ddt
class SupplyingTestCase(unittest.TestCase):
    def test_nothing_said(self):
        supply = requirements.create_supply({})
        self.assertTrue(supply.install)
        self.assertEqual("", supply.proxy)
        self.assertIsNone(supply.bundle)

    def test_installation_is_forbidden(self):
        supply = requirements.create_supply({"install": False})
        self.assertFalse(supply.install)

    @ddt.data(
        "http://proxy",
        "http://proxy.example.org:3128/",
        "http://192.0.2.1:8080",
        "http://[2001:db8::1]:3128",
    )
    def test_proxies(self, proxy):
        self.assertEqual(
            proxy, requirements.create_supply({"proxy": proxy}).proxy
        )

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
        with self.assertRaises(requirements.SupplyError) as caught:
            requirements.create_supply({"proxy": proxy})
        self.assertEqual(
            f"proxy={proxy}: must have the form http://HOST:PORT",
            str(caught.exception),
        )

    def test_a_password_is_refused_and_not_shown(self):
        for proxy in ("http://me:s3cret@proxy:1", "me:s3cret@proxy"):
            with self.assertRaises(requirements.SupplyError) as caught:
                requirements.create_supply({"proxy": proxy})
            self.assertIn("proxy_login", str(caught.exception))
            self.assertNotIn("s3cret", str(caught.exception))

    def proxy_with(self, content):
        """Return what a file with a login for the proxy gives."""
        with tempfile.NamedTemporaryFile() as stream:
            stream.write(content)
            stream.flush()
            return requirements.create_supply(
                {"proxy": "http://p:1", "proxy_login": stream.name}
            )

    def test_a_login_for_the_proxy(self):
        """It is quoted as in a URL, and shown nowhere."""
        supply = self.proxy_with(b"me:p@s:\xc3\xa4 $1\nanother line\n")
        self.assertEqual("me:p%40s%3A%C3%A4%20%241", supply.proxy_login)
        self.assertNotIn("p%40s", repr(supply))

    @ddt.data(b"", b"s3cret\n", b":s3cret", b"me:s3cret\xff")
    def test_no_login(self, content):
        with self.assertRaisesRegex(
            requirements.SupplyError, "^proxy_login=.*USER:PASSWORD"
        ) as caught:
            self.proxy_with(content)
        self.assertNotIn("s3cret", str(caught.exception))

    def test_a_login_without_its_file_or_proxy(self):
        for options, message in (
            ({"proxy": "http://p", "proxy_login": "/proc/none"}, "No such"),
            ({"proxy_login": "/proc/none"}, "requires the option proxy"),
        ):
            with self.assertRaisesRegex(requirements.SupplyError, message):
                requirements.create_supply(options)

    def test_absent_bundle(self):
        with self.assertRaisesRegex(
            requirements.SupplyError, "bundle /proc/none: No such file"
        ):
            requirements.create_supply({"bundle": "/proc/none"})
