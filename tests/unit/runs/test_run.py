"""Tests of repetitions: recorded whatever happens to them."""

import os
import tempfile
import unittest

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import sample
from rally_vmperf.plugins.scenarios import recording
from rally_vmperf.records import build
from rally_vmperf.records import codec
from rally_vmperf.records import journal
from tests.unit import made
from tests.unit.records import full_disk
from tests.unit.records import raw

RATE = sample.Metric(
    name="cpu.sysbench.rate", unit="events/s", better="higher"
)
MOVED = finding.Finding(kind="guest_changed_host", subject="g1", seen="moved")


class Session:
    """A session whose repetitions go as told."""

    def __init__(self, trouble=None, missing=(), printed=(), look=None):
        self.trouble, self.missing = trouble, missing
        self.printed, self.look = printed, look

    def repeat(self, result, names, on_measured):
        """Take one sample, then have the trouble."""
        for text in self.printed:
            result.keep_raw({"machine": "g1", "stdout": text})
        if self.look:
            self.look()
        result.observations.append(
            sample.Observation(
                source="g1", sample=sample.Sample(metric=RATE, value=90.0)
            )
        )
        for what in self.missing:
            result.miss(what, "g1", "it broke")
        if self.trouble:
            raise self.trouble
        on_measured()
        return []


class TestRun(unittest.TestCase):
    """A record is on disk before it is returned."""

    def setUp(self):
        """Make an empty journal."""
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.journal = journal.Journal(folder.name, "w")

    def run_of(self, session, watch=lambda names: [], warmup=1):
        """Return a run of three repetitions."""
        record = made.record()
        return recording.Run(
            task="t",
            workload="w",
            times=3,
            warmup=warmup,
            session=session,
            setting=build.Setting(
                shape=record["shape"],
                machines=record["machines"],
                workloads=record["workloads"],
                expected=record["expected"],
                metrics=codec.encode_metrics([RATE]),
                reference=record["reference"],
                findings=(),
            ),
            journal=self.journal,
            watch=watch,
        )

    def test_warm_up_is_recorded_and_not_counted(self):
        """Planned are the counted ones only."""
        run = self.run_of(Session())
        first, second = run.repeat(1), run.repeat(2)
        self.assertEqual((False, 2), (first["counted"], first["planned"]))
        self.assertTrue(second["counted"])
        self.assertEqual([first, second], self.journal.read())
        self.assertEqual("complete", second["state"])

    def test_defect_loses_nothing(self):
        """Whatever is wrong with us, the guests' work is kept."""
        with self.assertRaisesRegex(ZeroDivisionError, "ours"):
            self.run_of(Session(trouble=ZeroDivisionError("ours"))).repeat(2)
        (record,) = self.journal.read()
        self.assertEqual("incomplete", record["state"])
        self.assertEqual(90.0, record["samples"][0]["value"])
        self.assertIn("ZeroDivisionError", record["missing"][0]["reason"])

    def test_full_disk_costs_no_samples(self):
        """Rally gets the record, and the log says that it alone has it."""
        run = self.run_of(Session())
        full_disk.limit(self, 10)
        with self.assertLogs(recording.LOG.logger, "WARNING") as logs:
            record = run.repeat(2)
        self.assertEqual("complete", record["state"])
        self.assertEqual(90.0, record["samples"][0]["value"])
        self.assertEqual("", record["raw"])
        self.assertEqual(2, len(logs.output))
        self.assertIn("raw outputs", logs.output[0])
        self.assertIn("the samples are kept all the same", logs.output[0])
        self.assertIn("only Rally's database has repetition 2", logs.output[1])

    def test_full_disk_costs_raw_outputs_first(self):
        """It is told once, and what they took is room for the record."""
        printed = [os.urandom(9000).hex() for _ in range(5)]
        run = self.run_of(Session(printed=printed))
        full_disk.limit(self, 20000)
        with self.assertLogs(recording.LOG.logger, "WARNING") as logs:
            record = run.repeat(2)
        self.assertEqual(1, len(logs.output))
        self.assertEqual([record], self.journal.read())
        self.assertEqual("complete", record["state"])
        self.assertEqual("", record["raw"])
        self.assertEqual(["w.jsonl"], os.listdir(self.journal.folder))

    def test_raw_outputs_are_on_disk_as_they_come(self):
        """A controller that is killed meanwhile leaves them."""
        seen = []
        session = Session(
            printed=["one", "two"], look=lambda: seen.extend(self.so_far(2))
        )
        record = self.run_of(session).repeat(2)
        self.assertEqual("w-2.json.gz", record["raw"])
        self.assertEqual(["one", "two"], [one["stdout"] for one in seen])
        path = self.journal.folder / record["raw"]
        self.assertEqual(seen, raw.outputs(path))

    def so_far(self, number):
        """Return the raw outputs of a repetition that is not over."""
        return raw.so_far(self.journal.folder / f"w-{number}.json.gz")

    def test_missing_measurement(self):
        """The rest is kept and the record says incomplete."""
        record = self.run_of(Session(missing=["disk.x"])).repeat(2)
        self.assertEqual("incomplete", record["state"])
        self.assertEqual("it broke", record["missing"][0]["reason"])
        self.assertEqual(1, len(record["samples"]))

    def test_interrupted(self):
        """What was measured until then is in the journal."""
        session = Session(trouble=KeyboardInterrupt(), printed=["one"])
        record = self.run_of(session).repeat(2)
        self.assertEqual("interrupted", record["state"])
        self.assertEqual([record], self.journal.read())
        self.assertEqual(90.0, record["samples"][0]["value"])
        path = self.journal.folder / record["raw"]
        self.assertEqual(
            [{"machine": "g1", "stdout": "one"}], raw.outputs(path)
        )

    def test_what_nova_says_is_in_the_record(self):
        """A guest that was moved is a finding of this repetition."""
        record = self.run_of(Session(), watch=lambda names: [MOVED]).repeat(2)
        self.assertEqual(
            ["guest_changed_host"],
            [found["kind"] for found in record["findings"]],
        )
