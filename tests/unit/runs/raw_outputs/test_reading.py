# SPDX-License-Identifier: Apache-2.0
"""Tests of outputs of tools, and of the values that are read from them."""

import json
import math
import pathlib
import random
import unittest

import ddt
import yaml

from rally_vmperf.runs.raw_outputs import cleaning
from rally_vmperf.runs.raw_outputs import reading
from rally_vmperf.workloads import base
from rally_vmperf.workloads import registry
from rally_vmperf.workloads.memory import mbw
from tests.unit import listing
from tests.unit.workloads import golden

DATA = pathlib.Path(__file__).parent / "data"
#: Name of an output -> what it contains.
EXPECTED = yaml.safe_load((DATA / "expected.yaml").read_text())
#: Output of a version -> the tool, and what is given with it.
GOLDEN = {
    "fio-3.33-randread.json": ("fio", {}),
    "fio-3.33-randrw.json": ("fio", {}),
    "iperf3-3.12-to_peer.json": ("iperf3", {}),
    "iperf3-3.12-udp-to_peer.json": ("iperf3", {}),
    "iperf2-2.1.8-to_peer.txt": ("iperf", {}),
    "sysbench-1.0.20-cpu.txt": ("sysbench", {}),
    "sysbench-1.1.0-cpu.txt": ("sysbench", {}),
    "sysbench_memory-1.0.20-read.txt": ("sysbench", {}),
    "stream-5.10.txt": ("stream", {}),
    "mbw-2.0.txt": ("mbw", {}),
    "mbw-r730xd-2019-guest.txt": ("mbw", {"version": "1.4"}),
    "unixbench-6.0.0.txt": ("unixbench", {"copies": "2"}),
    "openssl-1.1.1w.txt": ("openssl", {}),
    "openssl-3.5.7.txt": ("openssl", {}),
    "ping-20221126-to_peer.txt": ("ping", {}),
    "sockperf-3.7-to_peer.txt": ("sockperf", {}),
    "sockperf-3.7-udp.txt": ("sockperf", {}),
    "iozone-3.489-throughput-2.txt": ("iozone", {}),
    "hepscore-layout.json": ("hepscore", {}),
    "hepspec06-layout.json": ("hepscore", {}),
    "dd-9.1-read.txt": ("dd", {"direction": "read"}),
}
#: The line of a result of fio 3.33 (-rate=50m), of the same run with other
#: units, and its bytes per second, which fio prints with three digits.
FIO_RATES = (
    ("IOPS=12.2k, BW=50.0MB/s (47.7MiB/s)(100MB/2001msec)", 50.0e6),
    ("IOPS=12.2k, BW=47.7MiB/s (50.0MB/s)(95.4MiB/2001msec)", 50.0e6),
    ("IOPS=12.8k, BW=399Mibit/s (418Mbit/s)(49.9MiB/1001msec)", 418e6 / 8),
    ("IOPS=109, BW=450kB/s (439KiB/s)(900kB/2001msec)", 450e3),
    ("IOPS=2731k, BW=11.2GB/s (10.4GiB/s)(67.1MB/6msec)", 11.2e9),
)
#: Records of dd, as it prints them.
PLAIN = "1+0 records in\n1+0 records out\n"
H2LOAD = """\
finished in 2.00s, 5120.50 req/s, 1.20MB/s
requests: 10241 total, 10241 started, 10241 done, 10241 succeeded, 0 failed, \
0 errored, 0 timeout
status codes: 10241 2xx, 0 3xx, 0 4xx, 0 5xx
                     min         max         mean         sd        +/- sd
time for request:      150us     12.50ms      1.95ms       640us    85.10%
"""
TIME = """\
$ time bzip2 -z data

real\t1m4.250s
user\t1m3.900s
sys\t0m0.300s
$ time cp -r tree copy

real\t0m12.500s
user\t0m0.100s
sys\t0m9.000s
"""
WGET = """\
--2026-07-17 12:09:30--  https://192.0.2.1/data
Connecting to 192.0.2.1:443... connected.
HTTP request sent, awaiting response... 200 OK
Length: 60513 (59K) [text/plain]
Saving to: 'data'

data   100%[====>]  59.09K   292KB/s    in 0.2s

2026-07-17 12:09:31 (345 KB/s) - 'data' saved [60513/60513]
"""
WGET_FTP = """\
--2026-07-17 12:09:30--  ftp://192.0.2.1/data
           => 'data'
Connecting to 192.0.2.1:21... connected.
Logging in as anonymous ... Logged in!
==> SYST ... done.    ==> PWD ... done.
==> SIZE data ... 60513
==> PASV ... done.    ==> RETR data ... done.
Length: 60513 (59K) (unauthoritative)

data   100%[====>]  59.09K   292KB/s    in 0.2s

2026-07-17 12:09:31 (345 KB/s) - 'data' saved [60513]
"""


def read(name, folder=golden.DATA, arguments=None, tool=""):
    """Return the results in a file."""
    text = cleaning.clean((folder / name).read_bytes())
    return reading.read(text, tool, arguments)


