"""Tests of what raw outputs tell, and of what they do not."""

import re
import unittest

import ddt

from rally_vmperf.runs.raw_outputs import raw
from rally_vmperf.workloads import base
from tests.unit.workloads import golden


def _values(one):
    return [[s.value for s in each] for each in one.repetitions]


@ddt.ddt
class ReadTestCase(unittest.TestCase):
    """Real outputs of studies, by the parsers of the workloads."""

    def test_mbw(self):
        found = raw.parse(
            "mbw", golden.text("mbw-r730xd-2019-guest.txt"), "1.4"
        )
        self.assertEqual(
            {
                "size_mib": 512,
                "runs": 10,
                "methods": ["memcpy", "dumb", "mcblock"],
                "block_size": 262144,
            },
            found.arguments,
        )
        # Of others beside it a process says nothing.
        self.assertEqual(("processes",), found.unknown)
        ((memcpy, *_),) = _values(found)
        self.assertAlmostEqual(6254.520, memcpy / 2**20, places=2)

    def test_mbw_before_1_4(self):
        """What it calls dumb is memcpy; mcblock is no figure at all."""
        text = golden.text("mbw-1.2.2.txt").split("\n", 1)[1]
        (swapped,) = _values(raw.parse("mbw", text, "1.2.2"))
        (named,) = _values(raw.parse("mbw", text, "1.4"))
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
            raw.parse("mbw", text, "1.3")

    @ddt.data(
        ("", "1.2"), ("says: Usage: mbw [options] array_size_in_MiB\n", "")
    )
    @ddt.unpack
    def test_default_output_of_mbw_before_1_4(self, says, which):
        """It contains mcblock, which is omitted; numbers constructed."""
        text = golden.text("mbw-1.2.2-constructed-default.txt")
        found = raw.parse("mbw", says + text, which)
        self.assertEqual(["memcpy", "dumb"], found.arguments["methods"])
        ((memcpy, dumb),) = _values(found)
        self.assertEqual(5459926289, round(memcpy))
        self.assertEqual(3257916123, round(dumb))
        (note,) = found.notes
        self.assertIn("mcblock is omitted: before mbw 1.4", note)
        self.assertEqual((), raw.parse("mbw", text, "1.4").notes)

    @ddt.data("", "1")
    def test_unixbench_without_indices(self, which):
        text = golden.text("unixbench-r730xd-2019-guest.txt")
        found = raw.parse("unixbench", text, which)
        self.assertEqual(("flags", "iterations", "source"), found.unknown)
        ((first, *others),) = _values(found)
        self.assertEqual(33964545.0, first)
        self.assertEqual(11, len(others))

    def test_unixbench_of_two_copies(self):
        text = golden.text("unixbench-6.0.0.txt")
        found = raw.parse("unixbench", text, "2")
        self.assertEqual(2, found.arguments["copies"])

    @ddt.data("none", "writethrough", "writeback", "directsync", "unsafe")
    def test_each_run_of_dd_is_a_repetition(self, mode):
        found = raw.parse("dd", golden.text(f"dd-2019-all-{mode}.txt"))
        self.assertEqual(
            {
                "directions": ["write"],
                "block_size": "1M",
                "count": 1024,
                "sync": "fdatasync",
                "direct": False,
            },
            found.arguments,
        )
        expected = 6 if mode == "writeback" else 5
        self.assertEqual(expected, len(found.repetitions))

    def test_dd_without_a_command_line(self):
        text = golden.text("dd-9.1-read.txt")
        found = raw.parse("dd", text, "read")
        self.assertEqual({"directions": ["read"]}, found.arguments)
        self.assertIn("block_size", found.unknown)

    def test_dd_with_sizes_that_the_workload_does_not_know(self):
        line = "$ dd if=x of=/dev/null bs=1G count=1 iflag=direct\n"
        summary = "1073741824 bytes (1.1 GB) copied, 1 s, 1.1 GB/s\n"
        found = raw.parse("dd", line + summary)
        self.assertEqual(
            {
                "directions": ["read"],
                "count": 1,
                "sync": "none",
                "direct": True,
            },
            found.arguments,
        )

    def test_iperf(self):
        text = golden.text("iperf-r730xd-2019-guest.txt")
        found = raw.parse("iperf", text)
        self.assertEqual([[7.11e9]], _values(found))
        self.assertEqual(10, found.arguments["time"])
        many = raw.parse("iperf", golden.text("iperf2-2.1.8-to_peer.txt"))
        self.assertEqual(2, many.arguments["streams"])

    def test_mbw_that_contains_its_version(self):
        raw.parse("mbw", golden.text("mbw-1.2.2.txt"))

    def test_iperf_that_was_cut_before_its_sum(self):
        text = golden.text("iperf2-2.1.8-to_peer.txt")
        rows = [line for line in text.splitlines() if " sec " in line]
        cut = text[: text.index(rows[1])]
        with self.assertRaisesRegex(
            base.WorkloadError, "has 1 connections instead of 2"
        ):
            raw.parse("iperf", cut)

    def test_summary_of_dd_that_was_pasted_twice(self):
        text = golden.text("dd-9.1-read.txt")
        with self.assertRaisesRegex(base.WorkloadError, "a summary twice"):
            raw.parse("dd", text + text, "read")

    @ddt.data(
        ("933768.1 lps", "933768.1", "'Pipe Throughput .* not a row"),
        ("933768.1 lps", "933,768.1 lps", "'Pipe Throughput .* not a row"),
        ("7 samples", "7 samp", "'Dhrystone .* not a row"),
    )
    @ddt.unpack
    def test_rows_of_unixbench_with_another_format(self, old, new, message):
        text = golden.text("unixbench-r730xd-2019-guest.txt")
        with self.assertRaisesRegex(base.WorkloadError, message):
            raw.parse("unixbench", text.replace(old, new, 1))

    @ddt.data(
        ("mbw", "", "1.4", "mbw printed '' instead of runs"),
        ("mbw", "", "", "give 1.4=FILE, or 1.2=FILE for versions before 1.4"),
        ("mbw", "", "x", "'x' was given .*; give the version of mbw"),
        ("unixbench", "", "", "reports 0 runs with copies: 1, not one"),
        ("unixbench", "", "two", "'two' was given .*give a number of copies"),
        ("iperf", "", "", "has 0 connections instead of 1"),
        ("iperf", "", "up", "'up' was given .* give to_peer or from_peer or"),
        ("dd", "", "", "no direction was given .* give write or read"),
        ("dd", "", "read", "dd said '' instead of how many bytes"),
        ("dd", "dd if=a of=b\ndd if=a of=c\n", "", "2 different command line"),
        ("dd", "x" * (1 << 21), "", "has more than 1048576 characters"),
    )
    @ddt.unpack
    def test_refused(self, tool, text, which, message):
        with self.assertRaisesRegex(base.WorkloadError, message):
            raw.parse(tool, text, which)

    def test_another_size_than_that_of_the_command_line(self):
        text = golden.text("dd-2019-all-none.txt").replace(
            "count=1024", "count=7"
        )
        with self.assertRaisesRegex(base.WorkloadError, "instead of 7340032"):
            raw.parse("dd", text)

    def test_a_long_command_line_is_read_at_once(self):
        raw._DD_COMMAND.findall("dd " + "a=" * 20000 + "\n")


