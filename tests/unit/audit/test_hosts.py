# SPDX-License-Identifier: Apache-2.0
"""Tests of the comparison of hosts."""

import math
import unittest

import ddt

from rally_vmperf.audit import hosts
from rally_vmperf.measurement.comparison import verdict
from tests.unit.audit import made

NO_MARGINS = verdict.Limits({})


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
        expected = {"a": "worse", "b": "equal", "c": "equal", "d": "equal"}
        self.assertEqual(expected, self.statuses(*fleet))
        # The place in the list does not matter.
        self.assertEqual(expected, self.statuses(*fleet[::-1]))

    def test_two_hosts(self):
        """Neither is named worse: they differ, or they are equal."""
        for factor in (0.8, 1.25):
            changes = self.compare(made.host("a", factor), made.host("b"))
            self.assertEqual(
                [("differ", "b"), ("differ", "a")],
                [(change.status, change.peer) for change in changes.values()],
            )
        statuses = self.statuses(made.host("a"), made.host("b"))
        self.assertEqual({"a": "equal", "b": "equal"}, statuses)
        # A host with too few repetitions does not make them three.
        few = {made.figure(): made.mean(values=(1.0, 2.0))}
        statuses = self.statuses(
            made.host("x", means=few), made.host("a", 0.8), made.host("b")
        )
        self.assertEqual(
            {"x": "undecided", "a": "differ", "b": "differ"}, statuses
        )

    def test_reference(self):
        """It is the median of the others; of three hosts, that of all."""
        factors = dict(zip("abcde", (0.8, 1.0, 1.21, 1.0, 3.0), strict=True))
        for number, expected in (
            (3, {"a": 1.0, "b": 1.0, "c": 1.0}),
            (4, {"a": 1.0, "b": 1.0, "c": 1.0, "d": 1.0}),
            (5, {"a": 1.1, "b": 1.1, "c": 1.0, "d": 1.1, "e": 1.0}),
        ):
            names = "abcde"[:number]
            changes = self.compare(
                *(made.host(name, factors[name]) for name in names)
            )
            usual = math.exp(made.mean().center)
            for name, factor in expected.items():
                change = changes[name, made.RATE]
                self.assertAlmostEqual(factor, change.reference / usual)
                self.assertAlmostEqual(factors[name], change.value / usual)

    def test_reference_of_a_lost_metric(self):
        """It is the median of all that have it, also of two."""
        lost = {made.figure(made.TIME)}
        both = (made.RATE, made.TIME)
        change = self.compare(
            made.host("a", expected=lost),
            made.host("b", metrics=both),
            made.host("c", 4.0, metrics=both),
        )["a", made.TIME]
        usual = math.exp(made.mean(metric=made.TIME).center)
        self.assertAlmostEqual(0.5, change.reference / usual)
        self.assertEqual("", change.peer)

    def test_classes(self):
        """A host is not compared with another class."""
        changes = self.compare(
            made.host("a", 0.5, cpu_model="old"), made.host("b")
        )
        for change in changes.values():
            self.assertIsNone(change.decision)
            self.assertIn("no samples of other hosts", change.reason)
        changes = self.compare(made.host("a", 0.5, cpus=32), made.host("b"))
        self.assertIsNone(changes["a", made.RATE].decision)

    def test_other_settings(self):
        """Figures of another test are not compared."""
        other = {made.figure(setting="longer"): made.mean(0.5)}
        changes = self.compare(made.host("a", means=other), made.host("b"))
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
        high = {made.figure(condition="guests 8"): made.mean()}
        low = {made.figure(condition="guests 1"): made.mean()}
        changes = hosts.compare_hosts(
            [
                made.host("a", means=low),
                made.host("b", means={**low, **high}),
                made.host("c", means={**low, **high}),
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
        fleet = made.host("a", 0.8), *map(made.host, "bc")
        margins = verdict.Limits({"cpu.*": 30.0})
        self.assertEqual("equal", self.statuses(*fleet, margins=margins)["a"])

    def test_deciding(self):
        """Metrics decide that have a margin, or a limit in the run."""
        fleet = [made.host(name) for name in "abc"]
        margins = verdict.Limits({"cpu.*": 30.0})
        for change in self.compare(*fleet).values():
            self.assertFalse(change.decides)
        for change in self.compare(*fleet, margins=margins).values():
            self.assertTrue(change.decides)
        limited = made.host("d", limited={made.RATE.name})
        changes = self.compare(*fleet, limited)
        self.assertTrue(changes["d", made.RATE].decides)
        self.assertFalse(changes["a", made.RATE].decides)

    def test_few_repetitions(self):
        """They are the reason why nothing is decided."""
        few = {made.figure(): made.mean(0.5, (1.0, 1.1))}
        change = self.compare(made.host("a", means=few), made.host("b"))[
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


@ddt.ddt
class TestHardware(unittest.TestCase):
    """A host that lost CPUs or memory is found."""

    def losses(self, fleet, earlier=()):
        return hosts.list_hardware_losses(fleet, earlier)

    def test_others_of_the_model(self):
        """Most hosts have more."""
        fleet = [made.host(f"h{number}") for number in range(7)]
        losses = self.losses([*fleet, made.host("x", cpus=32)])
        self.assertEqual(
            {"x": {"32 CPUs; 7 hosts of this CPU model have 64": 50.0}},
            losses,
        )

    def test_memory(self):
        """It may differ by what the firmware keeps."""
        fleet = [
            made.host(f"h{number}", memory_mib=524288 - 512 * number)
            for number in range(7)
        ]
        self.assertEqual({}, self.losses(fleet))
        losses = self.losses([*fleet, made.host("x", memory_mib=491520)])
        ((text, percent),) = losses["x"].items()
        self.assertEqual(
            "480 GiB of memory; 7 hosts of this CPU model have 509 or more",
            text,
        )
        self.assertAlmostEqual(5.7, percent, places=1)

    @ddt.data(1, 2, 3)
    def test_class_of_smaller_hosts(self, number):
        """Three smaller hosts are a class of their own."""
        fleet = [made.host(f"h{number}") for number in range(7)]
        small = [made.host(f"x{index}", cpus=32) for index in range(number)]
        losses = self.losses([*fleet, *small])
        self.assertEqual(number % 3, len(losses))

    def test_no_majority(self):
        """Of two hosts, neither is the usual one; more are no loss."""
        self.assertEqual(
            {}, self.losses([made.host("a"), made.host("b", cpus=32)])
        )
        fleet = [made.host(name) for name in "abc"]
        self.assertEqual({}, self.losses([*fleet, made.host("x", cpus=128)]))

    def test_unknown(self):
        """Nothing is found without the model or the number of CPUs."""
        fleet = [made.host(name, cpu_model="") for name in "abc"]
        small = made.host("x", cpu_model="", cpus=32)
        self.assertEqual({}, self.losses([*fleet, small]))
        fleet = [made.host(name) for name in "abc"]
        self.assertEqual({}, self.losses([*fleet, made.host("x", cpus=0)]))
        self.assertEqual({}, self.losses([made.host("x", cpus=0)], fleet))

    def test_earlier(self):
        """A host had more itself, whatever the others have."""
        losses = self.losses(
            [made.host("a", cpus=48, memory_mib=65536), made.host("b")],
            [made.host("a", memory_mib=131072)],
        )
        self.assertEqual(
            {
                "a": {
                    "48 CPUs; 64 before": 25.0,
                    "64 GiB of memory; 128 before": 50.0,
                }
            },
            losses,
        )
