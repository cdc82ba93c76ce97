# SPDX-License-Identifier: Apache-2.0
"""The page agrees with the judgement, and escapes texts of guests."""

import dataclasses
import unittest

import ddt

from rally_vmperf.measurement import gathering
from rally_vmperf.measurement.samples import units
from rally_vmperf.questions.density.section import sentences
from rally_vmperf.report import page
from tests.unit import made
from tests.unit.report import test_page


def read(*runs):
    return test_page.Reader(page.standalone(runs))


@ddt.ddt
class PageTestCase(unittest.TestCase):
    @ddt.data(
        made.density_records(),
        made.density_records((1, 2, 4), bare_metal=(1, 2, 4)),
        made.few(
            made.broken(),
            ("cpu.bzip2.compress_time", "disk.fio.randread.iops"),
        ),
    )
    def test_figures_agree_with_the_judgement(self, records):
        shown = made.density_run(records, made.DENSITY_LIMITS)
        text = read(shown).text
        for row in shown.judgement.curves:
            begin = text.index(f"{row.metric.name} {row.status} ")
            figures_text = text[text.index("Mean guest", begin) :]
            for point in row.points:
                figures = [units.show(point.mean, row.metric.unit)]
                if point.total is not None:
                    figures.append(sentences.rate(row.metric, point.total))
                if point.loss is not None:
                    percent = units.show_percent(point.loss.overhead_percent)
                    figures.append(f"{percent} %")
                    figures.append(f"{units.show_percent(point.loss.low)} to")
                    figures.append(point.slowest.guest)
                    figures.append(f"Jain {point.fairness:.3f}")
                if point.bare_mean is not None:
                    bare = units.show(point.bare_mean, row.metric.unit)
                    figures.append(bare)
                if point.void:
                    figures.append(point.void[:60])
                for figure in figures:
                    self.assertIn(figure, figures_text[:3200])

    def test_verdicts_of_both_slas_are_shown(self):
        shown = made.density_run(made.density_records(), made.DENSITY_LIMITS)
        text = read(shown).text
        for judged in shown.judgements.values():
            headline = judged.status_sentence()
            self.assertIn(headline[0].upper() + headline[1:], text)
            for status, metric, figure in page.list_failures(judged):
                self.assertIn(f"{status} {metric}: {figure}", text)
        self.assertIn("Jain's index passed", text)
        self.assertIn("spread passed", text)

    def test_only_a_few_failures_are_listed(self):
        """The table has the others."""
        limits = {"vmperf_degradation": {"max_percent": {"*": 1}}}
        shown = made.density_run(made.density_records((1, 2, 3, 4)), limits)
        failures = [*page.list_failures(shown.judgement)]
        more = len(failures) - page.MOST_FAILURES
        self.assertGreater(more, 0)
        before, after = read(shown).text.split(f"{more} more in the table", 1)
        self.assertIn(": ".join(failures[0][1:]), before)
        self.assertNotIn(": ".join(failures[-1][1:]), before + after)

    def test_without_limits_no_verdict(self):
        text = read(made.density_run(made.density_records())).text
        self.assertIn("No verdict", text)
        self.assertNotIn("Fairness", text)
        self.assertNotIn("inconclusive: no metric", text.lower())

    def test_how_many_fit(self):
        shown = made.density_run(
            made.density_records((1, 2, 4, 8)),
            {"vmperf_degradation": {"max_percent": {"*": 60}}},
        )
        text = read(shown).text
        for row in shown.judgement.curves:
            for sentence in sentences.max_guests(row):
                self.assertIn(sentence, text)
        self.assertNotIn("Scalability", text)
        self.assertNotIn("Predicted", text)

    def test_how_many_fit_is_in_the_first_verdict(self):
        """It is one sentence for all metrics, above every chart."""
        limits = {
            "vmperf_degradation": {"max_percent": {"*": 45}},
            "vmperf_fairness": {"min_index": {"*": 0.9}},
        }
        shown = made.density_run(made.density_records((1, 2, 4, 8)), limits)
        text = read(shown).text
        sentence = (
            "At most 1 guest within all limits of losses. The first beyond "
        )
        sentence += "its limit: network.iperf3.to_peer.throughput."
        place = text.index(sentence)
        self.assertLess(place, text.index("Fairness"))
        self.assertEqual(1, text.count("within all limits"))
        without = read(made.density_run(made.density_records())).text
        self.assertNotIn("within all limits", without)

    def test_guests_have_a_table_and_no_chart(self):
        """The samples of each guest are rows."""
        source = page.standalone([made.density_run(made.density_records())])
        for name in ("Guest by guest", "heat"):
            self.assertNotIn(name, source)
        self.assertIn(">g3</td>", source)

    def test_missing_values_are_reported_by_level(self):
        text = read(made.density_run(made.broken())).text
        missing = text[text.index("Missing results") :]
        self.assertIn("5 4 incomplete disk.fio.randread.iops of g3", missing)
        self.assertIn("8 3 skipped the total fell", missing)

    def test_skew_and_overlap_are_shown(self):
        records = made.density_records()
        records[2] = made.with_start(
            records[2], 1, skew=0.25, uncertainty=0.01, overlap=0.96
        )
        text = read(made.density_run(records)).text
        self.assertIn("96.0 % (3)250 ms ± 10.0 ms (3)", text)

    def test_neighbours(self):
        """Their losses are by guests; the curve is that without them."""
        records = made.few(made.density_records((1, 2), planned_repetitions=3))
        alone = read(made.density_run(records)).text
        records = made.with_neighbours(records, 0.8)
        limits = {"vmperf_neighbours": {"max_percent": {"disk.*": 10}}}
        shown = made.density_run(records, limits)
        self.assertEqual("failed", shown.judgements["Neighbours"].status)
        text = read(shown).text
        self.assertIn("1 guest, the last, with stress_ng", text)
        table = text[text.index("Without neighbours") :]
        for guests in (1, 2):
            line = rf"better {guests}\d+\.\d+ kops/s .* 20\.0 % 10 % failed"
            self.assertRegex(table, line)
        curve = slice(alone.index("Mean guest"), alone.index("Start and"))
        self.assertIn(alone[curve], text)

    def test_levels_of_which_nothing_was_measured(self):
        records = made.with_condition(
            made.density_records(), 2, observations=(), state="incomplete"
        )
        text = read(made.density_run(records, made.DENSITY_LIMITS)).text
        self.assertIn(gathering.NO_COMPLETE_SAMPLES, text)
        records = made.with_fields(records, conditions=())
        text = read(made.density_run(records)).text
        self.assertIn("vmperf.tiny, no guests", text)

    def test_flavors_are_put_side_by_side(self):
        shown = [
            made.density_run(made.density_records((1, 2), bare_metal=(1, 2))),
            made.density_run(made.density_records((1, 2, 4))),
            test_page.judged(made.records()),
            test_page.judged(made.records(guests=2)),
        ]
        reader = read(*shown)
        text = reader.text
        self.assertIn("Degradation and overhead of guests", text)
        self.assertIn("Metric by flavor", text)
        table = text[text.index("The same host") :]
        self.assertIn("1 guest 2 guests 4 guests", table)
        self.assertIn("in 2 copies on bare metal", table)
        links = [link for name, link in reader.attributes if name == "href"]
        for number in (1, 2, 3, 4):
            self.assertIn(f"#run-{number}", links)

    def test_title_names_the_shown_run(self):
        shown = made.density_run(made.density_records())
        title = "Degradation of guests as their number grows"
        self.assertIn(f"<title>{title}</title>", page.standalone([shown]))

    def test_page_loads_no_file_and_runs_no_script(self):
        records = made.few(made.broken())
        source = page.standalone([made.density_run(records)])
        reader = test_page.Reader(source)
        for forbidden in ("script", "link", "img", "iframe", "image"):
            self.assertNotIn(forbidden, reader.tags)
        for name, value in reader.attributes:
            self.assertFalse(name.startswith("on"), name)
            if name in ("href", "src", "xlink:href"):
                self.assertRegex(value, "^(#|data:text/csv;base64,)")
        self.assertNotRegex(source, r"url\((?!#)|@import")
        embedded = page.embedded(made.density_run(records))
        self.assertNotIn("<!--", embedded)

    def test_same_page_for_same_records(self):
        first, second = (
            page.standalone([made.density_run(made.few(made.broken()))])
            for _ in range(2)
        )
        self.assertEqual(first, second)


