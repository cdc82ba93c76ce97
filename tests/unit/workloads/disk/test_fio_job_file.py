"""A job file of the operator's: what is taken of it, and what it measures."""

import json
import pathlib
import re
import tempfile
import unittest

import ddt
import hypothesis
import hypothesis.strategies as st

from rally_vmperf.execution import assignment
from rally_vmperf.workloads import base
from rally_vmperf.workloads.disk import fio
from tests.unit.workloads import golden

RUN = golden.RUNS["fio-file"]
FILE = pathlib.Path(__file__).parents[4] / "scenarios" / "database.fio"
TEXT = FILE.read_text()
#: Lines of which some are options, and some what fio would make of them.
LINES = st.lists(
    st.sampled_from(
        [
            *("[log]", "[global]", " [log]", "[data]", "; x", "", "\t"),
            *("rw=write", "rw = write", "size=1m", "bs=4k", "direct=1"),
            *("exec_prerun=id", "\texec_prerun=id", "include /etc/passwd"),
            *("filename=/dev/sda", "filename=a:b", "filename=${HOME}"),
            *("size=1m\r", "size=1m\rexec_prerun=id", "rw=write ; x"),
        ]
    )
    | st.text(max_size=12),
    max_size=12,
)


def content(section):
    """Return a file of one section, by the lines of it."""
    return f"[log]\nrw=write\nsize=1m\n{section}\n".encode()


