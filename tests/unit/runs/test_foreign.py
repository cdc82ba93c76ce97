# SPDX-License-Identifier: Apache-2.0
"""A package of another author, from its installation to the report."""

import doctest
import hashlib
import importlib
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

from rally_vmperf.baseline import document
from rally_vmperf.execution import assignment
from rally_vmperf.execution import ports
from rally_vmperf.execution.stations import reach
from rally_vmperf.execution.stations import roles
from rally_vmperf.machines import background_load
from rally_vmperf.machines import local
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.samples import histogram
from rally_vmperf.questions import source_judge
from rally_vmperf.questions.overhead import run as overhead
from rally_vmperf.records import files
from rally_vmperf.records import journal
from rally_vmperf.records import sources
from rally_vmperf.report import page
from rally_vmperf.runs import recorded
from rally_vmperf.runs import recording
from rally_vmperf.workloads import base
from rally_vmperf.workloads import registry
from tests import skips
from tests.unit.doc import pages
from tests.unit.execution import test_servers
from tests.unit.runs import whole
from tests.unit.workloads import golden

PAGE = pages.ROOT / "doc/source/contributor/workload.rst"
LATENCY = "network.courier.shared.latency"
RATE = "network.courier.shared.rate"
LOOP_TIME = "cpu.pyloop.loop_time"


def of_the_page(directory):
    """Lay down the package that the page shows, and nothing else."""
    shown = re.findall(r"^\.\. literalinclude:: example/(\S+)$",
                       PAGE.read_text(), re.M)  # fmt: skip
    for name in shown:
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(PAGE.parent / "example" / name, path)
        if path.suffix == ".py":
            (path.parent / "__init__.py").touch()


@skips.requires("ss")
class ForeignPackageTestCase(unittest.TestCase):
    """It runs over machines of this computer, two guests and a peer."""

    def setUp(self):
        super().setUp()
        self.enterContext(mock.patch.object(background_load, "QUIET", new=0))
        self.directory = pathlib.Path(
            self.enterContext(tempfile.TemporaryDirectory())
        )
        source, installed = (
            self.directory / "source",
            self.directory / "installed",
        )
        of_the_page(source)
        subprocess.run(
            [
                *(sys.executable, "-m", "pip", "install", "--quiet"),
                *("--no-deps", "--no-build-isolation", "--no-index"),
                *("--target", installed, source),
            ],
            check=True,
        )
        self.enterContext(
            mock.patch.object(sys, "path", [str(installed), *sys.path])
        )
        self.enterContext(mock.patch.dict(sys.modules))
        self.addCleanup(registry.discover.cache_clear)
        registry.discover.cache_clear()
        importlib.invalidate_caches()
        first = test_servers.free_ports()
        self.enterContext(mock.patch.object(ports, "FIRST", first))
        self.enterContext(mock.patch.object(ports, "LAST", first + 99))
        # A busy computer sends few messages: two support a median.
        self.enterContext(mock.patch.object(histogram, "BEYOND", 1))
        self.message = self.directory / "message"
        self.message.write_bytes(b"x" * 1000)
        self.workloads = [
            {"name": "pyloop", "arguments": {"loops": 500}},
            {
                "name": "courier",
                "arguments": {"time": 2, "message": str(self.message)},
            },
        ]

    def peer(self, *_):
        """Return a station on this computer."""
        return roles.Station(
            name="peer",
            machine=local.Local("peer"),
            role="peer",
            address="127.0.0.1",
            parent=str(self.directory),
        )

    def baseline(self):
        """Record two copies on bare metal, which is this computer too."""
        shape_recording = recording.ShapeRecording(
            recording.RecordingPlan(
                baseline="metal",
                session=whole.SESSION,
                assignments=assignment.assign(self.workloads),
                shape=document.Shape(1, 512, 2),
                repetitions=1,
                warmup=0,
                directory=str(self.directory),
                is_limited=False,
                options={},
                accepted=frozenset(finding.KINDS),
            ),
            journal.Journal(self.directory, "bare-metal"),
        )
        shape_recording.measure(
            lambda: local.Local("metal"),
            self.peer(),
            whole.quiet,
            whole.quiet,
        )
        self.assertEqual([], shape_recording.describe_missing())
        return recorded.build_baseline([shape_recording])

    def records(self, document):
        """Measure two guests once; return the records."""
        machines = [local.Local(name) for name in ("g1", "g2")]
        run_request = whole.build_request(
            self.directory,
            document,
            *machines,
            workloads=self.workloads,
            peer={"address": "127.0.0.1"},
        )
        for place in run_request.run_cache.get_connections(
            "w", run_request.booted
        ).stations:
            place.parent = str(self.directory)
        with mock.patch.object(
            reach, "peer_station", autospec=True, side_effect=self.peer
        ):
            run = run_request.run_cache.get_run(
                "w", lambda: overhead.create_run(run_request)
            )
            self.addCleanup(run_request.run_cache.close, "w")
            return [run.repeat(1)]

    def test_session_of_the_page(self):
        """Its lines print what the page shows."""
        parser, runner = doctest.DocTestParser(), doctest.DocTestRunner()
        session = parser.get_doctest(PAGE.read_text(), {}, PAGE.name, None, 0)
        self.assertLess(3, len(session.examples))
        self.assertEqual(0, runner.run(session).failed)

    def test_the_smallest_parser(self):
        """It rejects outputs of other loops, and parts of an output."""
        workload = registry.get_workload("pyloop")
        arguments = workload.complete({"loops": 500})
        text = "500 loops, best of 5: 9.1e-06 sec per loop\n"
        result = golden.outcome("pyloop", text)
        (loop_time,) = workload.parse(arguments, result)
        self.assertEqual(9.1e-06, loop_time.value)
        for wrong in (text[:-1], text.replace("500", "50"), text * 2):
            with self.assertRaises(base.WorkloadError):
                workload.parse(arguments, golden.outcome("pyloop", wrong))

    def test_the_whole_loop(self):
        """Every feature that it declares is in records, verdict and page."""
        records = self.records(self.baseline())
        (last,) = records
        self.assertEqual((), last.repetition.all_missing)
        self.assertEqual("complete", last.repetition.state)
        metric_names = [
            observation.sample.metric.name
            for observation in last.repetition.condition.observations
        ]
        for name in ("shared", "own"):
            for what in ("rate", "connect_time", "latency_p50"):
                metric = f"network.courier.{name}.{what}"
                self.assertEqual(2, metric_names.count(metric))
        additive = {metric.name: metric.additive for metric in last.metrics}
        self.assertTrue(additive[RATE])
        self.assertFalse(additive[RATE.replace("rate", "connect_time")])
        details = files.read(self.directory, last.machines_file)
        self.assertEqual(
            hashlib.sha256(b"x" * 1000).hexdigest(),
            details["machines"]["g1"]["facts"]["courier"]["message_sha256"],
        )
        judged = source_judge.judge_source(
            sources.Source(
                question="overhead",
                scenario="VMPerf.overhead",
                records=records,
                criteria={
                    "vmperf_overhead": {
                        "max_percent": {"network.*": 99.9, LOOP_TIME: 900}
                    }
                },
                folder=self.directory,
            )
        )
        (judgement,) = judged.judgements.values()
        rows = {row.metric.name for row in judgement.rows}
        self.assertLessEqual({LOOP_TIME, RATE, f"{LATENCY}_p50"}, rows)
        text = page.standalone([source_judge.create_report(judged)])
        for text_part in (LOOP_TIME, RATE, LATENCY, "courier"):
            self.assertIn(text_part, text)