@ddt.ddt
class HostileTestCase(unittest.TestCase):
    """Strings from machines are shown as text, whatever they contain."""

    @ddt.data(*test_page.HOSTILE)
    def test_strings_of_machines_are_text(self, hostile):
        records = test_page.encode(made.few(made.broken()), hostile)
        for record in records:
            record["bare_metal"].update(name=hostile, machine=hostile)
            for level in record["conditions"]:
                self._spoil(level, hostile)
        decoded = test_page.decode(records)
        self._check(made.density_run(decoded, made.DENSITY_LIMITS), hostile)

    @ddt.data(*test_page.HOSTILE)
    def test_metrics_and_units_are_text(self, hostile):
        records = made.few(made.density_records(bare_metal=(1, 2)))
        renamed = test_page.rename_metrics(records, hostile)
        self._check(made.density_run(renamed), hostile)

    def _check(self, shown, hostile):
        """Render it with an overview, next to an empty run."""
        other = dataclasses.replace(made.density_run([]), title=hostile)
        test_page.check(self, page.standalone([shown, other]), hostile)

    def _spoil(self, level, hostile):
        if "skip_reason" in level:
            level["skip_reason"] = hostile
            return
        for mapping in (level, level["observations"]):
            mapping["machines"] = [
                hostile if name == "g1" else name
                for name in mapping["machines"]
            ]
        level.setdefault("missing", []).append(
            {"name": hostile, "machine": hostile, "reason": hostile}
        )
        level.setdefault("findings", []).append(
            {"kind": "partial_overlap", "subject": hostile, "detail": hostile}
        )
        for start in level["synchronisation"]:
            start.update(workload=hostile, command=hostile)
