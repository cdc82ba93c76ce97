# SPDX-License-Identifier: Apache-2.0
"""Tests of the facts that raw outputs contain, and of unknown ones."""

import re
import unittest

import ddt

from rally_vmperf.runs.raw_outputs import raw
from rally_vmperf.runs.raw_outputs import reading
from rally_vmperf.workloads import base
from tests.unit.workloads import golden


def _parse(tool, text, **arguments):
    """Return the only result in a text."""
    (output,) = reading.read(text, tool, arguments)
    return output


def _values(output):
    return [[s.value for s in each] for each in output.repetitions]


@ddt.ddt
class ReadTestCase(unittest.TestCase):
    """Real outputs of studies, by the parsers of the workloads."""

    def test_mbw(self):
        output = _parse(
            "mbw", golden.text("mbw-r730xd-2019-guest.txt"), version="1.4"
        )
        self.assertEqual(
            {
                "size_mib": 512,
                "runs": 10,
                "methods": ["memcpy", "dumb", "mcblock"],
                "block_size": 262144,
                # Its first line has the command "./mbw 512".
                "other_options": "",
            },
            output.arguments,
        )
        # Of others beside it a process says nothing.
        self.assertEqual(("processes",), output.unknown)
        ((memcpy, *_),) = _values(output)
        self.assertAlmostEqual(6254.520, memcpy / 2**20, places=2)

    def test_mbw_before_1_4(self):
        """The rate of its dumb method is that of memcpy; mcblock has none."""
        text = golden.text("mbw-1.2.2.txt").split("\n", 1)[1]
        (swapped,) = _values(_parse("mbw", text, version="1.2.2"))
        (named,) = _values(_parse("mbw", text, version="1.4"))
        self.assertEqual(named, swapped[::-1])
        text = golden.text("mbw-1.2.2-mcblock.txt").split("\n", 1)[1]
        text = "".join(
            line
            for line in text.splitlines(keepends=True)
            if not re.search("Method: (MEMCPY|DUMB)", line)
        )
        with self.assertRaisesRegex(
            base.WorkloadError, "only the first block"
        ):
            _parse("mbw", text, version="1.3")

    @ddt.data(
        ("", {"version": "1.2"}),
        ("says: Usage: mbw [options] array_size_in_MiB\n", {}),
    )
    @ddt.unpack
    def test_default_output_of_mbw_before_1_4(self, prefix, arguments):
        """It contains mcblock, which is omitted; numbers constructed."""
        text = golden.text("mbw-1.2.2-constructed-default.txt")
        output = _parse("mbw", prefix + text, **arguments)
        self.assertEqual(["memcpy", "dumb"], output.arguments["methods"])
        ((memcpy, dumb),) = _values(output)
        self.assertEqual(5459926289, round(memcpy))
        self.assertEqual(3257916123, round(dumb))
        (note,) = output.notes
        self.assertIn("mcblock is omitted: before mbw 1.4", note)
        self.assertEqual((), _parse("mbw", text, version="1.4").notes)

    @ddt.data({}, {"copies": "1"})
    def test_unixbench_without_indices(self, arguments):
        text = golden.text("unixbench-r730xd-2019-guest.txt")
        output = _parse("unixbench", text, **arguments)
        self.assertEqual(
            ("flags", "iterations", "source", "version"), output.unknown
        )
        ((first, *others),) = _values(output)
        self.assertEqual(33964545.0, first)
        self.assertEqual(11, len(others))

    def test_unixbench_of_two_copies(self):
        text = golden.text("unixbench-6.0.0.txt")
        output = _parse("unixbench", text, copies="2")
        self.assertEqual(2, output.arguments["copies"])

    @ddt.data("none", "writethrough", "writeback", "directsync", "unsafe")
    def test_each_run_of_dd_is_a_repetition(self, mode):
        output = _parse("dd", golden.text(f"dd-2019-all-{mode}.txt"))
        self.assertEqual(
            {
                "directions": ["write"],
                "bytes": 1 << 30,
                "block_size": "1M",
                "count": 1024,
                "sync": "fdatasync",
                "direct": False,
                "source": "/dev/zero",
                "place": "file",
                "other_options": "",
            },
            output.arguments,
        )
        expected = 6 if mode == "writeback" else 5
        self.assertEqual(expected, len(output.repetitions))

    def test_dd_without_a_command_line(self):
        text = golden.text("dd-9.1-read.txt")
        output = _parse("dd", text, direction="read")
        self.assertEqual(
            {"directions": ["read"], "bytes": 1 << 28}, output.arguments
        )
        self.assertIn("block_size", output.unknown)

    def test_dd_with_sizes_that_the_workload_does_not_know(self):
        line = "$ dd if=x of=/dev/null bs=1G count=1 iflag=direct\n"
        summary = "1073741824 bytes (1.1 GB) copied, 1 s, 1.1 GB/s\n"
        output = _parse("dd", line + summary)
        self.assertEqual(
            {
                "directions": ["read"],
                "bytes": 1 << 30,
                "block_size": "1024M",
                "count": 1,
                "sync": "none",
                "direct": True,
                "place": "file",
                "other_options": "",
            },
            output.arguments,
        )

    def test_iperf(self):
        text = golden.text("iperf-r730xd-2019-guest.txt")
        output = _parse("iperf", text)
        self.assertEqual([[7.11e9]], _values(output))
        self.assertEqual(10, output.arguments["time"])
        many = _parse("iperf", golden.text("iperf2-2.1.8-to_peer.txt"))
        self.assertEqual(2, many.arguments["streams"])

    def test_mbw_that_contains_its_version(self):
        _parse("mbw", golden.text("mbw-1.2.2.txt"))

    def test_iperf_that_was_cut_before_its_sum(self):
        text = golden.text("iperf2-2.1.8-to_peer.txt")
        rows = [line for line in text.splitlines() if " sec " in line]
        cut = text[: text.index(rows[1])]
        with self.assertRaisesRegex(
            base.WorkloadError, "1 of 2 streams have a result"
        ):
            _parse("iperf", cut)

    def test_summary_of_dd_that_was_pasted_twice(self):
        text = golden.text("dd-9.1-read.txt")
        with self.assertRaisesRegex(base.WorkloadError, "a summary twice"):
            _parse("dd", text + text, direction="read")

    @ddt.data(
        ("933768.1 lps", "933768.1", "'Pipe Throughput .* not a row"),
        ("933768.1 lps", "933,768.1 lps", "'Pipe Throughput .* not a row"),
        ("7 samples", "7 samp", "'Dhrystone .* not a row"),
    )
    @ddt.unpack
    def test_rows_of_unixbench_with_another_format(self, old, new, message):
        text = golden.text("unixbench-r730xd-2019-guest.txt")
        with self.assertRaisesRegex(base.WorkloadError, message):
            _parse("unixbench", text.replace(old, new, 1))

    def test_another_size_than_that_of_the_command_line(self):
        text = golden.text("dd-2019-all-none.txt").replace(
            "count=1024", "count=7"
        )
        with self.assertRaisesRegex(base.WorkloadError, "instead of 7340032"):
            _parse("dd", text)

    def test_a_long_command_line_is_read_at_once(self):
        with self.assertRaisesRegex(base.WorkloadError, "has no summary"):
            _parse("dd", "dd " + "a=" * 2000 + "\n")


