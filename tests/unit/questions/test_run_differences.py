# SPDX-License-Identifier: Apache-2.0
"""Tests of the differences between runs."""

import dataclasses
import unittest

import ddt

from rally_vmperf import errors
from rally_vmperf.questions import compared_run
from rally_vmperf.questions import run_differences
from tests.unit import made


def run(name, change=lambda record: record):
    """Return a run whose records are changed."""
    records = [*map(change, made.records(count=3))]
    return compared_run.create_run(name, made.source_of(records))


def other_arguments(record):
    """Change two arguments of a workload, and one is new."""
    first, second = record.workloads
    second = dataclasses.replace(second, arguments={"threads": 4, "time": 3})
    return made.with_fields(record, workloads=(first, second))


def other_shape(record):
    """Change the memory of the guests."""
    shape = dataclasses.replace(record.shape, memory_mib=4096)
    return made.with_fields(record, shape=shape)


def other_options(record):
    """Change an option of the question."""
    return made.with_fields(record, options={"reboot": "between_repetitions"})


def no_file(record):
    """Remove the file with the facts of the machines."""
    return made.with_fields(record, machines_file=None)


def other_machine(record):
    """Change the kernel, a tool, the host and the software."""

    def change(details):
        guest = details["g1"]
        guest["fingerprint"]["kernel"] = "9.9.9"
        guest["tools"]["fio"] = {"version": "fio-9.1", "path": "/bin/fio"}
        guest["nova"]["host"] = "compute-9"
        guest["nova"]["hypervisor_version"] = "QEMU 9.2.0"
        guest["nova"]["nova_microversion"] = "2.96"
        guest["nova"]["volumes"] = [{"size_gib": 20, "type": "ssd"}]

    software = {**record.software, "rally": "99"}
    return made.redescribe(made.with_fields(record, software=software), change)


@ddt.ddt
class TestComparable(unittest.TestCase):
    """Runs with other settings are rejected with the difference."""

    def check(self, *runs, allowed=()):
        """Check runs."""
        run_differences.check_comparable(runs, allowed)

    def test_the_same(self):
        """Runs of one task, and one run twice, can be compared."""
        self.check(run("A"), run("B"), run("C", other_machine))

    @ddt.data(
        (
            other_arguments,
            "arguments",
            "sysbench threads: 2 in A, 4 in B, and 1 more difference; use "
            "--allow arguments",
        ),
        (other_options, "arguments", "reboot: - in A, between_repetitions"),
        (other_shape, "shape", "memory_mib: 2048 in A, 4096 in B; use"),
        (no_file, "machines", "machines of B are unknown: .*--allow machines"),
    )
    @ddt.unpack
    def test_rejected(self, change, aspect, message):
        """Unless the user allows it."""
        runs = run("A"), run("B", change)
        with self.assertRaisesRegex(errors.VMPerfError, message):
            self.check(*runs)
        self.check(*runs, allowed=[aspect])
        others = {"arguments", "machines", "shape"} - {aspect}
        with self.assertRaises(errors.VMPerfError):
            self.check(*runs, allowed=others)

    def test_another_question(self):
        """Cannot be allowed."""
        density = compared_run.create_run(
            "B", made.source_of(made.density_records())
        )
        with self.assertRaisesRegex(
            errors.VMPerfError,
            "question: overhead in A, density in B; compare runs of one",
        ):
            self.check(
                run("A"), density, allowed=["arguments", "machines", "shape"]
            )


class TestDifferences(unittest.TestCase):
    """Everything that may explain a change is listed."""

    def test_none(self):
        """A run does not differ from itself."""
        runs = run("A"), run("B")
        self.assertEqual([], run_differences.describe_differences(runs))

    def test_all(self):
        """Machines, tools, host, software and allowed differences."""
        runs = run("A"), run("B", other_machine), run("C", other_shape)
        lines = run_differences.describe_differences(runs)
        text = "\n".join(lines)
        for expected in (
            "memory_mib: 2048 in A, 4096 in C",
            "kernel_differs: g1 of A: .*; g1 of B: 9.9.9",
            "tool_version_differs: fio: g1 of A .*, g1 of B fio-9.1",
            "host: .* in A, compute-9 in B",
            "hypervisor_version: QEMU 7.2.22 in A, QEMU 9.2.0 in B",
            "nova_microversion: 2.93 in A, 2.96 in B",
            "volumes: - in A, size_gib=20, type=ssd in B",
            "version of rally: .* in A, 99 in B",
        ):
            self.assertRegex(text, expected)
        self.assertNotIn("bare metal", text)


class TestJoin(unittest.TestCase):
    """Tasks with several workloads."""

    def test_one_workload(self):
        """Its conditions are not numbered."""
        runs = [run("A"), run("B")]
        self.assertEqual(runs, run_differences.join([runs]))

    def test_several(self):
        """Their metrics are distinguished by a number."""
        runs = [run("A"), run("B")]
        joined = run_differences.join([runs, runs])
        self.assertEqual(["A", "B"], [run.name for run in joined])
        self.assertEqual(
            {"workload 1", "workload 2"},
            {title for title, _ in joined[0].samples},
        )
