# SPDX-License-Identifier: Apache-2.0
"""Tests of the ways to bare metal."""

import argparse
import unittest
from unittest import mock

import ddt

from rally_vmperf.baseline import document
from rally_vmperf.cmd import machine_options
from rally_vmperf.cmd.baselines import bare_metal
from rally_vmperf.machines import testing

LOOK = "\n".join(
    [
        "allowed=0-3",
        "memory_kib=8388608",
        "# CPU,CORE,NODE",
        *(f"{number},{number},0" for number in range(4)),
    ]
)


@ddt.ddt
class CpuListTest(unittest.TestCase):
    @ddt.data(
        *(("8-15", True), ("0-3,8", True), ("7", True)),
        *(("", False), ("a", False), ("3-1", False), ("1,", False)),
        *(("-1", False), ("1-", False)),
    )
    @ddt.unpack
    def test_lists_of_cpus(self, text, good):
        """An invalid list is rejected with an example."""
        if good:
            self.assertEqual(text, bare_metal.parse_cpu_list(text))
            return
        with self.assertRaisesRegex(
            argparse.ArgumentTypeError, "such as 8-15"
        ):
            bare_metal.parse_cpu_list(text)


class TestTooSmall(unittest.TestCase):
    """Asked before anything is measured, or held."""

    def test_each_shape(self):
        """By its CPUs and by its memory."""
        fits = document.Shape(1, 1024, 4)
        cpus, memory = document.Shape(1, 1024, 5), document.Shape(1, 4096, 4)
        machine = testing.FakeMachine("metal", {"sh": LOOK, "bash": LOOK})
        with mock.patch.object(
            machine_options, "connect", autospec=True, return_value=machine
        ):
            too_large = bare_metal.find_too_large_shapes(
                argparse.Namespace(cpu_list=""), [fits, cpus, memory]
            )
        self.assertEqual({cpus, memory}, set(too_large))
        self.assertIn("4 CPUs and 5 copies", str(too_large[cpus]))
        self.assertIn("8192 MiB", str(too_large[memory]))