def values(outputs):
    """Return the values of results by metric, in their order."""
    by_metric = {}
    for output in outputs:
        for samples in output.repetitions:
            for value in samples:
                by_metric.setdefault(value.metric.name, []).append(value.value)
    return by_metric


@ddt.ddt
class FieldTestCase(unittest.TestCase):
    """Outputs in formats in which people publish them."""

    @ddt.data(*sorted(EXPECTED))
    def test_output(self, name):
        expected = EXPECTED[name]
        suffix = "txt" if (DATA / f"{name}.txt").exists() else "json"
        arguments = (f"{name}.{suffix}", DATA, expected.get("given"))
        if reason := expected.get("rejected"):
            with self.assertRaises(base.WorkloadError) as caught:
                read(*arguments)
            self.assertIn(reason, str(caught.exception))
            return
        outputs = read(*arguments)
        self.assertEqual(
            expected.get("labels", [""]), [output.label for output in outputs]
        )
        read_values = values(outputs)
        for metric, rights in expected["values"].items():
            self.assertEqual(len(rights), len(read_values[metric]))
            for value, right in zip(read_values[metric], rights, strict=True):
                self.assertAlmostEqual(right, value, delta=right * 1e-6)
        notes = "".join(note for output in outputs for note in output.notes)
        self.assertIn(expected.get("notes", ""), notes)
        expected_arguments = expected.get("arguments", {})
        self.assertEqual(
            expected_arguments,
            {key: outputs[0].arguments.get(key) for key in expected_arguments},
        )

    def test_all_outputs_are_expected(self):
        names = {
            path.stem
            for suffix in ("txt", "json")
            for path in DATA.glob(f"*.{suffix}")
        }
        pairs = yaml.safe_load((DATA / "pairs.yaml").read_text())
        sides = {
            f"{name}-{side}" for name in pairs for side in ("bm", "guest")
        }
        listing.check(
            self,
            EXPECTED.keys() | sides,
            names,
            "expected.yaml or pairs.yaml in tests/unit/runs/raw_outputs/data",
            "add the values that the output has, or the reason of its "
            "rejection",
        )

    def test_kinds_of_quotation(self):
        """The values do not depend on what a mail or a page adds."""
        plain = (DATA / "dd-flags-1.txt").read_text()
        expected = values(reading.read(plain))
        for prefix in ("> ", "| ", "    ", "\t"):
            text = "".join(prefix + line for line in plain.splitlines(True))
            self.assertEqual(
                expected, values(reading.read(cleaning.clean(text.encode())))
            )


