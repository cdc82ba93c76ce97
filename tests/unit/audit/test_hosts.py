"""Tests of the comparison of hosts."""

import unittest

from rally_vmperf.audit import hosts
from rally_vmperf.measurement.comparison import limits
from tests.unit.audit import made

NO_MARGINS = limits.Limits({})


class TestCompareHosts(unittest.TestCase):
    """Each host is compared with the others of its class."""

    def compare(self, *fleet, margins=NO_MARGINS):
        changes = hosts.compare_hosts(fleet, margins)
        return {
            (change.host, change.figure.metric): change for change in changes
        }

    def statuses(self, *fleet, **options):
        changes = self.compare(*fleet, **options)
        return {name: change.status for (name, _), change in changes.items()}

    def test_slow_host(self):
        """It is worse; the others are equal."""
        fleet = [made.host("a", 0.8), *(made.host(name) for name in "bcd")]
        expected = {"a": "worse", "b": "better", "c": "better", "d": "better"}
        self.assertEqual(expected, self.statuses(*fleet))
        # The place in the list does not matter.
        self.assertEqual(expected, self.statuses(*fleet[::-1]))

    def test_two_hosts(self):
        """They are compared with each other."""
        statuses = self.statuses(made.host("a", 0.8), made.host("b"))
        self.assertEqual({"a": "worse", "b": "better"}, statuses)

    def test_reference(self):
        """It is the mean of all others."""
        changes = self.compare(
            made.host("a", 0.8), made.host("b"), made.host("c", 1.21)
        )
        change = changes["a", made.RATE]
        self.assertAlmostEqual(1.1, change.reference / made.sums().mean)
        self.assertAlmostEqual(0.8, change.value / made.sums().mean)

    def test_classes(self):
        """A host is not compared with another class."""
        changes = self.compare(
            made.host("a", 0.5, machine_class="old"), made.host("b")
        )
        for change in changes.values():
            self.assertIsNone(change.decision)
            self.assertIn("no samples of other hosts", change.reason)

    def test_other_settings(self):
        """Figures of another test are not compared."""
        other = {made.figure(setting="longer"): made.sums(0.5)}
        changes = self.compare(made.host("a", sums=other), made.host("b"))
        self.assertEqual(
            {None}, {change.decision for change in changes.values()}
        )

    def test_lost_metric(self):
        """It is a change without a decision, with the reason."""
        both = (made.RATE, made.TIME)
        lost = made.figure(made.TIME)
        void = {lost: "void: it was noisy"}
        changes = self.compare(
            made.host("a", expected={lost}),
            made.host("b", expected={lost}, absences=void),
            made.host("c", metrics=both),
            made.host("d", metrics=both),
        )
        change = changes["a", made.TIME]
        self.assertEqual((None, "not measured"), (change.value, change.reason))
        self.assertEqual("undecided", change.status)
        self.assertEqual("void: it was noisy", changes["b", made.TIME].reason)

    def test_optional_metric(self):
        """A percentile of too few values is not lost."""
        both = (made.RATE, made.TIME)
        changes = self.compare(
            made.host("a", absences={made.figure(made.TIME): "few values"}),
            made.host("b", metrics=both),
            made.host("c", metrics=both),
        )
        self.assertNotIn(("a", made.TIME), changes)

    def test_other_level(self):
        """A level that a host did not reach is not lost."""
        high = {made.figure(condition="guests 8"): made.sums()}
        low = {made.figure(condition="guests 1"): made.sums()}
        changes = hosts.compare_hosts(
            [
                made.host("a", sums=low),
                made.host("b", sums={**low, **high}),
                made.host("c", sums={**low, **high}),
            ],
            NO_MARGINS,
        )
        self.assertEqual(
            [("guests 1", "a")],
            [
                (change.figure.condition, change.host)
                for change in changes
                if change.host == "a"
            ],
        )

    def test_margins(self):
        """Apply by metric."""
        fleet = made.host("a", 0.8), made.host("b")
        margins = limits.Limits({"cpu.*": 30.0})
        self.assertEqual("equal", self.statuses(*fleet, margins=margins)["a"])

    def test_few_repetitions(self):
        """They are the reason why nothing is decided."""
        few = {made.figure(): made.sums(0.5, (1.0, 1.1))}
        change = self.compare(made.host("a", sums=few), made.host("b"))[
            "a", made.RATE
        ]
        self.assertIn("requires 3 repetitions", change.reason)
        self.assertEqual("undecided", change.status)

    def test_titles(self):
        """Name metric, flavor and condition."""
        self.assertEqual(
            "cpu.sysbench.rate (m1.small, guests 2)",
            made.figure(condition="guests 2").title,
        )
        bare = made.figure()._replace(flavor="")
        self.assertEqual("cpu.sysbench.rate", bare.title)


class TestEarlier(unittest.TestCase):
    """Each host is compared with itself."""

    def compare(self, now, before):
        changes = hosts.compare_with_earlier(now, before, NO_MARGINS)
        return {change.host: change.status for change in changes}

    def test_slower(self):
        """It is worse, whatever the other hosts are."""
        statuses = self.compare(
            [made.host("a", 0.8), made.host("b"), made.host("new")],
            [made.host("a"), made.host("b"), made.host("gone")],
        )
        self.assertEqual({"a": "worse", "b": "equal"}, statuses)

    def test_all_slower(self):
        """It is found, although the hosts are equal to each other."""
        names = "abcd"
        statuses = self.compare(
            [made.host(name, 0.8) for name in names],
            [made.host(name) for name in names],
        )
        self.assertEqual(dict.fromkeys(names, "worse"), statuses)
