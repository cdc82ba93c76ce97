# SPDX-License-Identifier: Apache-2.0
"""The page says what the judgement says, and nothing that guests slip in."""

import dataclasses
import html.parser
import re
import unittest

import ddt

from rally_vmperf.judging import summary
from rally_vmperf.judging import verdict_table
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.comparison import rate_caps
from rally_vmperf.measurement.samples import units
from rally_vmperf.records import model
from rally_vmperf.records import sources
from rally_vmperf.report import page
from tests.unit import made
from tests.unit.measurement.samples.test_cpu_seconds import usage

LIMITS = {"vmperf_overhead": made.LIMITS}


class Reader(html.parser.HTMLParser):
    """Collects the words, tags and attributes of a page."""

    def __init__(self, source):
        super().__init__()
        self.texts, self.tags, self.attributes = [], set(), []
        self.feed(source)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def text(self):
        return re.sub(r"\s+", " ", "".join(self.texts))


def judged(records, limits=made.LIMITS):
    return made.run_of(records, {"vmperf_overhead": limits or {}})


def read(*runs):
    return Reader(page.standalone(runs))


def move(*numbers):
    """Return records of which some are of a guest on another host."""
    return [
        made.with_finding(record, "wrong_host", detail="on compute-9")
        if record.repetition.number in numbers
        else record
        for record in made.records()
    ]


class WithoutBareMetalTestCase(unittest.TestCase):
    """The title and the first sentence say what the page is about."""

    def read(self, limits):
        """Return the page of a run without bare metal."""
        return read(judged(made.guest_records(), limits))

    def test_title(self):
        page = self.read({"min": {"*.iops": 1}})
        self.assertIn("Values of guests, without bare metal", page.text)
        self.assertNotIn("over bare metal", page.text)
        self.assertIn(
            "Overhead of guests over bare metal",
            read(judged(made.records())).text,
        )

    def test_what_was_judged(self):
        page = self.read({"min": {"*.iops": 1}})
        self.assertRegex(
            page.text,
            "disk.fio.randread.iops is within its limit; "
            "([2-9] metrics have|1 metric has) no limit",
        )

    def test_all_was_judged(self):
        page = self.read({"max": {"*": 1e12}, "min": {"*": 1e-9}})
        self.assertNotIn("is judged: ", page.text)


class PromiseTestCase(unittest.TestCase):
    """The promises of a flavor, whose name is not trusted."""

    def test_table(self):
        # A guest has some 39,400 reads per second.
        cap = rate_caps.disk(
            39_400, "ops/s", "flavor <script> (reads)", direction="read"
        )
        records = [
            made.with_fields(record, rate_limits=(cap,))
            for record in made.guest_records()
        ]
        shown = read(made.run_of(records, {"vmperf_promise": {}}))
        self.assertIn("Promises", shown.text)
        # 110 and 95 % of the promise.
        for limit in ("43.34", "37.43"):
            self.assertRegex(
                shown.text,
                rf"flavor <script> \(reads\)[^<]*limit {limit} kops/s passed",
            )