@ddt.ddt
class GoldenTestCase(unittest.TestCase):
    """Outputs of stated versions of the tools."""

    @ddt.data(*sorted(GOLDEN))
    def test_metrics_belong_to_the_workload(self, name):
        """A guest of a run can be compared with an imported baseline."""
        tool, arguments = GOLDEN[name]
        text = cleaning.clean((golden.DATA / name).read_bytes())
        self.assertEqual(tool, reading.recognise(text).tool)
        for output in reading.read(text, "", arguments):
            workload = registry.get_workload(output.workload)
            schema = workload.ARGUMENTS["properties"]
            chosen = {
                key: argument
                for key, argument in output.arguments.items()
                if key in schema and tool != "openssl"
            }
            if tool == "fio":
                chosen = {"patterns": [name.split("-")[-1][:-5]]}
            metrics = workload.metrics(workload.complete(chosen))
            for metric in output.metrics:
                same = [
                    candidate
                    for candidate in metrics
                    if candidate.name == metric.name
                ]
                self.assertEqual([metric], same)

    def test_fio(self):
        metric_values = values(read("fio-3.33-randread.json"))
        self.assertAlmostEqual(
            34735.132, metric_values["disk.fio.randread.iops"][0], places=2
        )
        self.assertAlmostEqual(
            0.000148480, metric_values["disk.fio.randread.latency_p50"][0]
        )

    @ddt.data(*FIO_RATES)
    @ddt.unpack
    def test_units_of_fio(self, line, rate):
        """The pair of units says which is a power of 1000 (kb_base)."""
        text = (
            "t: (g=0): rw=read, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) "
            "4096B-4096B, ioengine=null, iodepth=1\nfio-3.33\n"
            f"t: (groupid=0, jobs=1): err= 0: pid=1: Sun Nov 29 2026\n  "
            f"read: {line}\n"
        )
        group = line.partition("BW=")[2].partition(")(")[0]
        for output in (text, f"   READ: bw={group}), io=100MB (95.4MiB)\n"):
            ((bandwidth,),) = (
                found
                for name, found in values(reading.read(output)).items()
                if name.endswith(".bandwidth")
            )
            self.assertAlmostEqual(rate, bandwidth, delta=0.005 * rate)

    def test_directions_and_protocols_are_distinct(self):
        tcp, udp = (
            read(f"iperf3-3.12-{name}.json")[0].metrics[0].name
            for name in ("to_peer", "udp-to_peer")
        )
        self.assertEqual("network.iperf3.to_peer.throughput", tcp)
        self.assertEqual("network.iperf3.to_peer.udp.throughput", udp)

    def test_h2load(self):
        metric_values = values(reading.read(H2LOAD))
        ((rate,), *_) = metric_values.values()
        self.assertEqual(5120.5, rate)

    @ddt.data(("", 0), ("0", 1))
    @ddt.unpack
    def test_wget(self, digit, failures):
        text = WGET.replace("/60513]", f"/60513{digit}]")
        if failures:
            with self.assertRaisesRegex(base.WorkloadError, "whole file"):
                reading.read(text)
            return
        self.assertEqual(
            {"network.wget.http.throughput": [345 * 1024]},
            values(reading.read(text)),
        )

    def test_index_of_unixbench(self):
        """It is one of all tests only, for each number of copies."""
        text = golden.text("unixbench-6.0.0.txt")
        self.assertNotIn(
            "application.unixbench.index", values(reading.read(text))
        )
        whole = text.replace(" (Partial Only)", "")
        self.assertEqual(
            [1798.8, 3888.1],
            values(reading.read(whole))["application.unixbench.index"],
        )

    def test_time(self):
        metric_values = values(reading.read(TIME))
        self.assertEqual(
            {"cpu.bzip2.compress_time": [64.25], "disk.cp.copy_time": [12.5]},
            metric_values,
        )

    def test_time_without_its_command(self):
        """As in a file to which only the time was written."""
        text = "\nreal\t0m2.500s\nuser\t0m2.000s\nsys\t0m0.100s\n"
        with self.assertRaisesRegex(base.WorkloadError, "time:command="):
            reading.read(text)
        outputs = reading.read(text, "time", {"command": "decompress"})
        self.assertEqual({"cpu.bzip2.decompress_time": [2.5]}, values(outputs))

    @ddt.data(
        "cp -r a /mnt/  0.35s user 4.12s system 61% cpu 7.246 total\n",
        "0.35user 4.12system 0:07.24elapsed 61%CPU (0avgtext+0avgdata "
        "7744maxresident)k\n",
        "3.910u 0.061s 0:03.98 99.7%\t0+0k 0+0io 0pf+0w\n",
        "\tElapsed (wall clock) time (h:mm:ss or m:ss): 0:03.98\n",
    )
    def test_other_formats_of_time(self, line):
        with self.assertRaisesRegex(
            base.WorkloadError, "^time: this is the format of another shell"
        ):
            reading.read(cleaning.clean(f"% time cp -r a b\n{line}".encode()))

    def test_decimal_comma_of_time(self):
        """The shell prints that of the locale."""
        self.assertEqual(
            {"cpu.bzip2.compress_time": [64.25], "disk.cp.copy_time": [12.5]},
            values(reading.read(TIME.replace(".", ","))),
        )
        text = "$ time -p cp a b\nreal 1,23\nuser 0,10\nsys 0,90\n"
        self.assertEqual(
            {"disk.cp.copy_time": [1.23]}, values(reading.read(text))
        )

    @ddt.data(
        "cp: cannot stat 'tree': No such file or directory",
        "cp: -r not specified; omitting directory 'tree'",
        "/usr/bin/cp: error writing 'copy/a': No space left on device",
        "-bash: cp: command not found",
        "sh: 1: cp: not found",
        "zsh: command not found: cp",
        "Command 'cp' not found, but can be installed with:",
        "Command exited with non-zero status 1",
        "Command terminated by signal 9",
        "/usr/bin/time: cannot run cp: No such file or directory",
        "^C",
        "Killed",
    )
    def test_failed_command_under_time(self, line):
        """Its time is not a repetition, also next to one that succeeded."""
        for text, given in (
            (TIME.replace("tree copy\n", f"tree copy\n{line}\n"), None),
            (
                f"{line}\nreal 0.52\nuser 0.00\nsys 0.00\n",
                {"command": "copy"},
            ),
        ):
            with self.assertRaises(base.WorkloadError) as caught:
                reading.read(text, "time", given)
            self.assertEqual(
                f"time: the command failed: {line!r}; give successful "
                "commands only",
                str(caught.exception),
            )

    def test_time_of_a_start(self):
        """A program without data ends after some milliseconds."""
        with self.assertRaisesRegex(
            base.WorkloadError, r"'real\\t0m0.004s' is the time in which a"
        ):
            reading.read(TIME.replace("0m12.500s", "0m0.004s"))

    def test_warnings_under_time(self):
        """They are no failures, and neither are names of files."""
        line = "cp: warning: source file 'a' specified more than once"
        text = TIME.replace("tree copy\n", f"tree copy\n{line}\n")
        text = text.replace("-z data\n", "-zv data\n  data: 3.2:1, 2.5 b/B\n")
        self.assertEqual(
            values(reading.read(TIME)), values(reading.read(text))
        )

    def test_job(self):
        outputs = reading.read(
            '{"jobs": [{"rate": 12.5}]}',
            "job",
            {
                "name": "rate",
                "path": "jobs.0.rate",
                "unit": "ops/s",
                "better": "higher",
            },
        )
        self.assertEqual({"application.job.rate": [12.5]}, values(outputs))
        with self.assertRaisesRegex(base.WorkloadError, "no line matches"):
            reading.read("nothing\n", "job", {"pattern": "took (.*) s"})
        with self.assertRaisesRegex(base.WorkloadError, "either pattern or"):
            reading.read("nothing\n", "job")


