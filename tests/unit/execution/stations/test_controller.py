# SPDX-License-Identifier: Apache-2.0
"""Tests of the load and the lag of the controller."""

import itertools
import threading
import time
import unittest

import ddt

from rally_vmperf.execution.stations import controller


@ddt.ddt
class LoadTest(unittest.TestCase):
    """A finding needs a mean load or a share of lags beyond its limit."""

    @ddt.unpack
    @ddt.data(
        ([(0.0, 2.0)], ""),
        ([(0.0, 1.0), (0.0, 3.0)], ""),
        (
            [(0.0, 1.0), (0.0, 3.2)],
            "load average 2.1 with 2 processors, limit 2",
        ),
        ([(0.1, 0.0)], ""),
        ([(0.25, 0.0)] + [(0.0, 0.0)] * 99, ""),
        (
            [(0.25, 0.0)] + [(0.0, 0.0)] * 98,
            "1 of 99 samples lagged by more than 100 ms, the longest by "
            "250 ms, limit 1%",
        ),
        ([], ""),
    )
    def test_limits(self, samples, detail):
        """Two processors are loaded by two processes."""
        load = controller.ControllerLoad()
        for lag, load_average in samples:
            load.add(lag, load_average)
        findings = load.create_findings(2)
        self.assertEqual(
            [("controller_busy", "controller", detail)] if detail else [],
            [
                (finding.kind, finding.subject, finding.detail)
                for finding in findings
            ],
        )

    def test_load_and_lag(self):
        """One finding has both."""
        load = controller.ControllerLoad()
        load.add(1.0, 3.0)
        (finding,) = load.create_findings(2)
        self.assertRegex(
            finding.detail, "^load average 3.0 .*; 1 of 1 samples"
        )


class SamplerTest(unittest.TestCase):
    """A thread samples until it is stopped."""

    def sample(self, seconds):
        """Return a load of which each interval took some seconds."""
        sampled = threading.Event()

        def read_load():
            sampled.set()
            return 3.0, 2.0, 1.0

        sampler = controller.LoadSampler(
            interval=0.001,
            clock=itertools.count(step=seconds).__next__,
            read_load=read_load,
        )
        self.assertTrue(sampled.wait(10))
        return sampler.stop()

    def test_load(self):
        """The first load average is that of a minute."""
        load = self.sample(0.001)
        self.assertLessEqual(1, load.samples)
        self.assertAlmostEqual(3.0 * load.samples, load.load)
        self.assertEqual(0, load.late)

    def test_lag(self):
        """Intervals that take longer than requested are late."""
        load = self.sample(0.5)
        self.assertEqual(load.samples, load.late)
        self.assertAlmostEqual(0.499, load.longest)

    def test_stop(self):
        """Sampling stops at the end."""
        before = threading.active_count()
        sampler = controller.LoadSampler(interval=0.001)
        load = sampler.stop()
        self.assertEqual(before, threading.active_count())
        number = load.samples
        time.sleep(0.01)
        self.assertEqual(number, load.samples)
