# SPDX-License-Identifier: Apache-2.0
import unittest

import ddt

from rally_vmperf.machines import cpus

HYPERTHREADED = """# CPU,Core,Node
0,0,0
1,1,0
2,2,1
3,3,1
4,0,0
5,1,0
6,2,1
7,3,1
"""


@ddt.ddt
class ChooseTestCase(unittest.TestCase):
    @ddt.data(
        (1, 1, [(0,)]),
        (2, 1, [(0, 1)]),
        (3, 1, [(0, 1, 4)]),
        (2, 2, [(0, 1), (2, 3)]),
        (4, 2, [(0, 1, 4, 5), (2, 3, 6, 7)]),
        (2, 4, [(0, 1), (2, 3), (4, 5), (6, 7)]),
        (5, 1, [(0, 1, 2, 3, 4)]),
        (8, 1, [tuple(range(8))]),
        (3, 2, [(0, 1, 4), (2, 3, 6)]),
    )
    @ddt.unpack
    def test_choose(self, each, copies, expected):
        available = cpus.parse_topology(HYPERTHREADED, set(range(8)))
        self.assertEqual(expected, cpus.choose_cpus(available, each, copies))

    def test_too_few(self):
        available = cpus.parse_topology(HYPERTHREADED, {0, 1})
        with self.assertRaises(ValueError):
            cpus.choose_cpus(available, 3, 1)

    def test_only_allowed_cpus(self):
        available = cpus.parse_topology(HYPERTHREADED, {1, 5, 6})
        self.assertEqual([(1, 5)], cpus.choose_cpus(available, 2, 1))

    def test_no_numa(self):
        self.assertEqual(
            [cpus.Cpu(number=0, core=0, node=0)],
            cpus.parse_topology("# x\n0,0,\nrubbish\n", {0}),
        )

    @ddt.data(
        ("0", {0}),
        ("0-2,8", {0, 1, 2, 8}),
        ("", set()),
        ("x,-", set()),
        ("3-x", set()),
        ("65535-99999999999", {65535}),
    )
    @ddt.unpack
    def test_ranges(self, text, expected):
        self.assertEqual(expected, cpus.parse_ranges(text))
