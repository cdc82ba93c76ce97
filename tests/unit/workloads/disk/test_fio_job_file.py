# SPDX-License-Identifier: Apache-2.0
"""A job file of the operator: accepted options, and metrics."""

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

    def check(self, job_bytes, **changes):
        """Check a file with the sections of the example, or others."""
        arguments = {**self.arguments, **changes}
        self.workload.check_files(arguments, {"vmperf.fio": job_bytes})

    @ddt.data(
        ("rw", ["log.read"], ["log.read"]),
        ("randrw", ["log.write"], ["log.write"]),
        ("readwrite", ["log.read", "log.write"], []),
        ("randread", ["log.read"], []),
    )
    @ddt.unpack
    def test_side_that_is_not_measured(self, pattern, sections, one_sided):
        """A section that reads and writes has a finding on its metrics."""
        job = content("").replace(b"rw=write", f"rw={pattern}".encode())
        arguments = {**self.arguments, "sections": sections}
        self.workload.check_files(arguments, {"vmperf.fio": job})
        found = self.workload.file_findings(arguments, {"vmperf.fio": job})
        self.assertEqual(
            one_sided,
            [
                side
                for kind, _, names in found
                for side in [names[0].removeprefix("disk.fio.")[:-5]]
                if kind == "other_side_not_measured"
                and f"disk.fio.{side}.bandwidth" in names
            ],
        )

    def test_finding_of_a_labelled_workload(self):
        """It has the names of the metrics in the record."""
        with tempfile.NamedTemporaryFile(suffix=".fio") as file:
            file.write(content("").replace(b"rw=write", b"rw=rw"))
            file.flush()
            arguments = {"job_file": file.name, "sections": ["log.read"]}
            (found,) = assignment.Assignment(
                self.workload, self.workload.complete(arguments), label="db"
            ).find_in_files()
        self.assertIn("disk.fio.db.log.read.iops", found.metrics)

    def refused(self, job_bytes, **changes):
        """Return the message about a file that is rejected."""
        with self.assertRaises(base.WorkloadError) as caught:
            self.check(job_bytes, **changes)
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
        ((kind, detail),) = self.workload.argument_findings(limited)
        self.assertEqual("fixed_rate", kind)
        self.assertIn("90 requests per second with each process", detail)

    def test_samples_agree_with_fio(self):
        outcomes = RUN.outcomes()
        measured = {
            reading.metric.name: reading.value
            for reading in golden.values(
                self.workload.parse_all(self.arguments, outcomes)
            )
        }
        every = {
            metric.name for metric in self.workload.metrics(self.arguments)
        }
        self.assertEqual(27, len(every))
        self.assertLessEqual(set(measured), every)
        for side in self.arguments["sections"]:
            section, _, key = side.partition(".")
            (job,) = json.loads(outcomes[section].stdout)["jobs"]
            self.assertEqual(
                (job[key]["iops"], job[key]["bw_bytes"]),
                tuple(
                    measured[f"disk.fio.{side}.{what}"]
                    for what in ("iops", "bandwidth")
                ),
            )
            self.assertIn(f"disk.fio.{side}.latency_p50", measured)
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
        ({"buffered": "1"}, "ran with buffered=1, which was not requested"),
        ({"rate_iops": "9"}, "ran with rate_iops=9, which was not requested"),
        ({"time_based": "0"}, "ran with time_based=0, which was not"),
        ({"percentile_list": "50"}, "percentile_list=50 instead of perc"),
    )
    @ddt.unpack
    def test_another_job(self, options, message):
        loads = json.loads(RUN.outcomes()["data"].stdout)
        loads["jobs"][0]["job options"].update(options)
        outcome = golden.outcome("data", json.dumps(loads))
        with self.assertRaisesRegex(base.WorkloadError, message):
            self.workload.parse_all(self.arguments, {"data": outcome})

    @ddt.data(
        ("runtime", "3", "ran with runtime=3 instead of runtime=2"),
        ("direct", "0", "ran with direct=0 instead of direct=1"),
        ("direct", None, "ran without direct=1"),
        ("ioengine", None, "ran without ioengine=libaio"),
    )
    @ddt.unpack
    def test_other_options_of_the_command_line(self, key, setting, message):
        loads = json.loads(RUN.outcomes()["data"].stdout)
        options = loads["global options"]
        options[key] = setting
        loads["global options"] = {k: v for k, v in options.items() if v}
        outcome = golden.outcome("data", json.dumps(loads))
        with self.assertRaisesRegex(base.WorkloadError, message):
            self.workload.parse_all(self.arguments, {"data": outcome})

    def test_options_that_a_file_may_set(self):
        """The last value counts; a flag may be repeated without one."""
        loads = json.loads(RUN.outcomes()["data"].stdout)
        loads["jobs"][0]["job options"].update(
            ioengine="io_uring", randseed="7", time_based="", direct="1"
        )
        outcome = golden.outcome("data", json.dumps(loads), seconds=60.0)
        self.assertTrue(
            self.workload.parse_all(self.arguments, {"data": outcome})
        )

    def test_another_section(self):
        outcome = golden.outcome("data", golden.text(RUN.files["log"]))
        with self.assertRaisesRegex(base.WorkloadError, "with another name"):
            self.workload.parse_all(self.arguments, {"data": outcome})

    def test_the_example_is_accepted(self):
        for text in (TEXT, TEXT.replace("\n", "\r\n")):
            self.check(text.encode())

    @ddt.data(
        *("thread", "numjobs=257", "bssplit=4k/60:8k/40,16k/", "rw = randrw"),
        *("filename=a.data", "filename=a:b", "description=a log (small)"),
    )
    def test_lines_that_are_accepted(self, line):
        self.check(content(line), sections=["log.write"])

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
    def test_keys_that_are_rejected(self, line):
        key = line.partition("=")[0]
        for written in (line, f"  {line}", f"\t{line}"):
            message = self.refused(content(written))
            self.assertRegex(message, rf"^job_file: line 4: '.*{key}.*delete")

    @ddt.data(
        *("filename=/dev/sda", "filename=a:/dev/sda", "filename=../x"),
        *("filename=.x", "filename=..", "filename=1:/k", "filename=1k/2:/k"),
        *("filename=vmperf.fio", "filename=a:vmperf.fio"),
        *("ioengine=external:/tmp/x.so", "bs=$x", "description=`id`"),
        *("size=50%", "include /etc/x", "[a b]", "[log]", "[lög]"),
        *("runtime=5", "ramp_time=5", "direct=0", "rate_iops=9"),
        *("time_based=0", "group_reporting=0", "#\x0bexec_prerun=id"),
        "#" * 4095 + "exec_prerun=id",
    )
    def test_lines_that_are_rejected(self, line):
        message = self.refused(content(line))
        self.assertRegex(
            message,
            "^job_file: line 4: .* must be a new section, or an option in a "
            "section that defines I/O in the working directory",
        )

    @ddt.data(
        (b"rw=read\n[log]\n", "line 1: 'rw=read' must be a new section, or"),
        (b"[other]\n", "must have a section 'log' that writes; .*: other$"),
        (b"", "must have a section 'log' that writes; sections: $"),
        (b"[log]\nsize=1m\n", "must have a section 'log' that writes"),
    )
    @ddt.unpack
    def test_files_without_the_section(self, job_bytes, message):
        self.assertRegex(
            self.refused(job_bytes, sections=["log.write"]), message
        )

    def test_sides(self):
        job_bytes = content("[data]\nrw=randrw\nsize=1g")
        self.check(
            job_bytes, sections=["log.write", "data.write", "data.read"]
        )
        self.assertIn(
            "log.read: job_file must have a section 'log' that reads",
            self.refused(job_bytes, sections=["log.read"]),
        )
        self.check(b"[global]\nrw=write\n[log]\n", sections=["log.write"])

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
    def test_arguments(self, arguments, message):
        with self.assertRaisesRegex(base.WorkloadError, f"fio: {message}"):
            self.workload.complete(arguments)

    def test_is_checked_before_anything_is_brought(self):
        """As a task is validated, and as a session begins."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "own.fio")
            arguments = {"job_file": str(path), "sections": ["log.write"]}
            entry = {"name": "fio", "arguments": arguments, "label": "own"}
            (assigned,) = assignment.assign([entry])
            path.write_bytes(content("exec_prerun=id"))
            with self.assertRaisesRegex(
                base.WorkloadError,
                "^workload fio-own: job_file: line 4: 'exec",
            ):
                assigned.read_files()
            path.write_bytes(content(""))
            ((brought, file_content),) = assigned.read_files().items()
        self.assertEqual(("vmperf.fio", ""), (brought.name, brought.package))
        self.assertEqual(content(""), file_content)

    @hypothesis.given(LINES)
    def test_any_lines(self, lines):
        """An accepted file has no word that fio could read as another."""
        text = "\n".join(lines)
        try:
            self.check(text.encode(), sections=["log.write"])
        except base.WorkloadError as error:
            self.assertTrue(str(error).isprintable())
            self.assertLess(len(str(error)), 600)
            return
        for line in re.split(r"[\r\n]", text):
            if line.strip(" \t")[:1] not in ("", ";", "#", "["):
                key = re.split(r"[ \t=]", line.strip(" \t"))[0]
                self.assertIn(key, ("rw", "size", "bs", "filename"))
            self.assertNotRegex(line.partition(";")[0], r"\$|/dev|exec")

    @hypothesis.given(st.binary(max_size=200))
    def test_any_bytes(self, job_bytes):
        self.refused(job_bytes)
