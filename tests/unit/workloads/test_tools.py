# SPDX-License-Identifier: Apache-2.0
"""Tests of tools and their versions."""

import unittest

import ddt

from rally_vmperf.workloads import registry
from rally_vmperf.workloads import tools


@ddt.ddt
class VersionsTestCase(unittest.TestCase):
    @ddt.data(
        ("fio-3.33", (3, 33)),
        ("iperf 3.12 (cJSON 1.7.15)", (3, 12)),
        ("sysbench 1.0.20 (using system LuaJIT 2.1.0)", (1, 0, 20)),
        (
            "bzip2, a block-sorting file compressor.  Version 1.0.8, "
            "13-Jul-2019.",
            (1, 0, 8),
        ),
        ("mbw 1.2.2-1.1", (1, 2, 2)),
        ("mbw 1:2.0-1", (2, 0)),
        ("mbw-2.0-1.x86_64", (2, 0)),
        ("iperf3", ()),
        ("", ()),
    )
    @ddt.unpack
    def test_upstream_version(self, version_line, version):
        self.assertEqual(version, tools.parse_version(version_line))

    @ddt.data("iperf 3.9 (cJSON 1.7.13)", "iperf 3.10.1", "iperf 2.1.8")
    def test_too_old_for_udp(self, version_line):
        iperf3 = registry.get_workload("iperf3")
        (tool,) = iperf3.tools(iperf3.complete({"protocol": "udp"}))
        version = version_line.split()[1]
        self.assertRegex(
            tools.version_problem(tool, version_line),
            rf"^iperf3 {version} is older than 3\.11: .*; use a newer ",
        )
        (tool,) = iperf3.tools(iperf3.complete({}))
        self.assertEqual("", tools.version_problem(tool, version_line))

    @ddt.data("iperf 3.11 (cJSON 1.7.13)", "iperf 3.12", "iperf 4.0", "iperf")
    def test_new_enough_for_udp(self, version_line):
        iperf3 = registry.get_workload("iperf3")
        (tool,) = iperf3.tools(iperf3.complete({"protocol": "udp"}))
        self.assertEqual("", tools.version_problem(tool, version_line))