@ddt.ddt
class RejectedTestCase(unittest.TestCase):
    @ddt.data(
        ("iperf3-3.12-refused.json", "failed: unable to connect"),
        ("iperf3-3.12-bidir.json", "is of --bidir"),
        ("mbw-r730xd-2019-guest.txt", "give mbw:version=1.4=FILE, or 1.2"),
        ("dd-9.1-read.txt", "give dd:direction=write=FILE or dd:direction="),
        ("wget-1.21.3-http.txt", "the output is not recognised: '2026-11-22"),
    )
    @ddt.unpack
    def test_file(self, name, message):
        with self.assertRaisesRegex(base.WorkloadError, message):
            read(name)

    @ddt.data(
        ("", "", None, "^is empty; the tool printed nothing, or"),
        ("\n \n", "fio", None, "^is empty; .* redirect standard error, too"),
        ("x\n", "", None, "the output is not recognised: 'x'; name the tool"),
        ("x", "fia", None, "'fia' is not a tool whose outputs are read"),
        ("x", "iperf", {"direction": "up"}, "must be one of to_peer, from_"),
        ("x", "iperf", {"streams": "2"}, "'streams' is not an argument that"),
        ("x", "mbw", {"version": "x"}, "version='x': must be such as 1.4"),
        ("x", "mbw", {"version": "1.4"}, "has no runs with their AVG"),
        ("x", "unixbench", None, "the report has no run of its tests"),
        ("x", "dd", {"direction": "read"}, "has no summary: 'x'"),
        ("dd if=a of=b\ndd if=a of=c\n", "dd", None, "2 different command"),
        (
            "$ dd if=/dev/zero of=/dev/null bs=1M count=1\n1+0 records in\n"
            "1+0 records out\n1048576 bytes (1.0 MB) copied, 1 s, 1.0 MB/s\n",
            "",
            None,
            "copied /dev/zero to /dev/null, without a disk",
        ),
        (
            "Running 30s test @ http://192.0.2.1/\n",
            "",
            None,
            "this is wrk, which is not read; the tools that are read are mbw",
        ),
        ("MIGRATED TCP STREAM TEST from 0.0.0.0\n", "", None, "is netperf"),
        ("x" * (1 << 21), "dd", None, "has more than 1048576 characters"),
        ("{", "fio", None, "fio: the JSON is damaged"),
        ('{"a": 1, "a": 2}', "fio", None, "key 'a' is duplicated"),
        ('{"fio version": "3.33"}', "", None, "fio: the output is damaged"),
        (
            "fio-3.33\nStarting 1 process\n",
            "",
            None,
            "has no result such as 'read: IOPS=..., BW=...'; give the",
        ),
        (
            "[ ID] Interval           Transfer     Bitrate\n",
            "",
            None,
            "iperf3: the table has no line of the whole run \\(receiver\\)",
        ),
    )
    @ddt.unpack
    def test_text(self, text, tool, arguments, message):
        with self.assertRaisesRegex(base.WorkloadError, message):
            reading.read(text, tool, arguments)

    @ddt.data("h2load", "sockperf", "fio")
    def test_several_runs(self, tool):
        """They are not one run, and the first is not better."""
        text = {
            "h2load": H2LOAD,
            "sockperf": golden.text("sockperf-3.7-to_peer.txt"),
            "fio": golden.last(golden.text("fio-3.33-randread.json")),
        }[tool]
        other = text
        if tool == "fio":
            changed = json.loads(text)
            changed["timestamp_ms"] += 60000
            other = json.dumps(changed)
        with self.assertRaisesRegex(base.WorkloadError, "several runs"):
            reading.read(text + other)

    def test_jobs_with_the_same_name(self):
        """They are not repetitions."""
        report = json.loads(golden.last(golden.text("fio-3.33-randread.json")))
        (job,) = report["jobs"]
        report["jobs"] = [
            {**job, "jobname": name} for name in ("a b", "a/b", "c")
        ]
        with self.assertRaisesRegex(base.WorkloadError, "the name a-b"):
            reading.read(json.dumps(report))

    def test_hostile_names(self):
        """No name breaks a line of a table."""
        report = json.loads(golden.last(golden.text("fio-3.33-randread.json")))
        report["jobs"][0]["job options"]["rw"] = "a|b`\n<b>\x1b[31m" * 99
        for output in reading.read(json.dumps(report)):
            for metric in output.metrics:
                self.assertRegex(metric.name, r"^[A-Za-z0-9._-]{1,99}$")

    def test_run_that_ended_early(self):
        report = json.loads(golden.text("iperf3-3.12-to_peer.json"))
        report["end"]["sum_received"]["seconds"] = 0.2
        with self.assertRaisesRegex(base.WorkloadError, "ended after 0.2 s"):
            reading.read(json.dumps(report))

    def test_failed_requests_do_not_count(self):
        text = H2LOAD.replace("10241 succeeded, 0 f", "1000 succeeded, 9241 f")
        metric_values = values(reading.read(text))["network.h2load.rate"]
        self.assertAlmostEqual(5120.5 * 1000 / 10241, metric_values[0])

    @ddt.data(
        ("end", None, "not complete, or not of iperf3"),
        ("start", {}, "the output is damaged: 'test_start' is missing"),
    )
    @ddt.unpack
    def test_other_types(self, key, content, message):
        report = json.loads(golden.text("iperf3-3.12-to_peer.json"))
        report[key] = content
        with self.assertRaisesRegex(base.WorkloadError, message):
            reading.read(json.dumps(report), "iperf3")

    @ddt.data(True, "1000", float("nan"), float("inf"))
    def test_numbers(self, content):
        report = json.loads(golden.text("iperf3-3.12-to_peer.json"))
        report["end"]["sum_received"]["bits_per_second"] = content
        with self.assertRaisesRegex(base.WorkloadError, "is not a .*number"):
            reading.read(json.dumps(report))

    def test_first_interval(self):
        """A cut output of -i is not a run of 1 s."""
        text = (DATA / "iperf2-intervals.txt").read_text()
        cut = text[: text.index("[  3]  1.0- 2.0")]
        with self.assertRaisesRegex(base.WorkloadError, "the first interval"):
            reading.read(cut)

    @ddt.data(
        # Of two streams, a table ends behind the first one.
        ("iperf3-table-3.9", "[  7]   0.00-2.00", "has 2 streams, and no"),
        # What was sent with UDP is not what arrived.
        ("iperf3-table-udp-loss", "[  5]   0.00-2.00", "no line of the whole"),
    )
    @ddt.unpack
    def test_cut_table_of_iperf3(self, name, start, message):
        text = (DATA / f"{name}.txt").read_text()
        with self.assertRaisesRegex(base.WorkloadError, message):
            reading.read(text[: text.rindex(start)])

    def test_cut_latency_of_fio(self):
        """The first digit of a mean is not the mean."""
        text = (DATA / "fio-text-1.txt").read_text()
        cut = text[: text.index("avg=80.10") + len("avg=8")]
        self.assertEqual(
            {"disk.fio.read.iops", "disk.fio.read.bandwidth"},
            {*values(reading.read(cut))},
        )

    def test_deep_objects(self):
        with self.assertRaisesRegex(base.WorkloadError, "damaged"):
            reading.read('{"fio version": ' + "[" * 100000)

    @ddt.data(*sorted(GOLDEN))
    def test_damaged_outputs_have_no_other_values(self, name):
        """Values are those of the whole output, or it is rejected."""
        tool, arguments = GOLDEN[name]
        text = cleaning.clean((golden.DATA / name).read_bytes())
        right = values(reading.read(text, tool, arguments))
        chooser = random.Random(name)
        lines = text.splitlines(keepends=True)
        for _ in range(12):
            end = chooser.randrange(1, len(text))
            gap = chooser.randrange(len(lines))
            for damaged in (
                text[:end],
                "".join(lines[:gap] + lines[gap + 1 :]),
            ):
                try:
                    metric_values = values(
                        reading.read(damaged, tool, arguments)
                    )
                except base.WorkloadError:
                    continue
                for metric, repetitions in metric_values.items():
                    self.assertIn(metric, right, damaged[-200:])
                    for value in repetitions:
                        self.assertTrue(
                            any(
                                math.isclose(value, right_value, rel_tol=1e-6)
                                for right_value in right[metric]
                            ),
                            f"{metric}: {value}: {damaged[-200:]}",
                        )