class MergeTestCase(unittest.TestCase):
    def read(self, name, tool="iperf", arguments=None, **changes):
        text = golden.text(name)
        for old, new in changes.items():
            text = text.replace(old, new)
        return _parse(tool, text, **(arguments or {}))

    def test_several_outputs_are_repetitions(self):
        names = ("guest.txt", "baremetal.txt")
        first_run, second_run = (
            self.read(f"iperf-r730xd-2019-{name}") for name in names
        )
        other = self.read(
            "iperf-r730xd-2019-guest-to-guest.txt",
            arguments={"direction": "guest_to_guest"},
        )
        first, second = raw.merge([first_run, other, second_run])
        self.assertEqual([[7.11e9], [7.82e9]], _values(first))
        self.assertEqual([[7.04e9]], _values(second))

    def test_other_arguments(self):
        first_run = self.read("dd-2019-all-none.txt", "dd")
        second_run = self.read(
            "dd-2019-all-none.txt", "dd", **{"conv=fdatasync": "conv=fsync"}
        )
        with self.assertRaisesRegex(
            base.WorkloadError, "sync: 'fdatasync' and 'fsync'"
        ):
            raw.merge([first_run, second_run])

    def test_other_tests(self):
        whole = self.read("unixbench-r730xd-2019-guest.txt", "unixbench")
        single = self.read("unixbench-6.0.0.txt", "unixbench", {"copies": "1"})
        with self.assertRaisesRegex(base.WorkloadError, "of the same tests"):
            raw.merge([whole, single])
