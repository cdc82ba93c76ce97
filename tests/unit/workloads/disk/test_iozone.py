# SPDX-License-Identifier: Apache-2.0
import unittest

import ddt

from rally_vmperf.workloads import base
from rally_vmperf.workloads.disk import iozone
from tests.unit.workloads import golden

GOLDEN = golden.text("iozone-3.489-random-2.txt")


@ddt.ddt
class FilesTestCase(unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.workload = iozone.Iozone()

    @ddt.data(
        (
            {},
            "-l 1 -u 1 -s 512m -r 64k -i 0 -i 1 -e -I -F 1.data",
        ),
        (
            {
                "processes": 3,
                "size_mib": 8,
                "record_size": "1M",
                "random": True,
                "flush": False,
                "direct": False,
            },
            "-l 3 -u 3 -s 8m -r 1024k -i 0 -i 1 -i 2 -F 1.data 2.data 3.data",
        ),
        (
            {"processes": 2, "target": "volume"},
            "-l 2 -u 2 -s 512m -r 64k -i 0 -i 1 -e -I "
            "-F volume-1.fs/1.data volume-1.fs/2.data",
        ),
    )
    @ddt.unpack
    def test_command_line(self, arguments, line):
        (command,) = self.workload.commands(
            self.workload.complete(arguments), base.Endpoints()
        )
        self.assertEqual(f"iozone {line}", " ".join(command.argv))

    def test_volume(self):
        """All files of the processes are on it."""
        arguments = self.workload.complete(
            {"processes": 3, "size_mib": 7, "target": "volume"}
        )
        self.assertEqual(
            (base.Target(form="filesystem", size=21 << 20),),
            self.workload.targets(arguments),
        )

    @ddt.data(
        ({"processes": 0}, "processes: 0 is less .*1 to 64"),
        ({"record_size": "3M"}, "record_size: '3M' does not"),
        (
            {"record_size": "2M", "size_mib": 1},
            "record_size=2M: must be at most the file of 1 MiB; raise",
        ),
    )
    @ddt.unpack
    def test_bad_arguments(self, arguments, message):
        with self.assertRaisesRegex(
            base.WorkloadError, f"^workload iozone: {message}"
        ):
            self.workload.complete(arguments)

    @ddt.data(
        ({"direct": False}, "iozone reads, with direct: false"),
        (
            {"direct": False, "flush": False},
            "iozone reads and writes, with direct: false",
        ),
    )
    @ddt.unpack
    def test_the_page_cache_is_reported(self, arguments, detail):
        findings = self.workload.argument_findings(
            self.workload.complete(arguments)
        )
        self.assertEqual((("page_cache_measured", detail),), findings)

    def test_tests_that_were_not_requested(self):
        text = GOLDEN.replace("random writers", "mixed workload")
        with self.assertRaisesRegex(base.WorkloadError, "ran 6 tests, which"):
            self.parse(text)

    def parse(self, text, **arguments):
        """Parse an output of the recorded run, with other arguments."""
        run_arguments = {**golden.RUNS["iozone"].arguments, **arguments}
        outcome = {"iozone": golden.outcome("iozone", text, seconds=60)}
        return self.workload.parse_all(
            self.workload.complete(run_arguments), outcome
        )

    @ddt.data(
        (" -e -I", "", "ran with 'iozone .* -i 2 -F .* instead of '-l 2 "),
        ("8m", "9m", "instead of '-l 2 -u 2 -s 8m"),
        ("\tCommand line used", "\tCommand", "ran with '' instead of"),
        (
            "\tO_DIRECT feature enabled\n",
            "",
            "run with direct: True, because it did not print 'O_DIRECT",
        ),
        ("rewriters ", "readers ", "ran 5 tests, which are not the 6"),
        (
            "\tInclude fsync in write timing\n",
            "",
            "run with flush: True, because it did not print 'Include fsync",
        ),
    )
    @ddt.unpack
    def test_another_command(self, old, new, message):
        self.assertEqual(6, len(self.parse(GOLDEN)))
        self.assertIn(old, GOLDEN)
        with self.assertRaisesRegex(base.WorkloadError, message):
            self.parse(GOLDEN.replace(old, new))

    def test_a_setting_without_a_request(self):
        text = golden.text("iozone-3.489-throughput-2.txt")
        text += "\tO_DIRECT feature enabled\n"
        with self.assertRaisesRegex(
            base.WorkloadError, "direct: False, because it printed 'O_DIRECT"
        ):
            self.parse(
                text, **golden.RUNS["iozone-buffered"].arguments, random=False
            )

    def test_there_is_a_remedy_for_each_distribution(self):
        (tool,) = self.workload.TOOLS
        self.assertIn("enable Debian's section non-free", tool.advice["apt"])
        self.assertEqual({"apt", "dnf", "zypper"}, set(tool.advice))


@ddt.ddt
class RatesTestCase(unittest.TestCase):
    def test_real_outputs(self):
        rates = iozone.parse_rates(GOLDEN, 2, 8192, 64)
        self.assertEqual(6, len(rates))
        self.assertAlmostEqual(813054.72 * 1024, rates["initial writers"])
        self.assertAlmostEqual(1577151.12 * 1024, rates["random writers"])
        published = golden.text("iozone-3.489-throughput-2.txt")
        self.assertAlmostEqual(
            15221803 * 1024,
            iozone.parse_rates(published, 2, 32768, 64)["re-readers"],
        )

    @ddt.data((1, 8192, 64), (2, 4096, 64), (2, 8192, 4))
    @ddt.unpack
    def test_arguments_that_differ_from_the_run(self, *arguments):
        with self.assertRaises(base.WorkloadError):
            iozone.parse_rates(GOLDEN, *arguments)

    @ddt.data(
        ("813054.72", "4361.93.46", "'4361.93.46', not a finite number"),
        ("iozone test complete", "iozone: killed", "at its end, which is not"),
    )
    @ddt.unpack
    def test_incoherent_outputs(self, old, new, message):
        self.assertIn(old, GOLDEN)
        with self.assertRaisesRegex(
            base.WorkloadError, f"^iozone.*{message}.*"
        ):
            iozone.parse_rates(GOLDEN.replace(old, new), 2, 8192, 64)

    def test_cut_short(self):
        whole = GOLDEN.rstrip()
        for length in range(0, len(whole), 7):
            with self.assertRaises(base.WorkloadError):
                iozone.parse_rates(whole[:length], 2, 8192, 64)