@ddt.ddt
class CleaningTestCase(unittest.TestCase):
    @ddt.data(
        PLAIN.encode(),
        PLAIN.encode("utf-16"),
        PLAIN.encode("utf-16-le"),
        PLAIN.encode("utf-16-be"),
        b"\xfe\xff" + PLAIN.encode("utf-16-be"),
        b"\xff\xfe" + PLAIN.encode("utf-16-le"),
        PLAIN.replace("\n", "\r\n").encode("utf-16"),
        b"2026-11-29T10:00:00.000000000Z stderr F 1+0 records in\n"
        b"2026-11-29T10:00:00.000000001Z stdout F 1+0 records out\n",
        b"\xef\xbb\xbf" + PLAIN.encode(),
        PLAIN.replace("\n", "\r\n").encode(),
        PLAIN.replace("\n", "   \n").encode(),
        b"> 1+0 records in\n> 1+0 records out\n",
        b">> 1+0 records in\n>> 1+0 records out\n",
        b"    1+0 records in\n    1+0 records out\n",
        b"```\n1+0 records in\n1+0 records out\n```\n",
        b"\x1b[32m1+0\x1b[0m records in\n1+0 records out\n",
        b"0+0 ticks\r1+0 records in\n1+0 records out\n",
    )
    def test_the_same_text(self, content):
        self.assertEqual(PLAIN, cleaning.clean(content))

    def test_documents_with_an_output(self):
        """The log file of Docker, and the result of a module of Ansible."""
        docker = "".join(
            json.dumps({"log": f"{line}\n", "stream": "stderr", "time": "x"})
            + "\n"
            for line in PLAIN.splitlines()
        )
        self.assertEqual(PLAIN, cleaning.clean(docker.encode()))
        result = {"changed": True, "rc": 0, "stdout": "", "stderr": PLAIN}
        for indent in (4, 8):
            text = json.dumps(result, indent=indent)
            self.assertEqual(PLAIN, cleaning.clean(text.encode()))
        for other in ('{"log": 5}\n', '{"log": "a"\n', '{\n"stdout": "a"\n'):
            self.assertEqual(other, cleaning.clean(other.encode()))

    @ddt.data(("gbk", "记录了1+0 的读入\n"), ("latin-1", "1 Prüfung: 5 ö\n"))
    @ddt.unpack
    def test_encodings(self, encoding, text):
        self.assertEqual(text, cleaning.clean(text.encode(encoding)))

    def test_prompt_behind_ping(self):
        """A terminal shows it when the command has ended."""
        text = golden.text("ping-20221126-to_peer.txt")
        self.assertEqual(
            values(reading.read(text)),
            values(reading.read(f"$ ping host\n{text}\nuser@host:~$ \n")),
        )

    @ddt.data("unixbench-head-1", "h2load-option-1-bm")
    def test_tabs_of_editors(self, name):
        """A row with tabs is the same row."""
        text = (DATA / f"{name}.txt").read_text()
        given = EXPECTED[name].get("given", {}) if name in EXPECTED else {}
        tool = name.partition("-")[0]
        self.assertEqual(
            values(reading.read(text, tool, given)),
            values(reading.read(text.replace(" " * 8, "\t"), tool, given)),
        )

    def test_indented_tables_keep_their_columns(self):
        text = "  name:  1\n    deeper:  2\n"
        self.assertEqual(
            "name:  1\n  deeper:  2\n", cleaning.clean(text.encode())
        )