@ddt.ddt
class JobFileTestCase(unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.workload = fio.Disk()
        self.arguments = self.workload.complete(RUN.arguments)

    def check(self, given, **changes):
        """Check a file with the sections of the example, or others."""
        arguments = {**self.arguments, **changes}
        self.workload.check_files(arguments, {"vmperf.fio": given})

    def refused(self, given, **changes):
        """Return what is said of a file that is refused."""
        with self.assertRaises(base.WorkloadError) as caught:
            self.check(given, **changes)
        message = str(caught.exception)
        self.assertTrue(message.isprintable())
        return message

    def test_commands(self):
        (layout,) = self.workload.prepare(self.arguments)
        self.assertEqual(
            "fio --section=log --section=data --create_only=1 --eta=never "
            "--output-format=json+ --ioengine=libaio --direct=1 --time_based "
            "--runtime=2 --ramp_time=1 --randseed=1 --overwrite=1 "
            "--group_reporting vmperf.fio",
            " ".join(layout.argv),
        )
        log, data = self.workload.commands(self.arguments, base.Ends())
        self.assertEqual(("log", "data"), (log.name, data.name))
        self.assertEqual(("fio", "--section=data"), data.argv[:2])
        self.assertEqual("vmperf.fio", data.argv[-1])
        limited = {**self.arguments, "rate_iops": 90}
        log, _ = self.workload.commands(limited, base.Ends())
        self.assertIn("--rate_iops=90", log.argv)
        ((kind, seen),) = self.workload.cautions(limited)
        self.assertEqual("fixed_rate", kind)
        self.assertIn("90 requests per second with each process", seen)

    def test_samples_are_what_fio_says(self):
        outcomes = RUN.outcomes()
        found = {
            one.metric.name: one.value
            for one in golden.values(
                self.workload.parse(self.arguments, outcomes)
            )
        }
        every = {one.name for one in self.workload.metrics(self.arguments)}
        self.assertEqual(27, len(every))
        self.assertLessEqual(set(found), every)
        for side in self.arguments["sections"]:
            section, _, key = side.partition(".")
            (job,) = json.loads(outcomes[section].stdout)["jobs"]
            self.assertEqual(
                (job[key]["iops"], job[key]["bw_bytes"]),
                tuple(
                    found[f"disk.fio.{side}.{what}"]
                    for what in ("iops", "bandwidth")
                ),
            )
            self.assertIn(f"disk.fio.{side}.latency_p50", found)
        (job,) = json.loads(outcomes["data"].stdout)["jobs"]
        both = job["read"]["total_ios"] + job["write"]["total_ios"]
        work = self.workload.work(self.arguments, outcomes["data"])
        self.assertAlmostEqual(1.5 * both, work.amount)
        self.assertIsNone(
            self.workload.course(self.arguments, outcomes["data"])
        )

    @ddt.data(
        ({"runtime": "3"}, "ran with runtime=3 instead of runtime=2"),
        ({"direct": "0"}, "ran with direct=0 instead of direct=1"),
        ({"numjobs": "999"}, "ran with numjobs=999, which no job file"),
        ({"iodepth": "?"}, r"ran with iodepth=\?, which"),
        ({"bs": "4k"}, "requests of 4096 B"),
    )
    @ddt.unpack
    def test_another_job(self, options, words):
        told = json.loads(RUN.outcomes()["data"].stdout)
        told["jobs"][0]["job options"].update(options)
        outcome = golden.outcome("data", json.dumps(told))
        with self.assertRaisesRegex(base.WorkloadError, words):
            self.workload.parse(self.arguments, {"data": outcome})

    def test_another_section(self):
        outcome = golden.outcome("data", golden.text(RUN.files["log"]))
        with self.assertRaisesRegex(base.WorkloadError, "of another name"):
            self.workload.parse(self.arguments, {"data": outcome})

    def test_the_example_is_taken(self):
        for given in (TEXT, TEXT.replace("\n", "\r\n")):
            self.check(given.encode())

    @ddt.data(
        "exec_prerun=touch /tmp/x",
        "exec_postrun=reboot",
        "directory=/etc",
        "opendir=/",
        "read_iolog=/etc/passwd",
        "write_bw_log=/tmp/x",
        "ioscheduler=none",
        "cgroup=x",
        "unlink=1",
        "replay_redirect=/dev/sda",
        "verify_state_load=1",
        "filename_format=/dev/sda",
        "loops=1000",
        "include=/etc/passwd",
    )
    def test_keys_that_are_not_taken(self, line):
        key = line.partition("=")[0]
        for given in (line, f"  {line}", f"\t{line}"):
            message = self.refused(content(given))
            self.assertRegex(message, rf"line 4: {key} is not taken, .*delete")

    @ddt.data(
        ("filename=/dev/sda", "filename='/dev/sda' is not taken"),
        ("filename=a:/dev/sda", "filename='a:/dev/sda' is not taken"),
        ("filename=../x", "filename='../x' is not taken"),
        ("filename=.x", "filename='.x' is not taken"),
        ("filename=vmperf.fio", "filename='vmperf.fio' is not taken"),
        ("ioengine=external:/tmp/x.so", "ioengine='external:"),
        ("ioengine=libhdfs", "ioengine='libhdfs' is not taken"),
        ("numjobs=257", "numjobs='257' is not taken"),
        ("iodepth=1025", "iodepth='1025' is not taken"),
        ("bs=$x", "bs='.x' is not taken"),
        ("description=`id`", "description='`id`' is not taken"),
        ("include /etc/x", "'include /etc/x' is no option, no section"),
        ("[a b]", r"'\[a b\]' is no option, no section"),
        ("bs", "bs='' is not taken"),
        ("rw=read", "second rw"),
        ("readwrite=read", "second rw"),
        ("[log]", r"second \[log\]"),
        ("[global]", "there is one .global., before all others"),
        ("[globals]", "there is one .global., before all others"),
    )
    @ddt.unpack
    def test_lines_that_are_not_taken(self, line, words):
        message = self.refused(content(line))
        self.assertRegex(message, f"^job_file: line 4.*{words}")

    @ddt.data(
        (b"rw=read\n[log]\n", "line 1 is before any section"),
        ("[lög]".encode(), "characters beyond ASCII"),
        (b"\n" * 1001, "more than 65536 B or 1000 lines"),
        (b"#" * 70000, "70000 B in 1 lines are more"),
        (b"#" * 4095 + b"exec_prerun=id", "line 1 has more than 1000 char"),
        (b"#\x0bexec_prerun=id", "line 1 .* that are not printed"),
        (b"[other]\n", "no section 'log'; there are: other"),
        (b"", "no section 'log'; there are: none"),
        (b"[log]\nsize=1m\n", "section log does not say rw"),
        (b"[log]\nrw=write\n", "section log does not say size"),
        (content("runtime=5"), "runtime=5 .* not the task's runtime: 2; say"),
        (content("ramp_time=5"), "ramp_time=5 .* the task's ramp_time: 1"),
        (content("direct=0"), "direct=0 .* the task's direct: True"),
        (content("rate_iops=9"), "rate_iops=9 .* the task's rate_iops: 0"),
        (content("time_based=0"), "time_based=0 of section log"),
        (content("group_reporting=0"), "group_reporting=0 of section log"),
        (content("bs=2m"), "a bs beyond its size"),
        (content("numjobs=256"), None),
        (content("direct\nruntime=2\ntime_based\nthread=1"), None),
    )
    @ddt.unpack
    def test_files(self, given, words):
        if words is None:
            self.check(given, sections=["log.write"])
        else:
            message = self.refused(given, sections=["log.write"])
            self.assertRegex(message, words)

    def test_sides_and_sizes(self):
        given = content("numjobs=200\n[data]\nrw=randrw\nsize=1g")
        sections = ["log.write", "data.write"]
        message = self.refused(given, sections=sections)
        self.assertIn("take 1224 MiB, more than size_mib: 256; raise", message)
        self.check(given, sections=sections, size_mib=1224)
        self.assertIn(
            "log.read: section log has rw=write, which has no reads",
            self.refused(given, sections=["log.read"]),
        )

    @ddt.data(
        ({"job_file": "/x"}, "job_file and sections are given together"),
        ({"sections": ["a.read"]}, "job_file and sections are given together"),
        (
            {"job_file": "/x", "sections": ["a.read"], "depth": 2},
            "depth: 2 is for patterns, not for a job_file",
        ),
        ({"job_file": "x", "sections": ["a.read"]}, "job_file: 'x' does not"),
        ({"job_file": "/x", "sections": ["global.read"]}, "sections.0: 'glo"),
        ({"job_file": "/x", "sections": ["a"]}, "sections.0: 'a' does not"),
        ({"job_file": "/x", "sections": ["search.read"]}, "sections.0: 'sea"),
    )
    @ddt.unpack
    def test_arguments(self, given, words):
        with self.assertRaisesRegex(base.WorkloadError, f"fio: {words}"):
            self.workload.complete(given)

    def test_is_checked_before_anything_is_brought(self):
        """As a task is validated, and as a session begins."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "own.fio")
            arguments = {"job_file": str(path), "sections": ["log.write"]}
            entry = {"name": "fio", "arguments": arguments, "label": "own"}
            (one,) = assignment.assign([entry])
            path.write_bytes(content("exec_prerun=id"))
            with self.assertRaisesRegex(
                base.WorkloadError, "^workload fio-own: job_file: line 4: exec"
            ):
                one.read_files()
            path.write_bytes(content(""))
            ((brought, given),) = one.read_files().items()
        self.assertEqual(("vmperf.fio", ""), (brought.name, brought.package))
        self.assertEqual(content(""), given)

    @hypothesis.given(LINES)
    def test_any_lines(self, lines):
        """What is taken has no word that fio could take for another."""
        given = "\n".join(lines)
        try:
            self.check(given.encode(), sections=["log.write"])
        except base.WorkloadError as error:
            self.assertTrue(str(error).isprintable())
            self.assertLess(len(str(error)), 600)
            return
        for line in re.split(r"[\r\n]", given):
            if line.strip(" \t")[:1] not in ("", ";", "#", "["):
                key = re.split(r"[ \t=]", line.strip(" \t"))[0]
                self.assertIn(key, ("rw", "size", "bs", "direct"))
            self.assertNotRegex(line.partition(";")[0], r"\$|/dev|exec")

    @hypothesis.given(st.binary(max_size=200))
    def test_any_bytes(self, given):
        self.refused(given)
