# SPDX-License-Identifier: Apache-2.0
"""A test's run: its records, its verdict in words, its report."""

import pathlib
import tempfile
import unittest
from unittest import mock

from rally_vmperf.baseline import store
from rally_vmperf.execution import requirements
from rally_vmperf.machines.provisioning import provision
from rally_vmperf.records import journal
from rally_vmperf.runs import guest_arrival
from rally_vmperf.tempest_plugin import measure
from tests import signals
from tests.unit.runs import golden
from tests.unit.runs import whole
from tests.unit.tempest_plugin import configured

BARE = [1000, 1001, 1002]
GUEST = [900, 901, 902]


class MeasureTestCase(unittest.TestCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.document = whole.baseline(self.folder, (1,), BARE)
        store.Store(self.folder).save(self.document)

    def measured(self, limit, outputs):
        """Measure a guest, and judge it by a limit in percent."""
        limits = {
            "max_percent": {"cpu.*": limit},
            "tolerate": ["bare_metal_unrestricted"],
        }
        return self.measured_by(limits, outputs, baseline="metal")

    def measured_by(self, limits, outputs, **options):
        """Measure a guest and judge it by limits.

        :param options: The options of the baseline and the workloads.
        """
        configured_question = configured.build_question(
            baseline_dir=str(self.folder),
            limits_file=configured.write(
                self.folder, "limits.yaml", {"vmperf_overhead": limits}
            ),
            repetitions=3,
            warmup=0,
            install=False,
            **options,
        )
        machine = golden.Machine("g1", outputs)
        run_request = whole.build_request(
            self.folder, configured_question.baseline, machine
        )
        patch = mock.patch(
            "rally_vmperf.execution.stations.arrival.ConnectedGuests",
            autospec=True,
            return_value=whole.Arrived([machine]),
        )
        with patch:
            return measure.Measurement(
                run_guests=mock.Mock(
                    spec=guest_arrival.RunGuests,
                    id="t",
                    connect=run_request.connect,
                    connect_admin=run_request.connect_admin,
                    progress=whole.quiet,
                ),
                booted=run_request.booted,
                baseline=configured_question.baseline,
                journal_dir=self.folder,
                report_dir=self.folder / "reports",
                warn=whole.quiet,
            ).run(
                configured_question.build_task(
                    configured_question.workloads, 1, {}, {}
                ),
                configured_question.question,
            )

    def rates(self):
        return [golden.sysbench(rate) for rate in GUEST]

    def test_within_the_limit(self):
        """Record, journal and report exist, and the table names them."""
        outcome = self.measured(15, self.rates())
        self.assertTrue(outcome.passed, outcome.sentence())
        self.assertIn("are within their limits; ", outcome.sentence())
        records = journal.Journal(self.folder, outcome.journal.stem).read()
        self.assertEqual(
            ["complete"] * 3, [record.repetition.state for record in records]
        )
        self.assertIn("overhead", outcome.report.read_text())
        self.assertIn("passed   cpu.sysbench.rate", outcome.table())
        self.assertIn(str(outcome.report), outcome.table())

    def test_beyond_the_limit(self):
        """The sentence of the verdict has the difference."""
        outcome = self.measured(5, self.rates())
        self.assertFalse(outcome.passed)
        self.assertIn("failed: 1 of 2 metrics", outcome.sentence())
        self.assertIn("limit 5 % (cpu.*): failed", outcome.sentence())

    def test_without_a_baseline(self):
        """Limits on values judge the guest alone."""
        workload = {"name": "sysbench", "arguments": {"time": 2}}
        path = configured.write(self.folder, "workloads.yaml", [workload])
        for limit, line in ((800, "passed   cpu."), (950, "failed   cpu.")):
            outcome = self.measured_by(
                {"min": {"cpu.sysbench.rate": limit}},
                self.rates(),
                workloads_file=path,
            )
            self.assertEqual(limit == 800, outcome.passed)
            self.assertIn(line, outcome.table())
            self.assertNotIn("bare metal", outcome.table())
            self.assertIn("no baseline", outcome.report.read_text())

    def test_a_limit_inside_the_interval(self):
        """Inconclusive is neither failed nor void."""
        outcome = self.measured(10, self.rates())
        self.assertFalse(outcome.passed)
        self.assertIn("inconclusive: ", outcome.sentence())
        self.assertIn("limit 10 % (cpu.*): inconclusive", outcome.sentence())
        self.assertNotIn("void: ", outcome.sentence())
        self.assertNotIn("failed: ", outcome.sentence())

    def test_nothing_measured_is_void(self):
        """A failed tool does not pass, and void differs from failed."""
        outcome = self.measured(15, ["no figures"])
        self.assertFalse(outcome.passed)
        self.assertIn("void: nothing was measured", outcome.sentence())

    def test_an_image_without_the_tool(self):
        """Nothing is judged where nothing may be installed."""
        with (
            mock.patch.dict(golden.TOOLS, clear=True),
            mock.patch.object(
                provision,
                "find_manager",
                autospec=True,
                return_value="apt-get",
            ),
            self.assertRaisesRegex(
                requirements.ToolMissing,
                "^g1 has no sysbench: install it there: apt-get install",
            ),
        ):
            self.measured(15, self.rates())

    def test_interrupted(self):
        """The journal has the measured values, and Ctrl-C is raised again."""
        signals.heed_ctrl_c(self)
        first, second, third = self.rates()

        def interrupted():
            golden.interrupt()
            return second

        with self.assertRaises(KeyboardInterrupt):
            self.measured(15, [first, interrupted, third])
        (path,) = [
            file
            for file in self.folder.glob("*.jsonl")
            if not file.stem.startswith(whole.SESSION)
        ]
        records = journal.Journal(self.folder, path.stem).read()
        self.assertEqual(
            ["complete", "interrupted"],
            [record.repetition.state for record in records],
        )
