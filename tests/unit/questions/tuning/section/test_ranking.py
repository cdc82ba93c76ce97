# SPDX-License-Identifier: Apache-2.0
"""The section of the report with variants."""

import dataclasses
import json
import unittest
from unittest import mock

from rally_vmperf.judging import gains
from rally_vmperf.judging import verdict_table
from rally_vmperf.judging.results import changes
from rally_vmperf.judging.results import figure as figures
from rally_vmperf.measurement import finding
from rally_vmperf.questions.tuning.section import ranking
from rally_vmperf.report import export
from rally_vmperf.report import page
from tests.unit import made
from tests.unit.report import test_page

NAME = "disk.fio.randread.iops"
NOT_APPLIED = finding.Finding(
    "variant_not_applied", "g1", "hw_disk_bus=<b> was requested, g1 has ide"
)


def records(count=4, bare_metal=True):
    """Return records of ide, of virtio and of scsi, void, with a factor."""
    create = made.records if bare_metal else made.guest_records
    return [
        made.with_fields(
            record,
            question="tuning",
            conditions=tuple(
                _vary(record.repetition.conditions[0], number % 2, *variant)
                for variant in (("ide", 0.5), ("virtio", 1), ("scsi", 0.9))
            ),
            options={
                "variants": [
                    {
                        "name": "ide",
                        "image_properties": {"hw_disk_bus": "ide"},
                    },
                    {"name": "virtio"},
                    {
                        "name": "scsi",
                        "image_properties": {"hw_disk_bus": "<b>"},
                    },
                ],
                "reference": "ide",
                "idle_guests": "paused",
            },
        )
        for number, record in enumerate(
            made.few(create(count=count, warmup=0))
        )
    ]


def _vary(condition, is_odd, name, factor):
    """Return the condition of a variant."""
    factor *= 1 + 0.001 * is_odd * factor
    return dataclasses.replace(
        made.multiply(condition, factor),
        axes={"variant": name},
        findings=(NOT_APPLIED,) if name == "scsi" else (),
    )


class RankingTestCase(unittest.TestCase):
    """Variants are ranked, with and without limits."""

    def read(self, limits=None, **arguments):
        """Return the run, the text of its page and the page."""
        shown = made.run_of(records(**arguments), limits, question="tuning")
        html = page.standalone([shown])
        return shown, test_page.Reader(html).text, html

    def test_ranking(self):
        """Gains are positive, and a void variant has its reason."""
        shown, text, html = self.read()
        gain, void = shown.judgement.conclusions
        self.assertIn(gain, text)
        self.assertIn(void.partition(" (")[0], text)
        self.assertRegex(text, "hw_disk_bus=.b> was requested, g1 has ide")
        self.assertNotIn("<b> was", html)
        self.assertIn("ide: hw_disk_bus=ide", text)
        ranking = text[text.index("Place") :]
        self.assertLess(ranking.index("virtio"), ranking.index("scsi"))
        self.assertIn("gains", html)

    def test_order_of_metrics(self):
        """Metrics in which a variant differs precede the others."""
        names = ("cpu.a.rate", "memory.b.rate", "disk.c.iops")
        statuses = {
            names[0]: "undecided",
            names[1]: "not worse",
            names[2]: "better",
        }
        groups_of_changes = [
            [
                mock.Mock(
                    metric=dataclasses.replace(made.EVENTS, name=name),
                    variant="virtio",
                )
            ]
            for name in names
        ]
        judgement = mock.Mock(
            rows=[
                mock.Mock(
                    metric=change.metric,
                    figure=mock.Mock(spec=figures.Loss, names=("", "virtio")),
                )
                for (change,) in groups_of_changes
            ]
        )
        with (
            mock.patch.object(
                changes, "rank", autospec=True, return_value=groups_of_changes
            ),
            mock.patch.object(gains, "list_changes", autospec=True),
            mock.patch.object(
                changes,
                "classify",
                autospec=True,
                side_effect=lambda change: statuses[change.metric.name],
            ),
        ):
            ranked = ranking.rank(judgement)
        self.assertEqual("disk.c.iops", ranked[0][0])

    def test_the_ranking_is_the_headline(self):
        """Without limits, the verdict is not the news."""
        _, text, html = self.read()
        word = html.partition('<p class="word">')[2].partition("</p>")[0]
        self.assertRegex(word, r"^virtio instead of ide: .* \+100.0 % ")
        self.assertEqual(1, text.count("virtio instead of ide"))
        self.assertIn("No verdict: figures without limits.", text)
        limits = {"vmperf_tuning": {"min_gain_percent": {"virtio": {"*": 50}}}}
        _, text, html = self.read(limits)
        word = html.partition('<p class="word">')[2].partition("</p>")[0]
        self.assertIn("Passed: ", word)
        self.assertEqual(1, text.count("virtio instead of ide"))

    def test_bare_metal(self):
        """Each variant is compared with bare metal where there is some."""
        shown, text, _ = self.read()
        self.assertNotIn("Overhead", shown.judgements)
        table = text[text.index("Overhead of each variant") - 400 :]
        self.assertRegex(
            table, r"ide ?virtio ?scsi ?void disk.*iops 59.0 % .*17"
        )
        _, text, _ = self.read(bare_metal=False)
        self.assertNotIn("Overhead of each variant", text)

    def test_limits(self):
        """Verdicts are those of the judgements."""
        shown, text, _ = self.read(
            {
                "vmperf_tuning": {"min_gain_percent": {"virtio": {"*": 50}}},
                "vmperf_overhead": {"max_percent": {"*": 1}},
            }
        )
        self.assertEqual("passed", shown.judgements["Tuning"].status)
        self.assertIn("at least 50 %", text)
        statuses = {
            row.variant: row.status
            for row in shown.judgements["Overhead"].limited
        }
        self.assertEqual({"ide", "virtio", "scsi"}, {*statuses})
        self.assertEqual("failed", statuses["ide"])
        self.assertEqual("void", statuses["scsi"])
        lines = " ".join(verdict_table.lines(shown))
        reason = finding.KINDS["variant_not_applied"].title
        self.assertEqual(1, lines.count(f". {reason}"))
        self.assertIn(" 2 warnings: interval_one_session (2).", lines)
        self.assertIn(
            f"Closest: {NAME} of virtio, 100.0 % (least limit 50 %).", lines
        )

    def test_rows(self):
        """A void variant has its reason next to its figure."""
        shown, _, _ = self.read()
        rows = [
            json.loads(line)
            for line in "".join(
                export.render_verdicts("ndjson", [shown])
            ).splitlines()
        ]
        reasons = {
            row["condition"]: row.get("reason", "")
            for row in rows
            if row.get("figure") == "gain_over_ide"
        }
        self.assertEqual("", reasons["variant=virtio"])
        self.assertIn("g1 has ide", reasons["variant=scsi"])
