# SPDX-License-Identifier: Apache-2.0
"""Tests of raw outputs of two sides, as studies published them."""

import dataclasses
import json
import pathlib
import unittest

import ddt

from rally_vmperf.baseline import document
from rally_vmperf.baseline import matching
from rally_vmperf.measurement.samples import sample
from rally_vmperf.questions.overhead import conclusion
from rally_vmperf.questions.overhead import question as overhead
from rally_vmperf.runs.raw_outputs import cleaning
from rally_vmperf.runs.raw_outputs import imported
from rally_vmperf.runs.raw_outputs import raw
from rally_vmperf.runs.raw_outputs import reading
from rally_vmperf.workloads import base
from rally_vmperf.workloads import registry
from rally_vmperf.workloads.disk import fio
from tests.unit import made
from tests.unit.runs.raw_outputs import test_options
from tests.unit.workloads import golden

#: Outputs -> what is given with them.
METAL = {
    "unixbench-r730xd-2019-baremetal.txt": {},
    "mbw-r730xd-2019-baremetal.txt": {"version": "1.4"},
    "iperf-r730xd-2019-baremetal.txt": {},
}
GUEST = {
    "unixbench-r730xd-2019-guest.txt": {},
    "mbw-r730xd-2019-guest.txt": {"version": "1.4"},
    "iperf-r730xd-2019-guest.txt": {},
    "iperf-r730xd-2019-guest-to-guest.txt": {"direction": "guest_to_guest"},
}
#: Metric -> what it is called in the file of published figures.
PUBLISHED = {
    "application.unixbench.dhry2reg.rate": "unixbench dhry2reg",
    "application.unixbench.whetstone-double.rate": "unixbench whetstone",
    "application.unixbench.fsdisk.rate": "unixbench fsdisk",
    "application.unixbench.execl.rate": "unixbench execl",
    "memory.mbw.memcpy.bandwidth": "mbw 512",
    "network.iperf2.to_peer.throughput": "iperf, guest to bare metal",
    "network.iperf2.guest_to_guest.throughput": "iperf, guest to guest",
}
#: Largest rate of the disks of the study of cache modes, B/s.
ARRAY = {"disk.*": 330e6}


def outputs(files):
    """Return the results in golden outputs."""
    return raw.merge(
        result
        for name, arguments in files.items()
        for result in reading.read(golden.text(name), "", arguments)
    )


def mode(name):
    """Return the outputs of a cache mode."""
    return outputs({f"dd-2019-all-{name}.txt": {}})


def metal(raws=None, **changes):
    """Return the baseline of raw outputs, which is valid."""
    content = imported.build_baseline(
        "r730xd", "metal", raws or outputs(METAL), {**changes}
    )
    written = json.dumps(document.FORMAT.encode(content))
    return document.decode(json.loads(written), "test")


def judged(content, guest, physical=None, **limits):
    """Return the judgement, and its rows by metric."""
    judge = overhead.OVERHEAD.parse(limits).create_judge()
    repetitions, _ = imported.build_repetitions(content, guest, physical or {})
    for entry in repetitions:
        judge.add(entry)
    judgement = judge.judgement()
    return judgement, {row.metric.name: row for row in judgement.rows}


def kinds(row):
    """Return the kinds of findings of a row."""
    return {row_finding.finding.kind for row_finding in row.findings}