#: A reply that quotes the output of a command, and comments on it.
REPLY = """\
On Fri, 27 Nov 2026 at 10:00, Anna wrote:
> $ dd if=/dev/zero of=/srv/t bs=1M count=1024 conv=fdatasync
> 1024+0 records in
> 1024+0 records out
Looks slow to me.
> 1073741824 bytes (1.1 GB, 1.0 GiB) copied, 4.25 s, 253 MB/s
>

Which disk is that?
"""
_OWN_OUTPUT = """\
1024+0 records in
1024+0 records out
1073741824 bytes (1.1 GB, 1.0 GiB) copied, 8.5 s, 126 MB/s
"""


class ReplyTestCase(unittest.TestCase):
    """Replies in which only the output is quoted."""

    def read(self, text):
        """Return the values of a text, and the arguments."""
        (output,) = reading.read(cleaning.clean(text.encode()))
        return values([output]), output.arguments

    def test_quoted_output(self):
        """Comments between the quoted lines are not of the output."""
        for text in (REPLY, REPLY.replace("\n>", "\n> >")):
            read_values, arguments = self.read(text)
            self.assertEqual(
                {"disk.dd.write.bandwidth": [1073741824 / 4.25]}, read_values
            )
            self.assertEqual("fdatasync", arguments["sync"])

    def test_output_of_the_reply(self):
        """The one that is meant is unknown."""
        with self.assertRaisesRegex(
            base.WorkloadError, "the quoted lines and the other lines have"
        ):
            self.read(REPLY.replace("Which disk", f"{_OWN_OUTPUT}Which disk"))

    def test_prompts(self):
        """A mark before one line is a prompt."""
        text = f"> dd if=/dev/zero of=/srv/t bs=1M count=1024\n{_OWN_OUTPUT}"
        read_values, _ = self.read(text)
        self.assertEqual(
            {"disk.dd.write.bandwidth": [1073741824 / 8.5]}, read_values
        )


SYSBENCH = """\
sysbench 1.0.20
Number of threads: 1
block size: {block}
operation: write
{end}"""
SYSBENCH_END = """\
    total time:                          {time}s
    total number of events:              {events}
Threads fairness:
    events (avg/stddev): 1/0
    execution time (avg/stddev): 1/0
"""


