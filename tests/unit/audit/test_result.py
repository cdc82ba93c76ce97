# SPDX-License-Identifier: Apache-2.0
"""Tests of the result of an audit, its table, rows and page."""

import datetime
import json
import pathlib
import re
import unittest

import ddt
import jsonschema

from rally_vmperf import errors
from rally_vmperf.audit import acknowledged
from rally_vmperf.audit import host_table
from rally_vmperf.audit import page
from rally_vmperf.audit import result
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.records import table as records_table
from rally_vmperf.report import export
from tests.unit.audit import made

SCHEMA = json.loads(
    pathlib.Path(records_table.__file__).with_name("table.json").read_text()
)
DAY = datetime.date(2026, 3, 4)


def acknowledge(host, metrics="*", loss_percent=100.0):
    """Return acknowledgements with one known difference."""
    entry = acknowledged.Acknowledgement(
        host=host,
        metrics=metrics,
        loss_percent=loss_percent,
        until=DAY,
        reason="old disks",
    )
    return acknowledged.Acknowledgements([entry], DAY)


def run(*hosts, **options):
    """Return the result of an audit with the default margins."""
    return result.audit(hosts, verdict.Limits({}), **options)


def healthy(*names):
    """Return hosts that are equal to each other."""
    return [made.host(name) for name in names]


@ddt.ddt
class TestResult(unittest.TestCase):
    """One status per host, and one verdict."""

    def statuses(self, audit):
        return {
            host_result.host.name: host_result.status
            for host_result in audit.results
        }

    def test_worse(self):
        """It is first, and the audit does not pass."""
        audit = run(
            *healthy("a", "b"), made.host("c", 0.8), made.host("d", 0.7)
        )
        self.assertEqual(["d", "c"], [*self.statuses(audit)][:2])
        self.assertFalse(audit.passed)
        self.assertEqual("4 hosts: 2 worse, 2 not worse", audit.headline)

    def test_not_worse(self):
        """The audit passes."""
        audit = run(*healthy("a", "b", "c"))
        self.assertTrue(audit.passed)
        self.assertEqual("3 hosts: 0 worse, 3 not worse", audit.headline)

    def test_undecided(self):
        """It is stated, and passes without a limit."""
        audit = run(*healthy(*"abcdefgh"), made.host("x", 0.95))
        self.assertEqual("undecided", self.statuses(audit)["x"])
        self.assertTrue(audit.passed)

    def test_no_result(self):
        """Never passes."""
        broken = made.host("x", means={}, reason="no guest booted")
        audit = run(*healthy("a", "b"), broken)
        self.assertEqual("no result", self.statuses(audit)["x"])
        self.assertFalse(audit.passed)
        accepted = run(*healthy("a", "b"), broken, accepted=acknowledge("x"))
        self.assertEqual("acknowledged", self.statuses(accepted)["x"])
        self.assertTrue(accepted.passed)
        for known in (acknowledge("x", "disk.*"), acknowledge("x", "*", 99)):
            audit = run(*healthy("a", "b"), broken, accepted=known)
            self.assertFalse(audit.passed)

    def test_too_few_repetitions(self):
        """A host with too few repetitions has no result."""
        few = {made.figure(): made.mean(values=(1.0, 2.0))}
        audit = run(*healthy("a", "b"), made.host("x", means=few))
        self.assertEqual("no result", self.statuses(audit)["x"])
        self.assertIn("requires 3 repetitions", audit.results[0].host.reason)

    def test_lost_metric(self):
        """It is incomplete, and never passes."""
        both = (made.RATE, made.TIME)
        fleet = [made.host(name, metrics=both) for name in "ab"]
        lost = {made.figure(made.TIME)}
        audit = run(*fleet, made.host("x", expected=lost))
        self.assertEqual("incomplete", self.statuses(audit)["x"])
        self.assertFalse(audit.passed)
        self.assertIn(
            "missing: cpu.bzip2.compress_time (m1.small): not measured",
            host_table.describe(audit.results[0]),
        )
        accepted = run(
            *fleet,
            made.host("x", expected=lost),
            accepted=acknowledge("x", "cpu.b*"),
        )
        self.assertEqual("acknowledged", self.statuses(accepted)["x"])

    def test_alone_in_its_class(self):
        """A host without others of its class does not pass."""
        audit = run(*healthy("a", "b"), made.host("x", cpu_model="ARM"))
        self.assertEqual("not compared", self.statuses(audit)["x"])
        self.assertFalse(audit.passed)
        self.assertTrue(audit.is_compared)
        self.assertFalse(run(made.host("x")).is_compared)

    def test_acknowledged(self):
        """A known difference passes, and others of the host do not."""
        both = (made.RATE, made.TIME)
        fleet = [made.host(name, metrics=both) for name in "ab"]
        slow = made.host("x", 0.8, metrics=both)
        audit = run(*fleet, slow, accepted=acknowledge("x"))
        self.assertEqual("acknowledged", self.statuses(audit)["x"])
        self.assertTrue(audit.passed)
        self.assertIn(
            "old disks (until 2026-03-04)",
            host_table.describe(
                next(
                    host_result
                    for host_result in audit.results
                    if host_result.host.name == "x"
                )
            ),
        )
        audit = run(*fleet, slow, accepted=acknowledge("x", "*.rate"))
        self.assertEqual("worse", self.statuses(audit)["x"])

    def test_notes(self):
        """They have expired entries, unknown hosts and hosts that are gone."""
        entry = acknowledged.Acknowledgement(
            host="a", metrics="*", loss_percent=9, until=DAY, reason="old"
        )
        later = DAY + datetime.timedelta(days=1)
        accepted = acknowledged.Acknowledgements([entry], later)
        audit = run(
            *healthy("a", "b"),
            accepted=accepted,
            earlier=healthy("a", *"rstuvw"),
        )
        self.assertEqual(
            (
                *accepted.list_expired(),
                "only in the earlier audit: r, s, t, u, v and 1 more",
            ),
            audit.notes,
        )
        self.assertEqual(2, len(audit.notes))

    def test_earlier(self):
        """A host that became slower is worse; versions that differ help."""
        now = [
            made.host(
                name, 0.8, versions={"hypervisor": "QEMU 9", "Nova": "1"}
            )
            for name in "ab"
        ]
        before = [
            made.host(name, versions={"hypervisor": "QEMU 8", "Nova": "1"})
            for name in "ab"
        ]
        audit = run(*now, earlier=before)
        self.assertEqual({"a": "worse", "b": "worse"}, self.statuses(audit))
        self.assertEqual(
            "slower than before: cpu.sysbench.rate (m1.small) 20.0 %; "
            "hypervisor QEMU 8 -> QEMU 9",
            host_table.describe(audit.results[0]),
        )

    def test_capacity(self):
        """Too few guests do not pass."""
        number = {"m1.large": made.guests(4, high=4)}
        fleet = [made.host(name, capacities=number) for name in "ab"]
        self.assertTrue(run(*fleet, required={"m1.large": 8}).passed)
        self.assertFalse(run(*fleet, required={"m1.large": 9}).passed)
        with self.assertRaises(errors.VMPerfError):
            run(*fleet, required={"x": 9})