@ddt.ddt
class PageTestCase(unittest.TestCase):
    @ddt.data({"guests": 1}, {"guests": 2}, {"guests": 2, "emulated": True})
    def test_figures_are_those_of_the_judgement(self, arguments):
        shown = judged(made.records(**arguments))
        text = read(shown).text
        self.assertTrue(shown.judgement.compared)
        for row in shown.judgement.compared:
            comparison, unit = row.comparison, row.metric.unit
            line = text[text.rindex("Figures") :]
            line = line[line.index(f"{row.metric.name} {row.metric.better}") :]
            for figure in (
                units.show(comparison.bare, unit),
                units.show(comparison.guest, unit),
                f"{units.show_percent(comparison.overhead_percent)} %",
                f"{units.show_percent(comparison.low)} to",
                f"{units.show_percent(comparison.high)} %",
                f"{row.limit:g} %",
                row.status,
            ):
                self.assertIn(figure, line[:220])
        for row in shown.judgement.absolute:
            value = row.to_value().value
            self.assertIn(units.show(value, row.metric.unit), text)

    @ddt.data(
        ({"max_percent": {"*": 1000}}, "Passed: "),
        ({"max_percent": {"*": 0.01}}, "Failed: "),
        ({"max_percent": {"memory.*": 4.1}}, "Inconclusive: "),
    )
    @ddt.unpack
    def test_headline_is_the_verdict(self, limits, word):
        shown = judged(made.records(), limits)
        text = read(shown).text
        headline = shown.judgement.status_sentence()
        self.assertTrue(headline.startswith(word.strip(": ").lower()))
        self.assertIn(headline[0].upper() + headline[1:], text)
        closest = verdict_table.describe_closest_limit(shown.judgement)
        self.assertIn(f"{closest}.", text)
        for status, metric, figure in page.list_failures(shown.judgement):
            self.assertIn(f"{status} {metric}: {figure}", text)

    def test_a_page_loads_nothing_and_sends_nothing(self):
        html = page.standalone([judged(made.records())])
        (policy,) = re.findall(
            r'http-equiv="Content-Security-Policy" content="([^"]*)"', html
        )
        rules = set(policy.split("; "))
        self.assertLessEqual(
            {"default-src 'none'", "base-uri 'none'", "form-action 'none'"},
            rules,
        )

    def test_cpu_seconds_beside_those_of_bare_metal(self):
        bare = usage(runs=4, seconds=40, user=4, system=4, work=20000)
        records = made.with_references(
            made.with_condition(made.records(), command_usage=(usage(),)),
            lambda _, reference: dataclasses.replace(
                reference, command_usage=(bare,)
            ),
        )
        text = read(judged(records)).text
        self.assertIn(
            "fio randread 1 + 3 s of 10 s 2 s per 1000 operations "
            "1 + 1 s of 10 s 0.4 s per 1000 operations",
            text,
        )
        self.assertNotIn("CPU seconds", read(judged(made.records())).text)

    def test_cpu_seconds_without_bare_metal(self):
        """The page has no columns for it."""
        records = made.with_condition(
            made.guest_records(), command_usage=(usage(),)
        )
        _, _, table = read(judged(records)).text.partition("CPU seconds of")
        self.assertIn(
            "Guest, per work fio randread 1 + 3 s of 10 s 2 s per 1000 "
            "operations Mean CPU",
            " ".join(table.split()),
        )

    def test_void_run_says_why(self):
        text = read(judged(move(3, 4))).text
        self.assertIn("Void: ", text)
        self.assertIn("g1: on compute-9 (repetition 3, 4)", text)

    def test_repetition_that_is_left_out_is_told(self):
        shown = judged(move(3))
        text = read(shown).text
        self.assertNotIn("Void: ", text)
        omission, *_ = shown.judgement.reasons()
        self.assertIn(omission.partition(":")[0], text)
        self.assertIn("g1: on compute-9 (repetition 3)", text)

    def test_without_limits_no_verdict(self):
        shown = judged(made.records(), None)
        text = read(shown).text
        self.assertIn("No verdict", text)
        self.assertNotIn("inconclusive: no metric", text.lower())
        value = shown.judgement.compared[0].comparison.overhead_percent
        self.assertIn(f"{units.show_percent(value)} %", text)

    def test_setting_is_in_sight(self):
        text = read(judged(made.records(guests=2))).text
        for phrase in (
            "m1.small (2 vCPUs, 2048 MiB memory, 10 GiB disk, "
            "512 MiB swap disk)",
            "QEMU 7.2.22",
            "hw:cpu_policy=dedicated",
            "debian-12",
            "g2 on compute-1",
            "kvm",
            "baseline r740, machine compute-1, recorded 2026-01-02",
            "2 CPUs and 2048 MiB for each of 2 copies",
            "peer, on the bare-metal host",
            "5 counted of 5 planned, and 1 as warm-up",
            "95 %",
        ):
            self.assertIn(phrase, text)

    def test_emulation_is_shouted_about(self):
        phrase = "these figures do not apply to KVM"
        self.assertIn(phrase, read(judged(made.records(emulated=True))).text)
        self.assertNotIn(phrase, read(judged(made.records())).text)

    def test_findings_are_explained(self):
        text = read(judged(made.records(emulated=True))).text
        kind = finding.KINDS["emulated_guest"]
        for phrase in (kind.title, kind.why, kind.remedy, "runs under TCG"):
            self.assertIn(phrase, text)

    def test_warnings_are_as_many_as_on_the_console(self):
        """Warnings about the system count as one on both."""
        records = made.records(guests=2)
        for kind in ("kernel_differs", "mitigations_differ"):
            for name in ("g1", "g2"):
                records = made.with_finding(records, kind, name)
        shown = judged(records)
        lines = " ".join(verdict_table.lines(shown))
        number = re.search(r"\b(\d+) warnings: ", lines)[1]
        kinds = finding.count_warnings(shown.findings)
        self.assertIn([*kinds][-1], lines)
        self.assertIn(
            f"{number} warnings of {len(kinds)} kinds.", read(shown).text
        )

    def test_tolerated_findings_are_named_with_the_verdict(self):
        """A reader of a pass sees what would have voided it."""
        records = made.with_finding(made.records(), "bare_metal_busy")
        sentence = "Tolerated, void otherwise: bare_metal_busy."
        for tolerate in ([], ["bare_metal_busy"]):
            shown = judged(records, {**made.LIMITS, "tolerate": tolerate})
            check = self.assertIn if tolerate else self.assertNotIn
            check(sentence, "\n".join(verdict_table.lines(shown)))
            check(sentence, read(shown).text)
            check(sentence[1:-1], shown.headline)

    def test_severity_in_this_case(self):
        """Another version of a load generator is only a warning."""
        records = made.with_finding(
            made.records(),
            "tool_version_differs",
            severity_override="warning",
        )
        title = finding.KINDS["tool_version_differs"].title
        self.assertIn(f"warning {title}", read(judged(records)).text)

    def test_sign_convention_is_stated(self):
        text = read(judged(made.records())).text
        self.assertIn("If it is positive, the guest is worse", text)

    def test_what_is_missing_is_told(self):
        records = made.records()
        records[3] = made.incomplete(records[3])
        shown = judged([*records[:-1], None])
        self.assertIn(shown.judgement.missing.sentence()[1:], read(shown).text)

    def test_warm_up_stays_in_the_samples(self):
        self.assertIn("1 (warm-up)", read(judged(made.records())).text)

    def test_nothing_measured_is_said(self):
        for records in ([], [None, None]):
            text = read(judged(records)).text
            self.assertIn("Void: nothing was measured", text)
            self.assertIn("no repetition has a readable record", text)
        self.assertIn("There are no runs", read().text)

    def test_machines_that_say_nothing_are_shown(self):
        records = made.redescribe(
            made.with_fields(made.records(), machines=(made.machine("g1"),)),
            dict.clear,
        )
        text = read(judged(records)).text
        self.assertIn("g1 on an unknown host", text)

    def test_missing_file_of_the_machines_is_said(self):
        records = made.records()
        file = dataclasses.replace(records[-1].machines_file, sha256="0" * 64)
        records[-1] = made.with_fields(records[-1], machines_file=file)
        shown = judged(records)
        text = read(shown).text
        self.assertEqual("2 CPUs, 1 guest", shown.title)
        self.assertIn("g1 on compute-1", text)
        phrase = "The facts about the machines are missing"
        self.assertRegex(text, f"{phrase}: .*its checksum differs")
        self.assertNotIn(phrase, read(judged(made.records())).text)

    def test_bare_metal_is_described_beside_the_guests(self):
        records = made.records()
        bare_metal = dataclasses.replace(
            records[-1].bare_metal, fingerprint={"kernel": "6.12.1-metal"}
        )
        records[-1] = made.with_fields(records[-1], bare_metal=bare_metal)
        text = read(judged(records)).text
        self.assertIn("compute-1 (bare metal)", text)
        self.assertIn("6.12.1-metal", text)

    def test_absolute_limits_are_told_with_their_interval(self):
        limits = {
            "max": {"disk.*.p99": 0.005, "network.*.retransmits": 100},
            "min": {"disk.*.iops": 10},
        }
        shown = judged(made.records(), limits)
        text = read(shown).text
        self.assertIn(shown.judgement.status_sentence()[1:], text)
        table = text[text.index("Absolute limits") :]
        for row in shown.judgement.absolute:
            unit = row.metric.unit
            line = table[table.index(row.metric.name) :][:300]
            value = row.to_value()
            self.assertIn(units.show(value.value, unit), line)
            self.assertIn(units.show(row.limit, unit), line)
            if value.low is not None:
                self.assertIn(f"{units.show(value.low, unit)} to", line)
        self.assertIn("at least 10.0 ops/s", table)

    def test_page_needs_nothing_else_and_runs_nothing(self):
        source = page.standalone([judged(made.records())])
        reader = Reader(source)
        self.assertNotIn("script", reader.tags)
        for forbidden in ("link", "img", "iframe", "object", "image"):
            self.assertNotIn(forbidden, reader.tags)
        for name, value in reader.attributes:
            self.assertFalse(name.startswith("on"), name)
            if name in ("href", "src", "xlink:href"):
                self.assertRegex(value, "^(#|data:text/csv;base64,)")
        self.assertNotRegex(source, r"url\((?!#)|@import")

    def test_comments_would_break_rallys_script(self):
        source = page.embedded(judged(made.records()))
        self.assertNotIn("<!--", source)

    def test_same_page_for_same_records(self):
        first = page.standalone([judged(made.records())])
        self.assertEqual(first, page.standalone([judged(made.records())]))

    def test_several_runs_are_put_side_by_side(self):
        small, other = judged(made.records()), judged(made.records(guests=2))
        text = read(small, other, small).text
        overview = text[: text.index("Overhead in percent of bare metal with")]
        self.assertIn("m1.small, 1 guestinconclusive", overview)
        self.assertIn("m1.small, 1 guest (2)", overview)
        for run in (small, other):
            for row in run.judgement.compared:
                value = row.comparison.overhead_percent
                self.assertIn(f"{units.show_percent(value)} %", overview)


