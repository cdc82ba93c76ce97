# SPDX-License-Identifier: Apache-2.0
"""Tests of the section on migration, with a run of the embedded cloud."""

import dataclasses
import re
import unittest

import ddt

from rally_vmperf.measurement.event import phases
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units
from rally_vmperf.questions import source_judge
from rally_vmperf.questions.event import section
from rally_vmperf.report import export
from rally_vmperf.report import page
from rally_vmperf.runs import event_types
from tests.unit.questions import golden_runs
from tests.unit.report import test_page

RUN = "event"


def judge():
    """Return the judged run."""
    return source_judge.judge_by_file(
        golden_runs.source(RUN), str(golden_runs.limits(RUN))
    )


class TestPage(unittest.TestCase):
    """The page shows each figure with its error, and each migration."""

    def setUp(self):
        super().setUp()
        self.shown = source_judge.create_report(judge())
        self.source = page.standalone([self.shown])
        self.text = test_page.Reader(self.source).text

    def test_figures(self):
        measured = [
            observation.sample
            for record in self.shown.repetitions
            for condition in record.conditions
            for observation in condition.observations
            if observation.sample.metric.name.startswith("guest.event.")
        ]
        self.assertLess(len(self.shown.repetitions), len(measured))
        for figure in measured:
            metric = figure.metric
            self.assertIn(
                f"{units.show(figure.value, metric.unit)} ± "
                f"{units.show(metric.step, metric.unit)}",
                self.text,
            )

    def test_event_of_a_later_version(self):
        """The error has the record, the name and the versions."""
        last = self.shown.last
        for event, message in (
            (
                {"name": "teleport<"},
                "event name='teleport.*': must be one of "
                f"{', '.join(sorted(event_types.list_names()))}; the record "
                "is of rally-vmperf .*: create the page with this version or "
                "a later one$",
            ),
            ({"name": "reboot", "speed": 1}, "event reboot: .*'speed'"),
        ):
            record = dataclasses.replace(
                last, options={**last.options, "event": event}
            )
            records = [*self.shown.records[:-1], record]
            shown = dataclasses.replace(self.shown, records=records)
            with self.assertRaisesRegex(
                event_types.InvalidEvent,
                f"^run {last.repetition.run}, record of repetition "
                f"{last.repetition.number}: {message}",
            ):
                page.standalone([shown])

    def test_migrations(self):
        """Nova's whole seconds are near the duration of the run."""
        migrations = section.list_events(self.shown)
        self.assertEqual(
            [measured.number for measured in self.shown.repetitions],
            [migration.number for migration in migrations],
        )
        for migration in migrations:
            event = migration.event
            for text in (event.request, event.initiator, event.target):
                self.assertIn(text, self.text)
            difference = migration.nova_seconds - event.seconds
            self.assertLessEqual(abs(difference), 3)

    def test_void_repetition(self):
        """It is marked in both tables, and not judged."""
        self.assertEqual((2,), self.shown.judgement.omitted)
        self.assertEqual(2, self.text.count("Repetition 2 (void)"))
        self.assertEqual(2, self.text.count("(void)"))

    def test_time_lines(self):
        """Each has three phases, their mean and two vertical lines."""
        charts = re.findall(r"<svg .*?</svg>", self.source, re.DOTALL)
        drawn = [chart for chart in charts if "-line-" in chart]
        self.assertEqual(len(self.shown.repetitions), len(drawn))
        for chart in drawn:
            self.assertEqual(2, chart.count('class="limit"'))
            self.assertEqual(3, chart.count('class="first"'))
            self.assertLessEqual(chart.count('class="first bare"'), 1)
        self.assertIn(
            "guest of the event g1 (disk.fio.randwrite.iops)", self.text
        )


class TestLabels(unittest.TestCase):
    """Each kind of machine has a line of its own."""

    def test_machines(self):
        (first, *_) = section.list_events(source_judge.create_report(judge()))
        (line, *_) = first.lines
        control = sample.Metric("control.sysbench.rate", "1/s", "higher")
        lines = [
            line,
            dataclasses.replace(line, machine="g2"),
            dataclasses.replace(line, machine="g3"),
            phases.Line(
                machine="control",
                metric=control,
                begun=line.begun,
                points=((2.0, 300.0), (4.0, 290.0)),
            ),
        ]
        migration = dataclasses.replace(first, lines=tuple(lines))
        self.assertEqual(
            [
                ("first", "guest of the event g1 (disk.fio.randwrite.iops)"),
                ("third", "other guests g2, g3 (disk.fio.randwrite.iops)"),
                ("last", "control machine control (control.sysbench.rate)"),
                ("first bare", "its mean in the phase during"),
            ],
            section.list_labels([migration]),
        )
        chart = section.draw_time_line(migration, "x")
        for style, number in (("first", 1), ("third", 2), ("last", 1)):
            self.assertEqual(number, chart.count(f'class="{style}"'))


@ddt.ddt
class TestFormats(unittest.TestCase):
    """Each format has the downtime with its limit and its verdict."""

    @ddt.data(
        ("json", '"guest.event.downtime"'),
        ("ndjson", '"guest.event.downtime"'),
        ("csv", "guest.event.downtime,s,lower"),
        ("openmetrics", 'metric="guest.event.downtime",figure="max"'),
        (
            "junit",
            '<testcase name="guest.event.downtime max of guest"',
        ),
        (
            "markdown",
            "| passed | `guest.event.downtime` | max | `guest g1` |",
        ),
    )
    @ddt.unpack
    def test_downtime(self, name, expected):
        self.assertIn(expected, "".join(export.render(name, [judge()])))