@ddt.ddt
class TestTable(unittest.TestCase):
    """A line per host, the worst first."""

    def setUp(self):
        super().setUp()
        number = {"m1.large": made.guests(4)}
        self.audit = run(
            *healthy("a", "b"),
            made.host("<c>", 0.8, capacities=number, verdicts={"x": "failed"}),
            made.host("d", means={}, reason="no guest booted"),
            required={"m1.large": 5},
        )

    def test_lines(self):
        """The capacity and the headline follow the hosts."""
        lines = [*host_table.list_lines(self.audit)]
        self.assertRegex(
            lines[1],
            r"^<c>   worse      >= 4    failed  2026-03-04  "
            r"cpu.sysbench.rate \(m1.small\) 20.\d %$",
        )
        self.assertRegex(lines[2], r"^d     no result .* no guest booted$")
        self.assertEqual(
            "4 hosts: 1 worse, 1 without a result, 2 not worse.", lines[6]
        )
        self.assertIn("fewer than the required 5.", lines[7])

    def test_many_metrics(self):
        """Three are named, the others are counted."""
        metrics = [
            made.RATE.__class__(f"m{number}.rate", "1/s", "higher")
            for number in range(5)
        ]
        fleet = [made.host(name, metrics=metrics) for name in "ab"]
        audit = run(*fleet, made.host("x", 0.8, metrics=metrics))
        self.assertIn("2 more", host_table.describe(audit.results[0]))

    def test_several_flavors(self):
        """They are named with their numbers."""
        host = made.host(
            "a",
            capacities={"s": made.guests(4), "l": made.guests(2, high=2)},
        )
        self.assertEqual(">= 4 s, 2 l", host_table.describe_guests(host))

    def test_rows(self):
        """Match the schema of the flat table."""
        rows = [row.as_document() for row in host_table.list_rows(self.audit)]
        for row in rows:
            jsonschema.validate(row, SCHEMA)
        verdicts = {
            row["host"]: row["status"]
            for row in rows
            if row["row"] == "verdict"
        }
        self.assertEqual(
            {"<c>": "failed", "d": "void", "a": "passed", "b": "passed"},
            verdicts,
        )
        (loss,) = (
            row
            for row in rows
            if row.get("host") == "<c>" and row["row"] == "figure"
        )
        self.assertEqual(
            ("loss_to_other_hosts", "failed", 5.0),
            (loss["figure"], loss["status"], loss["limit"]),
        )
        self.assertAlmostEqual(20.0, loss["value"])
        self.assertEqual("flavor=m1.small", loss["condition"])

    @ddt.data("csv", "json", "junit", "openmetrics")
    def test_formats(self, name):
        """They have each host with its loss."""
        text = "".join(
            export.load_format(name).render(
                lambda: host_table.list_rows(self.audit)
            )
        )
        for host in ("a", "b", "d"):
            self.assertRegex(text, rf"\b{host}\b")
        self.assertIn("loss_to_other_hosts", text)

    def test_openmetrics_hosts(self):
        """They are labels, so that series of hosts differ."""
        text = "".join(
            export.load_format("openmetrics").render(
                lambda: host_table.list_rows(self.audit)
            )
        )
        lines = [
            line.rsplit(" ", 2)[0]
            for line in text.splitlines()
            if not line.startswith("#")
        ]
        self.assertEqual(len(lines), len(set(lines)))
        self.assertIn('host="a"', text)

    def test_junit_hosts(self):
        """They are in the names of test cases."""
        text = "".join(
            export.load_format("junit").render(
                lambda: host_table.list_rows(self.audit)
            )
        )
        self.assertIn('name="d: verdict"', text)
        self.assertIn('name="a: cpu.sysbench.rate', text)

    def test_json(self):
        """It is valid, with the capacity."""
        text = "".join(
            export.load_format("json").render(
                lambda: host_table.list_rows(self.audit)
            )
        )
        rows = json.loads(text)["rows"]
        self.assertEqual("guests_within_limits", rows[0]["figure"])
        self.assertEqual((4.0, 5.0), (rows[0]["value"], rows[0]["limit"]))
        self.assertEqual("failed", rows[0]["status"])