@ddt.ddt
class PublishedTestCase(unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.judgement, self.rows = judged(
            metal(), outputs(GUEST), max_percent={"*": 20}
        )

    def test_the_overheads_of_the_study(self):
        """The published 1.7 % of memcpy is a slip; it is 17.5 %."""
        path = pathlib.Path(golden.__file__).parents[1]
        path = path / "measurement" / "data" / "published.json"
        rows = [
            row
            for row in json.loads(path.read_text())
            if row["study"] == "r730xd-2019"
        ]
        self.assertEqual(len(PUBLISHED), len(rows))
        for metric, begin in PUBLISHED.items():
            (row,) = (r for r in rows if r["workload"].startswith(begin))
            self.assertAlmostEqual(
                row["recomputed_overhead_percent"],
                self.rows[metric].comparison.overhead_percent,
                places=2,
                msg=metric,
            )

    def test_one_value_a_side_is_never_a_pass(self):
        self.assertEqual("inconclusive", self.judgement.status)
        self.assertFalse(self.judgement.passed)
        for row in self.rows.values():
            self.assertEqual("inconclusive", row.status)
            self.assertIn("too_few_repetitions", kinds(row))
            self.assertIsNone(row.comparison.low)

    def test_guests_that_beat_bare_metal_are_flagged(self):
        flagged = {
            name.split(".")[2]
            for name, row in self.rows.items()
            if "guest_slightly_faster" in kinds(row)
        }
        self.assertEqual(
            {"execl", "fstime", "fsbuffer", "pipe", "context1", "spawn"}
            | {"shell1", "syscall"},
            flagged,
        )

    def test_a_sentence_for_each_class(self):
        sentences = conclusion.conclude(self.judgement)
        self.assertEqual(
            ["CPU", "Memory", "Disk", "Network"],
            [sentence.partition(":")[0] for sentence in sentences],
        )
        cpu, memory, disk, network = sentences
        self.assertIn("2.5 % at least, in 3 of 9 figures", cpu)
        self.assertIn("better than bare metal are 6 of 9 figures", cpu)
        self.assertIn("loses 17.5 % (memory.mbw.memcpy.bandwidth)", memory)
        self.assertIn("loses 2.1 % (application.unixbench.fsdisk", disk)
        self.assertIn("10.0 % (network.iperf2.guest_to_guest", network)
        self.assertIn("9.1 % at least", network)
        for sentence in sentences:
            self.assertIn("inconclusive: fewer than three", sentence)

    def test_the_substitute_between_guests_is_reported(self):
        row = self.rows["network.iperf2.guest_to_guest.throughput"]
        self.assertIn("peer_replaces_partner", kinds(row))


class CacheModesTestCase(unittest.TestCase):
    def test_several_runs_have_an_interval(self):
        judgement, rows = judged(
            metal(mode("none")),
            mode("directsync"),
            ARRAY,
            max_percent={"*": 40},
        )
        (row,) = rows.values()
        self.assertEqual("passed", row.status)
        (sentence,) = conclusion.conclude(judgement)
        self.assertNotIn("inconclusive", sentence)

    def test_unsafe_is_above_the_limit_of_the_disk(self):
        """No disk wrote that."""
        judgement, rows = judged(
            metal(mode("none")), mode("unsafe"), ARRAY, max_percent={"*": 20}
        )
        (row,) = rows.values()
        self.assertEqual("void", row.status)
        self.assertIn("above_physical_limit", kinds(row))
        self.assertEqual(
            ["Disk: above the physical limit is 1 of 1 figure."],
            conclusion.conclude(judgement),
        )

    def test_without_the_limit_it_is_just_too_fast(self):
        _, rows = judged(metal(mode("none")), mode("unsafe"))
        (row,) = rows.values()
        self.assertNotIn("above_physical_limit", kinds(row))
        self.assertIn("guest_faster", kinds(row))


@ddt.ddt
class BaselineTestCase(unittest.TestCase):
    def test_unknown_fields_are_reported(self):
        for content, is_fingerprint_unknown in (
            (metal(), True),
            (metal(cpu_model="E5-2650"), False),
        ):
            for entry in content.entries:
                (imported,) = entry.findings
                self.assertEqual("baseline_imported", imported.kind)
                self.assertIn("unknown: shape, limited_by", imported.detail)
                self.assertEqual(
                    is_fingerprint_unknown, "fingerprint" in imported.detail
                )

    def test_a_task_finds_it(self):
        """By the arguments that are known, and whatever its shape."""
        content = metal()
        shape = document.Shape(vcpus=8, memory_mib=16384)
        arguments = registry.get_workload("mbw").complete(
            {"size_mib": 512, "methods": ["memcpy", "dumb", "mcblock"]}
        )
        entry = matching.find(content, "mbw", arguments, shape)
        self.assertTrue(entry.imported)
        bench = registry.get_workload("unixbench").complete({"flags": "-O2"})
        matching.find(content, "unixbench", bench, shape)
        with self.assertRaisesRegex(
            document.BaselineError,
            "size_mib is 512 in the baseline and 64 in the task",
        ):
            matching.find(content, "mbw", {**arguments, "size_mib": 64}, shape)
        many = document.Shape(vcpus=8, memory_mib=16384, copies=2)
        with self.assertRaisesRegex(
            document.BaselineError, "mbw for 1 x unknown size, but the guests"
        ):
            matching.find(content, "mbw", arguments, many)

    def test_other_arguments_are_not_compared(self):
        """A metric is omitted; without other metrics no verdict exists."""
        text = golden.text("dd-2019-all-none.txt")
        other = reading.read(text.replace("fdatasync", "fsync"))
        message = (
            "disk.dd.write.bandwidth: not compared: sync is 'fdatasync' on "
            "bare metal and 'fsync' in the guest"
        )
        content = metal(outputs(METAL) + mode("none"))
        with self.assertRaisesRegex(document.BaselineError, message):
            judged(content, other)
        _, omitted = imported.build_repetitions(
            content, other + outputs(GUEST), {}
        )
        self.assertRegex("".join(omitted), message)
        repetitions, omitted = imported.build_repetitions(
            content, other, {}, is_lenient=True
        )
        self.assertEqual([], omitted)
        self.assertEqual(5, len(repetitions))

    def test_rate_of_a_recorded_pattern(self):
        """The rate of an output is that of its pattern."""
        metric = sample.Metric("disk.fio.randread.iops", "ops/s", "higher")
        guest = reading.read(golden.text("fio-3.33-randread-poisson.json"))
        run = golden.RUNS["fio-rate"]
        for rates, message in (
            ({"randread": 300}, ""),
            (
                {"randread": 301, "read": 300},
                "rate_iops is 301 on bare metal and 300 in the guest",
            ),
        ):
            arguments = golden.workload("fio").complete(
                {
                    **run.arguments,
                    "patterns": ["read", "randread"],
                    "rate_iops": rates,
                }
            )
            entry = made.entry(
                {metric: (290.0, 300.0, 310.0)},
                workload="fio",
                arguments=arguments,
            )
            content = made.baseline(entries=(entry,))
            _, omitted = imported.build_repetitions(content, guest, {})
            self.assertEqual(bool(message), bool(omitted), omitted)
            self.assertIn(message, "".join(omitted))

    def compare_with_recorded(self, tool, metric, arguments, text):
        """Return what is omitted of an output beside a recorded entry."""
        entry = made.entry(
            {metric: (290.0, 300.0, 310.0)},
            workload=tool,
            arguments=golden.workload(tool).complete(arguments),
        )
        content = made.baseline(entries=(entry,))
        # The other metrics are compared.
        guest = reading.read(text) + mode("none")
        _, omitted = imported.build_repetitions(content, guest, {})
        return "".join(omitted)

    @ddt.data(
        ({}, {}, ""),
        # Options without a value are not in the output.
        ({}, {"ramp_time": None, "randseed": None}, ""),
        ({}, {"ioengine": "psync"}, "ioengine is 'libaio' on bare metal and"),
        ({}, {"ioengine": None}, "ioengine is 'libaio' on bare metal and"),
        ({}, {"iodepth": "1"}, "depth is 8 on bare metal and 1 in the guest"),
        ({}, {"zero_buffers": "1"}, "other_options is 'norandommap ramp_time"),
        ({}, {"filename": "/dev/vdb"}, "place is 'file' on bare metal and"),
        ({"target": "volume"}, {"filename": "/dev/vdb"}, ""),
        ({"target": "volume"}, {"filename": "volume-1"}, ""),
        (
            {"target": "volume"},
            {"filename": "volume-1.fs/vmperf.data"},
            "place is 'device' on bare metal and 'file' in the guest",
        ),
        ({"target": "volume"}, {}, "place is 'device' on bare metal and"),
        (
            {"target": "volumes", "volume_count": 3},
            {"filename": "/dev/vdb:/dev/vdc"},
            "place is 'device, device, device' on bare metal and",
        ),
        # Other texts of the same values.
        ({}, {"norandommap": "1", "ramp_time": "1s"}, ""),
        ({}, {"norandommap": "", "ramp_time": "1000ms"}, ""),
        ({}, {"ramp_time": "1500ms"}, "ramp_time=1.5"),
        ({}, {"offset": "0k", "startdelay": "0s"}, ""),
        # A process has its share of the file, and a job all devices.
        ({"jobs": 2}, {"numjobs": "2", "size": "32M"}, ""),
        (
            {"jobs": 2},
            {"numjobs": "2"},
            "size_mib is 32 on bare metal and 64 in the guest",
        ),
        (
            {"target": "volumes", "volume_count": 2},
            {"filename": "/dev/vdb:/dev/vdc", "size": "128M"},
            "",
        ),
    )
    @ddt.unpack
    def test_options_of_recorded_fio(self, arguments, changes, message):
        """They are those of the command line of the workload."""
        metric = sample.Metric("disk.fio.randread.iops", "ops/s", "higher")
        run = golden.RUNS["fio"]
        text = golden.text("fio-3.33-randread.json")
        report = json.loads(golden.last(text))
        (job,) = report["jobs"]
        options = {**job["job options"], **changes}
        job["job options"] = {
            name: option
            for name, option in options.items()
            if option is not None
        }
        omitted = self.compare_with_recorded(
            "fio", metric, {**run.arguments, **arguments}, json.dumps(report)
        )
        self.assertEqual(bool(message), bool(omitted), omitted)
        self.assertIn(message, omitted)

    @ddt.data(
        ("fio-mixed", {}, ""),
        # The limit of reads is that of another pattern.
        ("fio-mixed", {"rate_iops": {"read": 300}}, ""),
        ("fio-mixed", {"rate_iops": {"randrw": 300}}, "rate_iops is 300 on"),
        # The congestion control is bbr, which is a setting of the machine.
        ("iperf3", {}, ""),
        ("iperf3", {"streams": 2}, "streams is 2 on bare metal and 1"),
        ("iperf3-udp", {}, ""),
        ("iperf3-udp of another pace", {}, "other_options is '' on bare"),
    )
    @ddt.unpack
    def test_command_of_a_metric(self, title, changes, message):
        """Its name is in the metric, with the side or the protocol."""
        name, _, is_other = title.partition(" of ")
        run = golden.RUNS[name]
        workload = golden.workload(name.partition("-")[0])
        arguments = {**run.arguments, **changes}
        if workload.name == "fio":
            arguments["patterns"] = [*fio.PATTERNS, *fio.MIXED]
        arguments = workload.complete(arguments)
        entry = made.entry(
            dict.fromkeys(workload.metrics(arguments), (2.0, 3.0)),
            workload=workload.name,
            arguments=arguments,
        )
        content = made.baseline(entries=(entry,))
        omitted = ""
        for command, file in run.files.items():
            given = {}
            if workload.name == "iperf3":
                given = {"direction": command.removesuffix("-udp")}
            text = golden.text(file)
            if is_other:
                text = text.replace(
                    '"test_start":\t{', '"test_start": {"pace": 8,'
                )
                self.assertIn('"pace"', text)
            guest = reading.read(text, "", given)
            # The other outputs are compared.
            _, lines = imported.build_repetitions(
                content, guest + outputs(GUEST), {}
            )
            omitted += "".join(lines)
        self.assertEqual(bool(message), bool(omitted), omitted)
        self.assertIn(message, omitted)

    @ddt.data(
        ({}, ""),
        # The file can set these.
        ({"ioengine": "psync", "iodepth": "4", "zero_buffers": "1"}, ""),
        ({"direct": "0"}, "direct is True on bare metal and False"),
        ({"runtime": "9"}, "runtime is 2 on bare metal and 9"),
        ({"rate_iops": "9"}, "rate_iops is 0 on bare metal and 9"),
        ({"filename": "/dev/vdb"}, "place is 'file' on bare metal and"),
    )
    @ddt.unpack
    def test_job_file_of_fio(self, changes, message):
        """The options in it are not recorded."""
        metric = sample.Metric("disk.fio.data.read.iops", "ops/s", "higher")
        run = golden.RUNS["fio-file"]
        reports = [
            json.loads(golden.last(golden.text(file)))
            for file in run.files.values()
        ]
        # The guest runs both sections.
        report, other = reports
        report["jobs"] += other["jobs"]
        shared = {**other.get("global options", {}), **changes}
        report["global options"] = shared
        omitted = self.compare_with_recorded(
            "fio", metric, run.arguments, json.dumps(report)
        )
        self.assertEqual(bool(message), bool(omitted), omitted)
        self.assertIn(message, omitted)

    def test_command_line_of_fio(self):
        """An option without a value does not take the next one for it."""
        table = golden.workload("fio").TOOL_OPTIONS
        for name in ("norandommap", "group_reporting", "minimal", "exitall"):
            stated, _ = table.read_argv([f"--{name}", "--bs=8k"])
            self.assertEqual({name: "", "bs": "8k"}, stated)

    @ddt.data(
        ("root", "/srv/vm.data", ""),
        ("root", "/dev/vdb", "place is 'file' on bare metal and 'device'"),
        ("volume", "/dev/vdb", ""),
        ("volume", "volume-1", ""),
        ("volume", "/srv/vm.data", "place is 'device' on bare metal and"),
    )
    @ddt.unpack
    def test_place_of_recorded_dd(self, target, path, message):
        """It is that of its target."""
        metric = sample.Metric("disk.dd.write.bandwidth", "B/s", "higher")
        arguments = golden.workload("dd").complete(
            {"target": target, "sync": "fdatasync"}
        )
        entry = made.entry(
            {metric: (2.0, 3.0)}, workload="dd", arguments=arguments
        )
        (guest,) = reading.read(
            f"# dd if=/dev/zero of={path} bs=1M count=1024 conv=fdatasync\n"
            "1024+0 records in\n1024+0 records out\n"
            "1073741824 bytes (1.1 GB, 1.0 GiB) copied, 4.1 s, 262 MB/s\n"
        )
        shared = arguments.keys() & guest.arguments
        guest = dataclasses.replace(
            guest,
            arguments={
                **guest.arguments,
                **{key: arguments[key] for key in shared},
            },
        )
        _, omitted = imported.build_repetitions(
            made.baseline(entries=(entry,)), [guest, *outputs(GUEST)], {}
        )
        self.assertEqual(bool(message), bool(omitted), omitted)
        self.assertIn(message, "".join(omitted))

    @ddt.data(
        # h2load runs in a script.
        (
            *("h2load.rate", "# h2load -n 10 http://192.0.2.1/ -w 20\n"),
            "rate: not compared: think_time is 5.0 on bare metal and 0 in the "
            "guest; give",
        ),
        ("iperf2.to_peer.throughput", "", ""),
        ("iperf2.to_peer.throughput", "# iperf -c 192.0.2.1\n", ""),
        (
            "iperf2.to_peer.throughput",
            "# iperf -c 192.0.2.1 -N -Z bbr\n",
            "nagle is True on bare metal and False in the guest, "
            "other_options is '' on bare metal and 'Z=bbr'",
        ),
    )
    @ddt.unpack
    def test_options_in_a_script(self, name, command_line, message):
        """They are not known, and only arguments of the workload compared."""
        tool = name.partition(".")[0]
        metric = sample.Metric(f"network.{name}", "bit/s", "higher")
        text, arguments = test_options.h2load(), {}
        if tool == "iperf2":
            text = golden.text("iperf-r730xd-2019-guest.txt")
            arguments = {"time": 10}
        omitted = self.compare_with_recorded(
            tool, metric, arguments, command_line + text
        )
        self.assertEqual(bool(message), bool(omitted), omitted)
        self.assertIn(message, omitted)

    @ddt.data(
        ("fio", "fio-3.33-randread.json", ""),
        ("fio-file", "fio-3.33-randread.json", "thinktime, other_options of"),
        ("mbw", "mbw-2.0.txt", "mbw: other_options of bare metal."),
        ("iperf3", "iperf3-3.12-to_peer.json", "iperf3: congestion of bare"),
    )
    @ddt.unpack
    def test_options_that_are_not_recorded(self, name, file, message):
        """They are named with the verdict."""
        workload = golden.workload(name.partition("-")[0])
        arguments = workload.complete(golden.RUNS[name].arguments)
        entry = made.entry(
            dict.fromkeys(workload.metrics(arguments), (2.0, 3.0)),
            workload=workload.name,
            arguments=arguments,
        )
        lines = imported.describe_unstated(
            made.baseline(entries=(entry,)), outputs({file: {}})
        )
        self.assertIn(message, "".join(lines))
        if not message:
            self.assertNotIn("bare metal", "".join(lines))

    def test_limited_metrics_that_are_not_compared(self):
        """A limit that applies only to other metrics is not met."""
        texts = [
            json.loads(golden.last(golden.text("fio-3.33-randread.json")))
            for _ in range(6)
        ]
        for number, report in enumerate(texts):
            (job,) = report["jobs"]
            is_guest = number >= 3
            other = {**job, "jobname": "second"}
            if is_guest:
                options = {**job["job options"], "bs": "64k"}
                other = {**other, "job options": options}
            report["jobs"] = [{**job, "jobname": "first"}, other]
        sides = [
            raw.merge(
                output
                for report in side
                for output in reading.read(json.dumps(report))
            )
            for side in (texts[:3], texts[3:])
        ]
        for guest in (sides[1], sides[1][:1]):
            repetitions, _ = imported.build_repetitions(
                metal(sides[0]), guest, {}, limited=["disk.fio.*.iops"]
            )
            judge = overhead.OVERHEAD.parse(
                {"max_percent": {"disk.fio.*.iops": 50}}
            ).create_judge()
            for entry in repetitions:
                judge.add(entry)
            judgement = judge.judgement()
            self.assertEqual("inconclusive", judgement.status)
            self.assertIn("disk.fio.second.iops", judgement.sentence())

    def test_number_of_copies(self):
        """The same file on both sides has no overhead."""
        both = outputs({"unixbench-6.0.0.txt": {}})
        for is_lenient in (False, True):
            repetitions, omitted = imported.build_repetitions(
                metal(both), both, {}, is_lenient=is_lenient
            )
            judge = overhead.OVERHEAD.parse({}).create_judge()
            for entry in repetitions:
                judge.add(entry)
            self.assertEqual([], omitted)
            for row in judge.judgement().rows:
                loss = row.comparison.overhead_percent
                self.assertAlmostEqual(0, loss, delta=0.01)

    def test_metrics_missing_on_bare_metal(self):
        _, rows = judged(metal(mode("none")), outputs(GUEST))
        row = rows["memory.mbw.memcpy.bandwidth"]
        self.assertIn("has no such metric", row.sentence())


#: Tool -> an output, its version in it, another version, and whether the
#: metrics are void: those of a program whose own code is measured.
VERSIONS = {
    "fio": ("fio-3.33-randread.json", "fio-3.33", "fio-3.36", "note"),
    "fio of old": ("fio-3.33-randread.json", "fio-3.33", "fio-2.20", "void"),
    "iperf3": ("iperf3-3.12-to_peer.json", "iperf 3.12", "iperf 3.9", "note"),
    "sysbench": (
        *("sysbench-1.0.20-cpu.txt", "sysbench 1.0.20", "sysbench 1.0.18"),
        "void",
    ),
    "sysbench_memory": (
        *("sysbench_memory-1.0.20-read.txt", "sysbench 1.0.20"),
        *("sysbench 1.0.18", "void"),
    ),
    "openssl": (
        "openssl-3.5.7.txt",
        "version: 3.5.7",
        "version: 3.0.2",
        "void",
    ),
    "openssl of old": (
        *("openssl-1.1.1w.txt", "OpenSSL 1.1.1w", "OpenSSL 1.1.0l", "void"),
    ),
    "sockperf": ("sockperf-3.7-to_peer.txt", "#3.7", "#3.10", "note"),
    "iozone": (
        *("iozone-3.489-throughput-2.txt", "Revision: 3.489"),
        *("Revision: 3.506", "note"),
    ),
    "mbw": ("mbw-2.0.txt", "benchmark v1.5", "benchmark v1.4", "note"),
    "sysbench, same": (
        *("sysbench-1.0.20-cpu.txt", "LuaJIT 2.1", "LuaJIT 2.0", ""),
    ),
}


@ddt.ddt
class VersionTestCase(unittest.TestCase):
    """Versions in outputs are compared as those of machines are."""

    def read(self, name, version, other):
        """Return the outputs of each side."""
        text = cleaning.clean(golden.text(name).encode())
        self.assertIn(version, text)
        return [
            raw.merge(reading.read(side))
            for side in (text, text.replace(version, other))
        ]

    @ddt.data(*VERSIONS)
    def test_versions(self, name):
        *pair, severity = VERSIONS[name]
        bare_metal, guest = self.read(*pair)
        judgement, rows = judged(metal(bare_metal), guest)
        found = [
            each.finding
            for each in judgement.findings
            if each.finding.kind.startswith("tool_")
        ]
        self.assertEqual(
            {("tool_version_differs", severity)} if severity else set(),
            {(each.kind, each.severity) for each in found},
        )
        for each in found:
            self.assertIn("bare metal", each.detail)
        if severity == "void":
            named = {metric for each in found for metric in each.metrics}
            self.assertEqual(rows.keys(), named)
            self.assertEqual("void", judgement.status)

    def test_algorithm_of_old_openssl(self):
        """The sum of -multi names it evp, and its processes name it."""
        old, new = (
            reading.read(golden.text(f"openssl-{version}.txt"))
            for version in ("1.1.1w", "3.5.7")
        )
        judgement, rows = judged(metal(old), new)
        self.assertEqual(["cpu.openssl.aes-256-gcm-16384.rate"], [*rows])
        self.assertEqual("void", judgement.status)
        self.assertIn(
            "The tool has another version on each side (guest: openssl: bare "
            "metal 1.1.1w, guest 3.5.7).",
            [f"{reason}." for reason in judgement.reasons()],
        )
        judgement, rows = judged(metal(old), old)
        self.assertEqual("inconclusive", judgement.status)
        (row,) = rows.values()
        loss = row.comparison.overhead_percent
        self.assertAlmostEqual(0, loss, delta=0.01)

    def test_operations_of_keys(self):
        """They are omitted with a note if other rows are read."""
        table = (
            "version: 3.0.19\n"
            "The 'numbers' are in 1000s of bytes per second processed.\n"
            "type          16384 bytes\nsha256        4915200.00k\n"
            "                  sign    verify    sign/s verify/s\n"
            "rsa 2048 bits 0.000665s 0.000020s   1503.0  50213.7\n"
        )
        (output,) = reading.read(table)
        self.assertEqual(
            ("rsa 2048 bits is omitted: operations of keys are not read",),
            output.notes,
        )

    def test_unknown_versions(self):
        """An output without a version is compared with any."""
        bare_metal, guest = self.read(
            "sysbench-1.0.20-cpu.txt", "sysbench 1.0.20 (", "sysbench ("
        )
        judgement, _ = judged(metal(bare_metal), guest)
        self.assertNotIn(
            "tool_version_differs",
            {each.finding.kind for each in judgement.findings},
        )

    @ddt.data("fio", "sysbench")
    def test_versions_of_one_side(self, name):
        """Those of a program whose own code is measured are rejected."""
        *pair, severity = VERSIONS[name]
        first, other = self.read(*pair)
        if severity == "note":
            self.assertEqual(2, len(raw.merge(first + other)[0].versions))
            return
        with self.assertRaisesRegex(
            base.WorkloadError,
            "sysbench: outputs of one side are of different versions "
            r"\(sysbench 1.0.20 and sysbench 1.0.18\); give those of one",
        ):
            raw.merge(first + other)
