# SPDX-License-Identifier: Apache-2.0
"""Tests of files with the outputs of several tools."""

import itertools
import unittest

import ddt

from rally_vmperf.runs.raw_outputs import reading
from rally_vmperf.workloads import base
from tests.unit.workloads import golden

FILES = {
    "sysbench": "sysbench-1.0.20-cpu.txt",
    "dd": "dd-2019-unsafe.txt",
    "ping": "ping-20210202-to_peer.txt",
}


@ddt.ddt
class TestSeveralTools(unittest.TestCase):
    """The results of all but one would be lost without a word."""

    @ddt.data(*itertools.permutations(FILES, 2))
    def test_rejected_in_any_order(self, tools):
        text = "\n".join(golden.text(FILES[tool]) for tool in tools)
        with self.assertRaisesRegex(
            base.WorkloadError,
            "^the file has outputs of .* and .*; give the output of each",
        ) as caught:
            reading.recognise(text)
        for tool in tools:
            self.assertIn(tool, str(caught.exception))

    @ddt.data(*FILES)
    def test_one(self, tool):
        text = golden.text(FILES[tool])
        self.assertEqual(tool, reading.recognise(text).tool)