HOSTILE = (
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "\"><img src=x onerror='alert(1)'>",
    "\x1b[31mred\x1b]0;title\x07",
    "\N{RIGHT-TO-LEFT OVERRIDE}reversed",
    "{{ 7 * 7 }}",
)


def encode(records, text):
    """Return documents of records whose guests say a hostile text."""

    def spoil(details):
        guest = details["g1"]
        guest["fingerprint"] = {text: text, "virtualisation": text}
        guest["tools"] = {text: {"version": text}}
        guest["nova"].update(
            host=text,
            hypervisor=text,
            hypervisor_version=text,
            image={"name": text},
        )
        guest["nova"]["flavor"]["name"] = text

    return [*map(made.document, made.redescribe(records, spoil))]


def decode(documents):
    """Return the records in documents."""
    return [*map(model.decode, documents)]


def rename_metrics(records, text):
    """Return records in which a text is in all names and units of metrics."""

    def rename(metric):
        return dataclasses.replace(
            metric, name=f"{metric.name}.{text}", unit=text
        )

    return made.with_metrics(records, rename)


def check(case, source, text):
    """Fail when hostile words are more than text on a page."""
    reader = Reader(source)
    case.assertNotIn("img", reader.tags)
    case.assertNotIn("script", reader.tags)
    for letter in "\x1b\x07\N{RIGHT-TO-LEFT OVERRIDE}":
        case.assertNotIn(letter, source)
    if text.isprintable():
        case.assertIn(text, reader.text)