@ddt.ddt
class SysbenchTestCase(unittest.TestCase):
    """Each part of a condition decides alone."""

    @ddt.data(("1KiB", 1 << 10), ("1MiB", 1 << 20), ("512", 512))
    @ddt.unpack
    def test_blocks(self, block, size):
        end = SYSBENCH_END.format(time="2.0", events=10)
        text = SYSBENCH.format(block=block, end=end)
        (figure,) = values(reading.read(text)).values()
        self.assertEqual([10 * size / 2.0], figure)

    @ddt.data(
        ("0.0", 10, "did nothing in 0 s"),
        ("2.0", 0, "did nothing in 2 s"),
    )
    @ddt.unpack
    def test_nothing(self, time, events, message):
        end = SYSBENCH_END.format(time=time, events=events)
        with self.assertRaisesRegex(base.WorkloadError, message):
            reading.read(SYSBENCH.format(block="1KiB", end=end))

    @ddt.data("    total time:  3.0s\n", "    total number of events: 9\n")
    def test_one_part_of_another_run(self, line):
        end = SYSBENCH_END.format(time="2.0", events=10)
        text = SYSBENCH.format(block="1KiB", end=line + end)
        with self.assertRaisesRegex(base.WorkloadError, "several runs"):
            reading.read(text)

    @ddt.data("block size", "operation")
    def test_another_test(self, missing):
        end = SYSBENCH_END.format(time="2.0", events=10)
        text = SYSBENCH.format(block="1KiB", end=end).replace(missing, "x")
        with self.assertRaisesRegex(base.WorkloadError, "only the tests cpu"):
            reading.read(text)


MBW_HEAD = """\
Long uses 8 bytes. Allocating 2*2097152 elements = 33554432 bytes of memory.
Getting down to business... Doing 1 runs per test.
"""
MBW_BLOCK = "Using 262144 bytes as blocks for memcpy block copy test.\n"


def write_mbw(*methods, size="16.00000", end="AVG"):
    """Return an output of mbw with one run of each method.

    :param end: The word before the mean; "" omits the mean.
    """
    return MBW_HEAD + "".join(
        f"{run}\tMethod: {method}\tElapsed: 0.00800\tMiB: {size}\t"
        "Copy: 2000.000 MiB/s\n"
        for method in methods
        for run in ("0", end)
        if run
    )


