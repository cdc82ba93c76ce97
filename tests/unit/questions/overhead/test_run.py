"""Tests of runs that compare guests with bare metal."""

import pathlib
import tempfile
import unittest

from rally_vmperf.questions.overhead import run as overhead
from rally_vmperf.records import files
from tests.unit.runs import fakes
from tests.unit.runs import golden
from tests.unit.runs import whole


class TestMake(unittest.TestCase):
    """All guests at once are compared with as many copies."""

    def setUp(self):
        """Make a folder for the journal."""
        super().setUp()
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.machines = [golden.Machine(name) for name in ("g1", "g2")]

    def run_of(self, document, **changes):
        """Return the run, closed in the end."""
        asked = whole.asked(self.folder, document, *self.machines, **changes)
        run = asked.opened.run("w", lambda: overhead.make(asked))
        self.addCleanup(asked.opened.close, "w")
        return run

    def test_a_repetition(self):
        """Samples of both, beside those of bare metal."""
        document = whole.baseline(self.folder, (1, 2))
        record = self.run_of(document).repeat(1)
        self.assertEqual("complete", record["state"])
        (only,) = record["conditions"]
        self.assertEqual(
            ({}, 2, ["g1", "g2"]),
            (only["axes"], only["copies"], only["machines"]),
        )
        self.assertEqual([8958.2, 8958.2], fakes.values(record))
        reference = record["reference"]
        self.assertEqual(
            ("metal", "compute1", whole.SESSION),
            tuple(reference[key] for key in ("name", "machine", "session")),
        )
        (copies,) = reference["copies"]
        self.assertEqual(
            (2, 3), (copies["copies"], len(copies["repetitions"]))
        )
        self.assertEqual("6.1.0-18-amd64", reference["fingerprint"]["kernel"])
        self.assertIn("sysbench", reference["tools"])
        self.assertEqual(
            ["h", "h"], [one["host"] for one in record["machines"]]
        )
        self.assertRegex(record["machines"][0]["boot"], "^.+#1$")

    def test_a_baseline_without_them(self):
        """Is the reason why nothing is measured."""
        record = self.run_of(whole.baseline(self.folder)).repeat(1)
        self.assertEqual("incomplete", record["state"])
        self.assertIn("2 x 1 vCPU", record["missing"][0]["reason"])
        self.assertEqual([], record["conditions"])
        self.assertEqual(2, record["shape"]["copies"])
        self.assertIn("cpu.sysbench.rate", record["expected"])
        self.assertEqual([], self.machines[0].jobs)

    def test_what_there_is_to_say(self):
        """Of bare metal, of its age and of the guests."""
        document = {
            **whole.baseline(self.folder, (2,)),
            "recorded_at": "2020-01-01T00:00:00+00:00",
        }
        document["machine"]["fingerprint"]["cpu_model"] = "Other"
        record = self.run_of(document).repeat(1)
        self.assertLessEqual(
            {"cpu_model_differs", "baseline_old", "shape_whole"},
            {one["kind"] for one in record["findings"]},
        )

    def test_a_guest_that_was_moved(self):
        """Nova is asked once the workloads have run."""
        run = self.run_of(whole.baseline(self.folder, (2,)))
        run.prepare()
        (watch,) = run.ready.actions
        server = watch._connection.compute.all_servers[watch._guests[1].id]
        server.host_id = "elsewhere"
        record = run.repeat(1)
        (found,) = record["conditions"][0]["findings"]
        self.assertEqual(
            ("guest_changed_host", "g2"), (found["kind"], found["subject"])
        )

    def test_no_secret(self):
        """How guests are entered is nobody's business."""
        record = self.run_of(whole.baseline(self.folder, (2,))).repeat(1)
        kept = files.read(
            pathlib.Path(self.folder), record["files"]["machines"]
        )
        nova = kept["machines"]["g1"]["nova"]
        self.assertEqual("h", nova["host_id"])
        self.assertNotIn("secret", str(kept))
        self.assertNotIn("secret", str(record))
        self.assertEqual(
            "kvm", kept["machines"]["g1"]["fingerprint"]["virtualisation"]
        )