@ddt.ddt
class HostileTestCase(unittest.TestCase):
    """Strings of machines are shown as text."""

    @ddt.data(*HOSTILE)
    def test_strings_of_machines_are_text(self, text):
        records = encode(made.records(), text)
        for record in records:
            record["machines"][1].update(host=text, name=text)
            record["bare_metal"]["fingerprint"] = {text: text}
            record["bare_metal"]["name"] = text
            record["workloads"][0]["arguments"] = {text: [text]}
            record["software"] = {text: text}
            record["findings"].append(
                {"kind": "steal_time", "subject": text, "detail": text}
            )
            record["missing"] = [
                {"name": text, "machine": text, "reason": text}
            ]
            record["conditions"][0]["machines"] = [text]
        check(self, page.standalone([judged(decode(records))]), text)

    @ddt.data(*HOSTILE)
    def test_metrics_and_units_are_text(self, text):
        records = rename_metrics(made.records(), text)
        check(self, page.standalone([judged(records)]), text)


def read_text(shown):
    """Return the text of the page of a run."""
    return Reader(page.standalone([shown])).text


class VoidTestCase(unittest.TestCase):
    """A void run has its reasons before the number of metrics."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.shown = made.run_of(move(3, 4), LIMITS)

    def test_reasons_and_remedies_are_first(self):
        kind = finding.KINDS["wrong_host"]
        (banner,) = page.list_banners(self.shown)
        self.assertEqual(
            "Void: the samples do not measure what they claim.",
            banner.headline,
        )
        (reason,) = banner.reasons
        self.assertEqual(
            (f"{kind.title} (g1: on compute-9).", [kind.remedy]), reason
        )
        text = read_text(self.shown)
        places = [
            text.index(phrase)
            for phrase in (
                banner.headline,
                f"{reason[0]} What to do: {kind.remedy}",
                banner.count,
                "Figures",
            )
        ]
        self.assertEqual(sorted(places), places)

    def test_the_metrics_are_one_line(self):
        """Their figures are in the table only."""
        (banner,) = page.list_banners(self.shown)
        self.assertEqual(
            "7 metrics cannot be judged: cpu.events.rate, cpu.latency.p95, "
            "memory.mbw.memcpy.bandwidth, and 4 more.",
            banner.count,
        )
        self.assertEqual([], banner.failures)

    def test_nothing_measured(self):
        """The headline is the reason."""
        (banner,) = page.list_banners(made.run_of([None], LIMITS))
        self.assertEqual("", banner.count)
        self.assertIn("Void: nothing was measured.", banner.headline)


class SharedReasonTestCase(unittest.TestCase):
    """A reason that concerns several criteria stands once."""

    def test_overlap(self):
        """Both verdicts of density omit the same samples."""
        records = made.density_records((1, 3))
        overlap = made.build_findings("partial_overlap", made.IOPS.name)
        for place in (2, 3):
            records[place] = made.with_condition(
                records[place], 1, findings=overlap
            )
        shown = made.density_run(records, made.DENSITY_LIMITS)
        first, second = page.list_banners(shown)
        ((reason, remedies),) = first.reasons
        self.assertIn("Void samples are omitted: ", reason)
        self.assertEqual([], remedies)
        self.assertFalse(first.has_repeated)
        self.assertEqual([], second.reasons)
        self.assertTrue(second.has_repeated)
        text = read_text(shown)
        self.assertEqual(1, text.count(reason))
        self.assertEqual(1, text.count("Reasons in the first verdict"))

    def test_a_missing_figure(self):
        """Metrics without a figure for one reason are one line."""
        limits = {"vmperf_fairness": {"min_index": {"*": 0.9}}}
        records = made.density_records((1,))
        shown = made.density_run(records, limits)
        failures = page.list_failures(shown.judgements["Fairness"])
        texts = [failure.text for failure in failures]
        self.assertEqual(len(set(texts)), len(texts))
        self.assertLess(
            len(failures), len(shown.judgements["Fairness"].limited)
        )

    def test_figures_are_not_joined(self):
        """Each metric that fails has its line, however equal figures are."""
        shown = made.run_of(
            made.records(), {"vmperf_overhead": {"max_percent": {"*": 0.01}}}
        )
        failures = page.list_failures(shown.judgement)
        self.assertEqual(
            [
                row.metric_title
                for row in shown.judgement.limited
                if row.status == "failed"
            ],
            [each.metrics for each in failures if each.status == "failed"],
        )
        self.assertRegex(failures[0].text, r"^[0-9.]+ % \(limit 0.01 %\)$")


class EndTestCase(unittest.TestCase):
    """Rally's criteria and the version of the rules are at the end."""

    def test_rules(self):
        text = read_text(made.run_of(made.records(), LIMITS)).strip()
        self.assertTrue(text.endswith(summary.RULES))
        self.assertEqual(1, text.count("Judged by"))

    def test_criteria_of_rally(self):
        """One that failed is a verdict, and stays with the verdicts."""
        results = [
            sources.RallySlaResult(
                criterion=f"failure_{success}", success=success, detail="x"
            )
            for success in (True, False)
        ]
        shown = dataclasses.replace(
            made.run_of(made.records(), LIMITS), sla_results=tuple(results)
        )
        text = read_text(shown)
        self.assertLess(text.index("failure_False"), text.index("Figures"))
        self.assertGreater(text.index("failure_True"), text.index("Samples"))
