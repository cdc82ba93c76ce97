# SPDX-License-Identifier: Apache-2.0
import pathlib
import subprocess
import tempfile
import unittest

import ddt

from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import files
from rally_vmperf.workloads import tools
from rally_vmperf.workloads.memory import mbw
from tests.unit.workloads import golden

MIB = 1 << 20
GOLDEN = golden.text("mbw-1.2.2-mcblock.txt")
OLD = golden.text("mbw-1.2.2.txt")
TWO = golden.text("mbw-1.2.2-processes.txt")
NEW = golden.text("mbw-2.0.txt")
ALL = ["memcpy", "dumb", "mcblock"]
AVERAGE = "AVG\tMethod: MEMCPY"


def printed(label, *seconds, size_mib=16):
    """Return the table of a method, as mbw would print it."""
    mean = sum(seconds) / len(seconds)
    rows = [*enumerate(seconds), ("AVG", mean)]
    return "".join(
        f"{run}\tMethod: {label}\tElapsed: {elapsed:.5f}\t"
        f"MiB: {size_mib}.00000\t"
        f"Copy: {size_mib / elapsed:.3f} MiB/s\n"
        for run, elapsed in rows
    )


def series(readings):
    """Return the values over time among what was read."""
    return [
        reading for reading in readings if isinstance(reading, sample.Series)
    ]