@ddt.ddt
class ProcessorTestCase(unittest.TestCase):
    """Parts of outputs of mbw and openssl."""

    def read_mbw(self, text, version="1.4"):
        """Return the only output."""
        (output,) = reading.read(text, "mbw", {"version": version})
        return output

    @ddt.data(
        (write_mbw("MEMCPY", end=""), "mbw: has no runs with their AVG"),
        (write_mbw("MEMCPY", size="x"), "mbw: has no runs with their AVG"),
        ("x", "mbw: has no runs with their AVG"),
        (
            write_mbw("MEMCPY", "DUMB")
            + write_mbw("MCBLOCK", end="").removeprefix(MBW_HEAD),
            "mbw: mcblock has no AVG; it did not end",
        ),
    )
    @ddt.unpack
    def test_incomplete_mbw(self, text, message):
        with self.assertRaisesRegex(base.WorkloadError, f"^{message}"):
            self.read_mbw(text)

    @ddt.data("1", "1.4.5.6", "1.4x", "v1.4", "1.2345")
    def test_other_version_of_mbw(self, version):
        with self.assertRaisesRegex(
            base.WorkloadError, "^mbw: version='.*': must be such as 1.4$"
        ):
            self.read_mbw(write_mbw("MEMCPY"), version)

    def test_missing_version_of_mbw(self):
        with self.assertRaisesRegex(
            base.WorkloadError, "^mbw: the output does not contain the version"
        ):
            reading.read(write_mbw("MEMCPY"))

    def test_arguments_of_mbw(self):
        """The size, the runs, and the block size if the output has it."""
        expected = {"size_mib": 16, "runs": 1, "methods": ["memcpy", "dumb"]}
        text = write_mbw("MEMCPY", "DUMB")
        self.assertEqual(expected, self.read_mbw(text).arguments)
        self.assertEqual(
            {**expected, "block_size": 262144},
            self.read_mbw(MBW_BLOCK + text).arguments,
        )

    @ddt.data(
        ("1.2", ("MEMCPY", "DUMB", "MCBLOCK"), ["memcpy", "dumb"], 1),
        ("1.4", ("MEMCPY", "DUMB", "MCBLOCK"), [*mbw.METHODS], 0),
        ("1.2", ("MEMCPY", "DUMB"), ["memcpy", "dumb"], 0),
        ("1.4", ("MCBLOCK",), ["mcblock"], 0),
    )
    @ddt.unpack
    def test_mcblock(self, version, methods, kept, notes):
        """Old versions print it by default, and it is not comparable."""
        output = self.read_mbw(MBW_BLOCK + write_mbw(*methods), version)
        self.assertEqual(kept, output.arguments["methods"])
        self.assertEqual(notes, len(output.notes))
        self.assertEqual(
            {f"memory.mbw.{method}.bandwidth" for method in kept},
            {metric.name for metric in output.metrics},
        )

    def test_mcblock_alone(self):
        """It is not omitted from an old output, but rejected."""
        with self.assertRaisesRegex(
            base.WorkloadError, "^mbw: mcblock requires mbw 1.4 or later"
        ):
            self.read_mbw(MBW_BLOCK + write_mbw("MCBLOCK"), "1.2")

    @ddt.data(
        ("1.2", "MEMCPY", "dumb"),
        ("1.2", "DUMB", "memcpy"),
        ("1.4", "MEMCPY", "memcpy"),
        ("1.4", "DUMB", "dumb"),
    )
    @ddt.unpack
    def test_single_method(self, version, printed, method):
        """Old versions swap the names."""
        output = self.read_mbw(write_mbw(printed), version)
        self.assertEqual(
            ("mbw", {"size_mib": 16, "runs": 1, "methods": [method]}),
            (output.workload, output.arguments),
        )
        (metric,) = output.metrics
        self.assertEqual(f"memory.mbw.{method}.bandwidth", metric.name)

    @ddt.data(
        ("1.000000", "1.010000", {"clock": "elapsed"}),
        ("0.590000", "1.000000", {"clock": "user CPU"}),
        ("0.990000", "1.000000", {}),
    )
    @ddt.unpack
    def test_clock_of_several_processes(self, first, second, clock):
        """openssl 3.0.19 -multi does not print that -elapsed was given."""
        text = (
            "Forked child 0\n+DT:AES-128-CBC:1:16\n+DT:AES-128-CBC:1:16\n"
            f"+R:16434663:AES-128-CBC:{first}\n"
            f"+R:18501889:AES-128-CBC:{second}\nForked child 1\n"
            f"{self.TABLE}{self.ROW}"
        )
        for arguments, *_ in self.read_openssl(text):
            self.assertEqual(2, arguments["threads"])
            found = {
                key: arguments[key] for key in ("clock",) if key in arguments
            }
            self.assertEqual(clock, found)

    def read_openssl(self, text):
        """Return arguments and rates of an output of openssl."""
        return [
            (output.arguments, output.repetitions[0][0].value, output.label)
            for output in reading.read(text, "openssl")
        ]

    TABLE = "type             16 bytes     64 bytes\n"
    ROW = "AES-128 GCM      1000.50k     2000.00k\n"

    def test_table_of_openssl(self):
        """Each size of each algorithm is an output of its own."""
        expected = [
            (
                {
                    "interface": "low-level",
                    "algorithm": "aes-128-gcm",
                    "block_size": size,
                    "threads": 1,
                },
                rate,
                f"aes-128-gcm-{size}",
            )
            for size, rate in ((16, 1000500.0), (64, 2000000.0))
        ]
        self.assertEqual(expected, self.read_openssl(self.TABLE + self.ROW))

    def test_header_before_machine_readable_sizes(self):
        """Sizes of the header are those of the table."""
        sizes = "Got: +H:8192:16384 from 0\n"
        both = self.read_openssl(sizes + self.TABLE + self.ROW)
        self.assertEqual(
            [16, 64], [arguments["block_size"] for arguments, _, _ in both]
        )
        without = self.read_openssl(sizes + self.ROW)
        self.assertEqual(
            [8192, 16384],
            [arguments["block_size"] for arguments, _, _ in without],
        )

    @ddt.data((0, 1), (1, 1), (3, 3))
    @ddt.unpack
    def test_processes_of_openssl(self, forked, threads):
        children = "".join(f"Forked child {n}\n" for n in range(forked))
        text = f"openssl speed\n{children}{self.TABLE}{self.ROW}"
        self.assertEqual(
            {threads},
            {
                arguments["threads"]
                for arguments, *_ in self.read_openssl(text)
            },
        )

    def test_rows_of_other_tables(self):
        """A row with another number of rates is skipped."""
        other = "hmac(md5)        1000.50k\n"
        self.assertEqual(
            2, len(self.read_openssl(self.TABLE + other + self.ROW))
        )
        for text in (self.TABLE + other, self.TABLE, self.ROW):
            with self.assertRaisesRegex(
                base.WorkloadError, "^openssl: has no table of bytes"
            ):
                self.read_openssl(text)

    @ddt.data(
        ("SHA512/256", "sha512-256-16"),
        ("a" * 40, "a" * 32),
        ("a" * 32, "a" * 32),
    )
    @ddt.unpack
    def test_label(self, name, label):
        """It is a part of a metric's name, with at most 32 characters."""
        text = f"type             16 bytes\n{name}      1000.50k\n"
        ((_, _, read_label),) = self.read_openssl(text)
        self.assertEqual(label, read_label)

    def test_tables_of_other_blocks(self):
        """The second table does not have the block sizes of the first one."""
        tables = [
            f"type             {size} bytes\n{name}     73199.42k\n"
            for name, size in (("aes-128-gcm", 1024), ("sha256", 8192))
        ]
        with self.assertRaisesRegex(base.WorkloadError, "several runs"):
            reading.read("".join(tables), "openssl")

    def test_doubled_row(self):
        with self.assertRaisesRegex(
            base.WorkloadError, "^openssl: an algorithm has several rows"
        ):
            self.read_openssl(self.TABLE + self.ROW * 2)
