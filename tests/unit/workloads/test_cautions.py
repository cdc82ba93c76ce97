# SPDX-License-Identifier: Apache-2.0
"""Tests of findings that follow from the arguments of a workload."""

import unittest

from rally_vmperf.measurement import finding
from rally_vmperf.workloads import registry


class TestCautions(unittest.TestCase):
    """Cautions are known findings, and none by default."""

    def test_defaults_give_none(self):
        """A workload as it comes is fit to measure."""
        for name in registry.workload_names():
            workload = registry.get_workload(name)
            self.assertEqual(
                (), workload.argument_findings(workload.complete({}))
            )

    def test_page_cache(self):
        """Without direct I/O the page cache is measured."""
        fio = registry.get_workload("fio")
        ((kind, detail),) = fio.argument_findings(
            fio.complete({"direct": False})
        )
        self.assertIn(kind, finding.KINDS)
        self.assertIn("direct: false", detail)

    def test_between_guests(self):
        """Bare metal has no partner: the caution names its substitute."""
        iperf3 = registry.get_workload("iperf3")
        ((kind, detail),) = iperf3.argument_findings(
            iperf3.complete({"directions": ["to_peer", "guest_to_guest"]})
        )
        self.assertEqual("note", finding.KINDS[kind].severity)
        self.assertIn("bare metal to its peer", detail)
