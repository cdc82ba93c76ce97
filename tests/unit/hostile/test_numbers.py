# SPDX-License-Identifier: Apache-2.0
"""Text in the place of a figure gives no sample."""

import unittest

import ddt

from rally_vmperf.machines import base as machines
from rally_vmperf.machines import cpus
from rally_vmperf.machines import job
from rally_vmperf.workloads import base
from rally_vmperf.workloads import registry
from tests.unit.hostile import attacks
from tests.unit.workloads import golden

FLOODS = ["9" * 5000, "-" + "9" * 5000, "0." + "0" * 5000 + "1", "1" * 310]
NUMBERS = dict(enumerate([*attacks.NUMBERS, *FLOODS]))

ACCOUNT = {
    "exit": "0",
    "started": "100.5",
    "ended": "101.5",
    "before": "100.5",
    "after": "101.5",
    "up": "50.00",
    "up_ended": "51.00",
    "user": "0.900",
    "system": "0.050",
}


def header(**changes):
    """Return a supervisor's account with some words changed."""
    account = {**ACCOUNT, **changes}
    return " ".join(f"{key}={value}" for key, value in account.items())


@ddt.ddt
class NumbersTestCase(unittest.TestCase):
    def check_refused(self, name, old, number):
        workload = registry.get_workload(name)
        arguments, files, _ = golden.RUNS[name]
        command, file = next(iter(files.items()))
        whole = golden.text(file)
        self.assertIn(old, whole)
        outcome = golden.outcome(command, whole.replace(old, number))
        with self.assertRaises(base.WorkloadError) as caught:
            workload.parse_all(
                workload.complete(arguments), {command: outcome}
            )
        self.assertTrue(str(caught.exception).isprintable())
        self.assertLess(len(str(caught.exception)), 500)

    @ddt.named_data(*((str(at), n) for at, n in NUMBERS.items()))
    def test_sysbench(self, number):
        text = golden.text("sysbench-1.0.20-cpu.txt")
        line = next(x for x in text.splitlines() if "events per sec" in x)
        self.check_refused("sysbench", line.split()[-1], number or "x")

    @ddt.named_data(*((str(at), n) for at, n in NUMBERS.items()))
    def test_mbw(self, number):
        text = golden.text("mbw-1.2.2.txt")
        copy = next(x for x in text.splitlines() if "Copy:" in x).split()[8]
        self.check_refused("mbw", copy, number)

    @ddt.named_data(*((str(at), n) for at, n in NUMBERS.items() if n))
    def test_fio(self, number):
        self.check_refused("fio", '"bw_bytes" : ', f'"bw_bytes" : {number}, "')

    @ddt.named_data(*((str(at), n) for at, n in NUMBERS.items() if n))
    def test_iperf3(self, number):
        old = '"bits_per_second":\t'
        self.check_refused("iperf3", old, f'{old}{number}, "x": ')

    def test_an_account_is_believed(self):
        self.assertEqual(
            1.0, job.parse_result("g1", "c", header()).ended - 100.5
        )

    @ddt.named_data(
        *(
            (f"{key}_{at}", key, n)
            for key in ACCOUNT
            for at, n in NUMBERS.items()
        )
    )
    def test_an_account_is_not_believed(self, key, number):
        number = number.replace(" ", "_")  # words end at spaces
        with self.assertRaises(machines.MachineError) as caught:
            job.parse_result("g1", "fio", header(**{key: number}))
        self.assertIn("g1", str(caught.exception))
        self.assertTrue(str(caught.exception).isprintable())
        self.assertLess(len(str(caught.exception)), 300)

    @ddt.data(
        {"ended": "99.5"},
        {"started": "-1", "before": "-1"},
        {"started": "9" * 15, "ended": "9" * 15},
        {"up_ended": "49.00"},
        {"ended": "3700.5"},
        {"up_ended": "3650.00"},
        {"exit": "256"},
        {"user": "-1"},
        {"system": "9" * 15},
        {"exit": "-1"},
    )
    def test_times_that_cannot_be(self, changes):
        with self.assertRaisesRegex(machines.MachineError, "g1"):
            job.parse_result("g1", "fio", header(**changes))

    @ddt.named_data(*((str(at), n) for at, n in NUMBERS.items()))
    def test_processors_of_bare_metal(self, number):
        cpus.parse_ranges(f"{number}-{number}")
        for cpu in cpus.parse_topology(f"{number},{number},{number}", {0}):
            self.assertEqual((0, 0, 0), (cpu.number, cpu.core, cpu.node))