class TestPage(unittest.TestCase):
    """A page without scripts, with a strip per metric."""

    def test_page(self):
        """Names the worse hosts, and escapes what clouds report."""
        audit = run(
            *healthy(*"abcd"),
            made.host("<b>", 0.8),
            made.host("none", means={}, reason="<i>no guest</i>"),
            earlier=healthy("gone"),
        )
        html = page.render(audit)
        self.assertNotIn("<script", html)
        self.assertNotIn("<i>no", html)
        self.assertIn("&lt;b&gt;: 20.", html)
        self.assertIn("&lt;i&gt;no guest", html)
        self.assertIn(
            "6 hosts: 1 worse, 1 without a result, 4 not worse", html
        )
        self.assertIn("only in the earlier audit: gone.", html)
        (plain,) = re.findall(r'<path class="none" d="([^"]*)"', html)
        self.assertEqual(4, plain.count("M"))
        (worse,) = re.findall(r'<path class="failed" d="([^"]*)"', html)
        self.assertEqual(1, worse.count("M"))

    def test_marks_beyond_the_ends(self):
        """They stay inside the strip."""
        audit = run(*healthy("a", "b"), made.host("x", 0.01))
        places = re.findall(r"M(-?\d+) ", page.render(audit))
        self.assertTrue(places)
        for place in places:
            self.assertTrue(0 < int(place) < 1000)

    def test_many_hosts(self):
        """Hosts that are not worse are listed without rows."""
        names = [f"compute{number:04}" for number in range(page.MOST_ROWS + 3)]
        html = page.render(run(*healthy(*names), made.host("x", 0.8)))
        self.assertIn("4 more hosts that are not worse", html)
        self.assertIn(names[-1], html)
        self.assertIn('<th scope="row" role="rowheader">x</th>', html)

    def test_strips(self):
        """Strips with worse hosts are first."""
        both = (made.RATE, made.TIME)
        fleet = [made.host(name, metrics=both) for name in "abc"]
        slow = made.host(
            "x",
            means={
                **fleet[0].means,
                made.figure(made.TIME): made.mean(2.0, metric=made.TIME),
            },
        )
        strips = page.list_strips(run(*fleet, slow).changes)
        self.assertEqual(
            [made.TIME, made.RATE], [strip.figure.metric for strip in strips]
        )

    def test_nothing_to_compare(self):
        """No chart is drawn."""
        html = page.render(run(made.host("a")))
        self.assertNotIn('strips" role', html)
        self.assertIn("not compared", html)
