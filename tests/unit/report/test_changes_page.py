# SPDX-License-Identifier: Apache-2.0
"""Tests of the page of compared runs."""

import unittest

from rally_vmperf.judging.results import changes
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import sample
from rally_vmperf.report import changes_page
from tests.unit.report import test_page

RATE = sample.Metric("cpu.sysbench.rate", "1/s", "higher")


def read(factor, names=("before", "after")):
    """Return the text of a page about runs of which the last differs."""
    runs = [
        changes.RunSamples(
            name=name,
            samples={
                ("", RATE): sample.create_samples(
                    RATE,
                    [
                        [100 * (factor if name == names[-1] else 1) + number]
                        for number in range(5)
                    ],
                )
            },
            absences={},
        )
        for name in names
    ]
    compared = changes.compare_runs(runs, verdict.Limits({"*": 5.0}))
    html = changes_page.standalone(names, compared, [], ["One sentence"])
    return test_page.Reader(html).text


class StandaloneTestCase(unittest.TestCase):
    """The banner and the chart say which run is worse."""

    def test_worse(self):
        text = read(0.5)
        self.assertIn("Comparison of before and after", text)
        self.assertIn("Worse: 1 of 1 metric One sentence.", text)
        self.assertIn("✖", text)

    def test_equal(self):
        text = read(1)
        self.assertIn("Not worse: 1 of 1 metric One sentence.", text)
        self.assertIn("No difference between settings", text)

    def test_undecided(self):
        """The headline counts the metrics, and does not deny a loss."""
        text = read(0.95)
        self.assertIn("Undecided: 1 of 1 metric One sentence.", text)
        self.assertNotIn("Nothing is worse", text)

    def test_counts_and_lost_metrics(self):
        """They have figures or a reason, and no margin in percent."""
        errors = sample.Metric("net.x.errors", "1", "lower", scale="count")
        first, second = (
            changes.RunSamples(
                name=name,
                samples={
                    ("", errors): sample.create_samples(errors, [[count]])
                },
                absences={},
                limits={("", errors): changes.Limit(5.0)},
            )
            for name, count in (("before", 1.0), ("after", 90_000.0))
        )
        first.samples["", RATE] = sample.create_samples(RATE, [[1.0]] * 3)
        compared = changes.compare_runs([first, second], verdict.Limits({}))
        html = changes_page.standalone(["before", "after"], compared, [], [])
        text = test_page.Reader(html).text
        self.assertIn("Worse: 1 of 1 deciding metric", text)
        self.assertRegex(text, "1 90 000 - - worse the largest count")
        self.assertRegex(text, "5 % worse does not decide *after: not meas")

    def test_long_names_leave_room_for_the_chart(self):
        """With more than two runs, lines of the chart have the run's name."""
        name = "run " + "x" * 200
        text = read(0.5, ("one", "two", name))
        short = f"{name[: changes_page.MAX_NAME_CHARACTERS - 1]}…"
        self.assertIn(f"{RATE.name}: {short}", text)
