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
        self.workload = fio.Fio()
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
        log, data = self.workload.commands(self.arguments, base.Endpoints())
        self.assertEqual(("log", "data"), (log.name, data.name))
        self.assertEqual(("fio", "--section=data"), data.argv[:2])
        self.assertEqual("vmperf.fio", data.argv[-1])
        limited = {**self.arguments, "rate_iops": 90}
        log, _ = self.workload.commands(limited, base.Endpoints())
        self.assertIn("--rate_iops=90", log.argv)
        ((kind, seen),) = self.workload.argument_findings(limited)
        self.assertEqual("fixed_rate", kind)
        self.assertIn("90 requests per second with each process", seen)

    def test_samples_are_what_fio_says(self):
        outcomes = RUN.outcomes()
        found = {
            one.metric.name: one.value
            for one in golden.values(
                self.workload.parse_all(self.arguments, outcomes)
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
        work = self.workload.work_done(self.arguments, outcomes["data"])
        self.assertAlmostEqual(1.5 * both, work.amount)
        self.assertIsNone(
            self.workload.progress(self.arguments, outcomes["data"])
        )

    @ddt.data(
        ({"runtime": "3"}, "ran with runtime=3 instead of runtime=2"),
        ({"direct": "0"}, "ran with direct=0 instead of direct=1"),
        ({"numjobs": "999"}, "ran with numjobs=999, which was not requested"),
        ({"iodepth": "?"}, r"ran with iodepth=\?, which"),
        ({"buffered": "1"}, "ran with buffered=1, which was not requested"),
        ({"rate_iops": "9"}, "ran with rate_iops=9, which was not requested"),
        ({"time_based": "0"}, "ran with time_based=0, which was not"),
        ({"percentile_list": "50"}, "percentile_list=50 instead of perc"),
    )
    @ddt.unpack
    def test_another_job(self, options, words):
        told = json.loads(RUN.outcomes()["data"].stdout)
        told["jobs"][0]["job options"].update(options)
        outcome = golden.outcome("data", json.dumps(told))
        with self.assertRaisesRegex(base.WorkloadError, words):
            self.workload.parse_all(self.arguments, {"data": outcome})

    @ddt.data(
        ("runtime", "3", "ran with runtime=3 instead of runtime=2"),
        ("direct", "0", "ran with direct=0 instead of direct=1"),
        ("direct", None, "ran without direct=1"),
        ("ioengine", None, "ran without ioengine=libaio"),
    )
    @ddt.unpack
    def test_other_options_of_the_command_line(self, key, setting, words):
        told = json.loads(RUN.outcomes()["data"].stdout)
        options = told["global options"]
        options[key] = setting
        told["global options"] = {k: v for k, v in options.items() if v}
        outcome = golden.outcome("data", json.dumps(told))
        with self.assertRaisesRegex(base.WorkloadError, words):
            self.workload.parse_all(self.arguments, {"data": outcome})

    def test_options_that_a_file_may_set(self):
        """The last value counts; a flag may be repeated without one."""
        told = json.loads(RUN.outcomes()["data"].stdout)
        told["jobs"][0]["job options"].update(
            ioengine="io_uring", randseed="7", time_based="", direct="1"
        )
        outcome = golden.outcome("data", json.dumps(told), seconds=60.0)
        self.assertTrue(
            self.workload.parse_all(self.arguments, {"data": outcome})
        )

    def test_another_section(self):
        outcome = golden.outcome("data", golden.text(RUN.files["log"]))
        with self.assertRaisesRegex(base.WorkloadError, "with another name"):
            self.workload.parse_all(self.arguments, {"data": outcome})

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
            self.assertRegex(
                message, rf"line 4: {key} is not an accepted option, .*delete"
            )

    @ddt.data(
        ("filename=/dev/sda", "filename='/dev/sda': is not an accepted value"),
        (
            "filename=a:/dev/sda",
            "filename='a:/dev/sda': is not an accepted value",
        ),
        ("filename=../x", "filename='../x': is not an accepted value"),
        ("filename=.x", "filename='.x': is not an accepted value"),
        (
            "filename=vmperf.fio",
            "filename='vmperf.fio': is not an accepted value",
        ),
        ("ioengine=external:/tmp/x.so", "ioengine='external:"),
        ("ioengine=libhdfs", "ioengine='libhdfs': is not an accepted value"),
        ("numjobs=257", "numjobs='257': is not an accepted value"),
        ("iodepth=1025", "iodepth='1025': is not an accepted value"),
        ("bs=$x", "bs='.x': is not an accepted value"),
        ("description=`id`", "description='`id`': is not an accepted value"),
        ("include /etc/x", "'include /etc/x' is not a valid option, section"),
        ("[a b]", r"'\[a b\]' is not a valid option, section"),
        ("bs", "bs='': is not an accepted value"),
        ("rw=read", "duplicate rw"),
        ("readwrite=read", "duplicate rw"),
        ("[log]", r"duplicate \[log\]"),
        ("[global]", "only one .global., before all other"),
        ("[globals]", "only one .global., before all other"),
    )
    @ddt.unpack
    def test_lines_that_are_not_taken(self, line, words):
        message = self.refused(content(line))
        self.assertRegex(message, f"^job_file: line 4.*{words}")

    @ddt.data(
        (b"rw=read\n[log]\n", "line 1: must be in a section"),
        ("[lög]".encode(), "must contain only ASCII"),
        (b"\n" * 1001, "maximum is 65536 B and 1000 lines"),
        (b"#" * 70000, "has 70000 B and 1 lines"),
        (
            b"#" * 4095 + b"exec_prerun=id",
            "line 1: must have at most 1000 char",
        ),
        (b"#\x0bexec_prerun=id", "line 1: .* all of them printable"),
        (b"[other]\n", "no section 'log'; available: other"),
        (b"", "no section 'log'; available: none"),
        (b"[log]\nsize=1m\n", "section log: rw is required"),
        (b"[log]\nrw=write\n", "section log: size is required"),
        (content("runtime=5"), "runtime=5: .*runtime in the task, 2; change"),
        (content("ramp_time=5"), "ramp_time=5: .*ramp_time in the task, 1"),
        (content("direct=0"), "direct=0: .*direct in the task, True"),
        (content("rate_iops=9"), "rate_iops=9: .*rate_iops in the task, 0"),
        (content("time_based=0"), "section log: time_based=0"),
        (
            content("group_reporting=0"),
            "section log: group_reporting=0: must be 1",
        ),
        (content("bs=2m"), "bs must be at most size"),
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
        self.assertIn("size_mib=256: must be >= 1224", message)
        self.check(given, sections=sections, size_mib=1224)
        self.assertIn(
            "log.read: section log has no reads, because it has rw=write",
            self.refused(given, sections=["log.read"]),
        )

    @ddt.data(
        ({"job_file": "/x"}, "job_file and sections: either both or none"),
        (
            {"sections": ["a.read"]},
            "job_file and sections: either both or none",
        ),
        (
            {"job_file": "/x", "sections": ["a.read"], "depth": 2},
            "depth=2: applies to patterns and not to job_file",
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