class MergeTestCase(unittest.TestCase):
    def read(self, name, tool="iperf", which="", **changes):
        text = golden.text(name)
        for old, new in changes.items():
            text = text.replace(old, new)
        return raw.parse(tool, text, which)

    def test_several_outputs_are_repetitions(self):
        names = ("guest.txt", "baremetal.txt")
        one, two = (self.read(f"iperf-r730xd-2019-{name}") for name in names)
        other = self.read(
            "iperf-r730xd-2019-guest-to-guest.txt", which="guest_to_guest"
        )
        first, second = raw.merge([one, other, two])
        self.assertEqual([[7.11e9], [7.82e9]], _values(first))
        self.assertEqual([[7.04e9]], _values(second))

    def test_other_arguments(self):
        one = self.read("dd-2019-all-none.txt", "dd")
        two = self.read(
            "dd-2019-all-none.txt", "dd", **{"conv=fdatasync": "conv=fsync"}
        )
        with self.assertRaisesRegex(base.WorkloadError, "another of .*fsync"):
            raw.merge([one, two])

    def test_other_tests(self):
        whole = self.read("unixbench-r730xd-2019-guest.txt", "unixbench")
        part = self.read("unixbench-6.0.0.txt", "unixbench")
        with self.assertRaisesRegex(base.WorkloadError, "of the same tests"):
            raw.merge([whole, part])