@ddt.ddt
class MemoryBandwidthTestCase(unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.workload = mbw.Mbw()

    @ddt.data(
        ({}, "-n 10 -b 262144 -t0 -t1 64"),
        ({"methods": ALL}, "-n 10 -b 262144 -t0 -t1 -t2 64"),
        ({"methods": ["dumb"]}, "-n 10 -b 262144 -t0 -t1 64"),
        ({"methods": ["mcblock"]}, "-n 10 -b 262144 -t2 64"),
        ({"processes": 3}, "-k 3 -n 10 -b 262144 -t0 -t1 64"),
        (
            {
                "methods": ["mcblock", "memcpy"],
                "runs": 3,
                "size_mib": 512,
                "block_size": 4096,
            },
            "-n 3 -b 4096 -t0 -t1 -t2 512",
        ),
    )
    @ddt.unpack
    def test_command_line(self, arguments, line):
        (command,) = self.workload.commands(
            self.workload.complete(arguments), base.Endpoints()
        )
        self.assertEqual(f"bash mbw.bash {line}", " ".join(command.argv))

    def of_processes(self, text, processes=2):
        arguments = self.workload.complete(
            {"size_mib": 16, "runs": 3, "processes": processes}
        )
        outcome = golden.outcome("mbw", text)
        return self.workload.parse_all(arguments, {"mbw": outcome})

    def test_rates_of_processes_are_added_up(self):
        """This version prints as DUMB what memcpy does."""
        memcpy, dumb = golden.values(self.of_processes(TWO))
        self.assertAlmostEqual(1209.555 + 1791.580, memcpy.value / MIB, 2)
        self.assertAlmostEqual(1121.915 + 1671.193, dumb.value / MIB, 2)

    def changed(self, *processes):
        """Return the output of two processes with other seconds of DUMB.

        Both take a second for what comes before.
        """
        head, *_ = TWO.partition("0\tMethod")
        version_line, _, begun = head.partition("process 1\n")
        return version_line + "".join(
            f"process {number}\n{begun}"
            f"{printed('MEMCPY', 0.25, 0.5, 0.25)}{printed('DUMB', *seconds)}"
            for number, seconds in enumerate(processes, 1)
        )

    def test_single_rates_of_processes_in_step_are_added_up(self):
        readings = self.of_processes(
            self.changed((0.125, 0.5, 0.25), (0.25, 0.5, 0.125))
        )
        memcpy, dumb = series(readings)
        self.assertEqual("memory.mbw.memcpy.bandwidth", memcpy.metric.name)
        self.assertEqual(
            [
                (0.1875, (128 + 64) * MIB),
                (0.6875, 64 * MIB),
                (0.875, 192 * MIB),
            ],
            [(at, rate) for at, rate in memcpy.points],
        )
        self.assertEqual(
            [(0.25, 128 * MIB), (0.75, 64 * MIB), (1.0, 128 * MIB)],
            list(dumb.points),
        )

    def test_processes_out_of_step_have_no_single_rates(self):
        """The third copies of one method do not overlap by half."""
        text = self.changed((0.125, 0.125, 0.25), (0.125, 0.25, 0.25))
        (dumb,) = series(self.of_processes(text))
        self.assertEqual("memory.mbw.dumb.bandwidth", dumb.metric.name)
        self.assertEqual([], series(self.of_processes(TWO)))

    @ddt.data((TWO, 1), (TWO, 3), (TWO.partition("process 2")[0], 2), (OLD, 2))
    @ddt.unpack
    def test_another_number_of_processes(self, text, processes):
        with self.assertRaisesRegex(base.WorkloadError, "printed outputs of "):
            self.of_processes(text, processes)

    def folder(self, program):
        """Return a folder with the script and a program in place of mbw."""
        (script,) = self.workload.files(self.workload.complete({}))
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        top = pathlib.Path(folder.name)
        (top / "mbw.bash").write_bytes(files.read(script))
        (top / "mbw").write_text(program)
        (top / "mbw").chmod(0o755)
        return top

    def test_a_process_that_fails(self):
        """The program ends as the process did."""
        top = self.folder(
            "#!/bin/sh\n[ $1 = -h ] || { sleep 0.$1; exit $1; }\n"
        )
        process = subprocess.run(
            ["bash", "mbw.bash", "-k", "2", "3"],
            cwd=top,
            env={"PATH": f"{top}:/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual((3, ""), (process.returncode, process.stderr))
        self.assertIn("process 1\nprocess 2\n", process.stdout)
        self.assertEqual(
            {"mbw", "mbw.bash"}, {path.name for path in top.iterdir()}
        )

    @ddt.data(
        ({"size_mib": 0}, "size_mib: 0 is less .*1 to 65536"),
        ({"runs": 0}, "runs: 0 is less .*1 to 1000"),
        ({"methods": []}, r"methods: \[\] .*memcpy, dumb"),
        ({"methods": ["strcpy"]}, "methods.0: 'strcpy' .*memcpy, dumb"),
        ({"methods": "memcpy"}, "methods: 'memcpy' is not .*memcpy, dumb"),
        ({"methods": ["dumb", "dumb"]}, "methods: .* non-unique"),
        ({"block_size": 2000000}, "block_size: .*64 to 1048576"),
        (
            {"block_size": 3000},
            "block_size=3000: must divide the array of 67108864 bytes; "
            "use a power of two, such as 2048",
        ),
    )
    @ddt.unpack
    def test_bad_arguments(self, arguments, message):
        with self.assertRaisesRegex(
            base.WorkloadError, f"^workload mbw: {message}"
        ):
            self.workload.complete(arguments)

    @ddt.data(
        ("baremetal", 7578.348, 2992.404, 5425.378),
        ("guest", 6254.520, None, None),
    )
    @ddt.unpack
    def test_published_outputs(self, machine, *expected):
        rates = self._published(machine)
        for measured, published in zip(rates, expected, strict=True):
            self.assertEqual("B/s", measured.metric.unit)
            if published is not None:
                self.assertAlmostEqual(
                    published, measured.value / MIB, delta=0.002
                )

    def test_published_overhead_is_17_percent_and_not_2(self):
        bare_metal = self._published("baremetal")[0].value
        guest = self._published("guest")[0].value
        self.assertAlmostEqual(
            17.47, (bare_metal - guest) / bare_metal * 100, places=2
        )

    def _published(self, machine):
        text = golden.text(f"mbw-r730xd-2019-{machine}.txt")
        # Built in its own folder in 2019; the element loop is the slower one.
        version_line = (
            "says: mbw memory benchmark v1.4, https://github.com/raas/mbw\n"
        )
        return golden.values(
            self._parse(
                version_line + text, size_mib=512, runs=10, methods=ALL
            )
        )

    def test_single_rates_are_a_series(self):
        """Each at the second at which its copy ended."""
        memcpy, dumb = series(self._parse(OLD))
        for method_series, label in ((memcpy, "DUMB"), (dumb, "MEMCPY")):
            lines = [
                line.split() for line in OLD.splitlines() if label in line
            ]
            *runs, average = [float(line[8]) for line in lines]
            *seconds, _ = [float(line[4]) for line in lines]
            for number, (at, value) in enumerate(method_series.points):
                self.assertAlmostEqual(runs[number], value / MIB, delta=0.01)
                self.assertAlmostEqual(
                    sum(seconds[: number + 1]), at, delta=2e-5
                )
            self.assertEqual(3, len(method_series.points))
            last, _ = method_series.points[-1]
            self.assertAlmostEqual(3 * 16 / last, average, delta=0.01)

    def test_one_copy_is_not_a_series(self):
        head, *_ = OLD.replace("Doing 3", "Doing 1").partition("0\tMethod")
        text = head + printed("MEMCPY", 0.25) + printed("DUMB", 0.5)
        readings = self._parse(text, runs=1)
        self.assertEqual([], series(readings))
        self.assertEqual(2, len(readings))

    def test_a_single_copy_faster_than_any_machine(self):
        """In the mean with the others it would be believed."""
        head, *_ = OLD.partition("0\tMethod")
        for seconds, message in ((1e-6, "not plausible"), (0.25, None)):
            text = head + printed("MEMCPY", seconds, 0.25, 0.25)
            text += printed("DUMB", 0.25, 0.25, 0.25)
            if message is None:
                self._parse(text)
                continue
            with self.assertRaisesRegex(base.WorkloadError, message):
                self._parse(text)

    def _parse(self, text, **changes):
        arguments = {"size_mib": 16, "runs": 3, **changes}
        return self.workload.parse_all(
            self.workload.complete(arguments),
            {"mbw": golden.outcome("mbw", text)},
        )

    @ddt.data((OLD, 1342.207, 1619.706), (NEW, 2230.483, 1917.392))
    @ddt.unpack
    def test_before_1_4_memcpy_and_dumb_are_swapped(self, text, *expected):
        methods = ALL[: text.count("AVG")]
        samples = golden.values(self._parse(text, methods=methods))
        rates = [measured.value / MIB for measured in samples]
        for mine, printed in zip(rates[:2], expected, strict=True):
            self.assertAlmostEqual(printed, mine, delta=0.002)

    def test_mcblock_alone_is_rejected_before_1_4(self):
        with self.assertRaisesRegex(
            base.WorkloadError,
            "mbw: mcblock .*1.4 or later.*only the first block",
        ):
            self._parse(GOLDEN, methods=["mcblock"])

    def test_mcblock_is_omitted_before_1_4(self):
        """It is optional next to other methods."""
        arguments = self.workload.complete({"methods": ALL})
        metrics = self.workload.metrics(arguments)
        self.assertEqual(
            [False, False, True], [metric.optional for metric in metrics]
        )
        old = golden.values(self._parse(OLD, methods=ALL))
        new = golden.values(self._parse(NEW, methods=ALL))
        self.assertEqual((2, 3), (len(old), len(new)))
        (alone,) = self.workload.metrics({"methods": ["mcblock"]})
        self.assertFalse(alone.optional)

    def test_mcblock_wants_a_tool_of_1_4(self):
        for methods, version, rejected in (
            (ALL, (1, 4), False),
            (["mcblock"], (1, 4), True),
            (["memcpy"], (), False),
        ):
            tool, _ = self.workload.tools({"methods": methods})
            self.assertEqual((version, rejected), tools.strictness(tool))

    @ddt.data(
        ("mbw memory benchmark v2.0, x", "-t0 -t1 -t2 16"),
        ("Usage: mbw [options] array_size_in_MiB", "-t0 -t1 16"),
    )
    @ddt.unpack
    def test_the_script_omits_mcblock_before_1_4(self, first, expected):
        folder = self.folder(
            f'#!/bin/sh\n[ $1 = -h ] && echo "{first}" || echo "$@"\n'
        )
        process = subprocess.run(
            ["bash", "mbw.bash", "-t0", "-t1", "-t2", "16"],
            cwd=folder,
            env={"PATH": f"{folder}:/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=True,
        )
        self.assertEqual(f"says: {first}\n{expected}\n", process.stdout)

    @ddt.data(
        ("says: ", "", "must contain its version exactly once"),
        ("says: mbw", "says: mbw memory benchmark v1.5\nsays: mbw", "once"),
        ("v1.5", "v1.3", "reported version 1.3, but versions before 1.4 do"),
        ("= 33554432", "= 33554433", "did not print 'Long uses .*33554432"),
        ("Using 262144", "Using 4096", "did not print 'Using 262144 bytes"),
        ("Doing 3", "Doing 4", "did not print .*Doing 3 runs per test"),
        ("MCBLOCK", "STREAM", "ran DUMB, MEMCPY, STREAM instead of MEMCPY, D"),
    )
    @ddt.unpack
    def test_another_run(self, old, new, message):
        self.assertIn(old, NEW)
        with self.assertRaisesRegex(base.WorkloadError, f"^mbw: .*{message}"):
            self._parse(NEW.replace(old, new), methods=ALL)

    def test_methods_that_were_not_requested(self):
        with self.assertRaisesRegex(base.WorkloadError, "^mbw: ran DUMB, M"):
            self._parse(NEW)


@ddt.ddt
class RateTestCase(unittest.TestCase):
    @ddt.data(
        ("memcpy", 13517.319), ("dumb", 20304.569), ("mcblock", 24742.268)
    )
    @ddt.unpack
    def test_rate_is_that_of_the_average_line(self, method, average):
        rate = mbw.parse_copies(GOLDEN, method.upper(), 3, 16).rate
        self.assertAlmostEqual(average, rate / 1024 / 1024, delta=0.002)

    @ddt.data(
        ("0\tMethod: MEMCPY", "9\tMethod: MEMCPY", "has 3 runs instead"),
        ("0\tMethod: MEMCPY", "0\tMethod: MEMSET", "has 2 runs instead"),
        (AVERAGE, "3\tMethod: MEMCPY", "has 4 runs instead of 3"),
        (AVERAGE, "AVG\tMethod: MEMSET", "has 0 averages instead"),
        ("16.00000\tCopy: 13769", "8.00000\tCopy: 13769", "not run with 16"),
        ("Copy: 13769.363", "Copy: 0.000", "copied 16 MiB at 0 MiB/s"),
        ("Copy: 13769.363", "Copy: -1.000", "copied 16 MiB at -1 MiB/s"),
        ("Copy: 13769.363", "Copy: inf", "'inf', not a finite number"),
        ("Copy: 13769.363 MiB/s", "Copy: 13769.363 GiB/s", "another form"),
        ("Copy: 13769.363 MiB/s", "Copy: 13769.363", "another form"),
    )
    @ddt.unpack
    def test_incoherent_table(self, old, new, message):
        self.assertIn(old, GOLDEN)
        with self.assertRaisesRegex(
            base.WorkloadError, f"^mbw: memcpy.*{message}.*look at"
        ):
            mbw.parse_copies(GOLDEN.replace(old, new), "MEMCPY", 3, 16)

    @ddt.data((2, 16, "has 3 runs instead of 2"), (3, 64, "not run with 64"))
    @ddt.unpack
    def test_arguments_that_differ_from_the_run(self, runs, size, message):
        with self.assertRaisesRegex(base.WorkloadError, message):
            mbw.parse_copies(GOLDEN, "MEMCPY", runs, size)
