"""Tests of the SLAs of density as Rally uses them."""

import unittest

import ddt
import jsonschema

from rally_vmperf.plugins.sla import criteria
from rally_vmperf.records import model
from rally_vmperf.records import output
from tests.unit import made

Degradation = criteria.SLAS["vmperf_degradation"]
Fairness = criteria.SLAS["vmperf_fairness"]
CPU = "cpu.sysbench.rate"


def iteration(record):
    """Return an iteration that holds a record."""
    encoded = output.encode(model.decode(record))
    return {"error": [], "output": {"additive": [], "complete": [encoded]}}


def fed(sla, numbers=(1, 2, 3), **given):
    """Give an SLA the curves of these repetitions."""
    answers = []
    for number in numbers:
        record = made.density_record(number, planned_repetitions=3, **given)
        answers.append(sla.add_iteration(iteration(record)))
    return answers


@ddt.ddt
class TestDegradation(unittest.TestCase):
    """Three guests on two processors lose a third of the solo guest's rate."""

    @ddt.data(
        ({"max_percent": {CPU: 5}}, False, "failed"),
        ({"max_percent": {CPU: 95}}, True, "passed"),
        ({"max_percent": {CPU: 5}, "levels": 2}, True, "passed"),
        ({"max_percent": {CPU: 5}, "levels": [2, 3]}, False, "failed"),
        (
            {"max_percent": {CPU: 40}, "statistic": "worst"},
            False,
            "inconclusive",
        ),
        (
            {"max_percent": {CPU: 40}, "compare_to": "bare_metal"},
            False,
            "incon",
        ),
    )
    @ddt.unpack
    def test_verdicts(self, criterion, success, word):
        """Success, and a sentence that begins with the verdict."""
        sla = Degradation(criterion)
        fed(sla)
        result = sla.result()
        self.assertEqual("vmperf_degradation", result["criterion"])
        self.assertIs(success, result["success"], result["detail"])
        self.assertTrue(result["detail"].startswith(word), result["detail"])

    def test_against_bare_metal(self):
        """As many copies lose as much, so that guests lose little more."""
        sla = Degradation(
            {"max_percent": {CPU: 20}, "compare_to": "bare_metal"}
        )
        fed(sla, bare_metal=(1, 2, 3))
        self.assertTrue(sla.result()["success"], sla.details())

    def test_nothing_measured_is_never_a_pass(self):
        """Nor is a record of another question."""
        sla = Degradation({"max_percent": {CPU: 95}})
        self.assertFalse(sla.result()["success"])
        for record in (made.record(number=n) for n in (1, 2, 3)):
            sla.add_iteration(iteration(record))
        self.assertFalse(sla.result()["success"], sla.details())

    def test_a_lost_guest(self):
        """Its level is not passed, whatever the others say."""
        sla = Degradation({"max_percent": {"disk.fio.randread.iops": 95}})
        fed(sla, numbers=(1, 2))
        record = made.density_record(3)
        made.lose(record, 3, "g2")
        sla.add_iteration(iteration(record))
        self.assertFalse(sla.result()["success"], sla.details())

    def test_hopeless_run_may_be_aborted(self):
        """Undecided is no reason; failed beyond return is."""
        sla = Degradation({"max_percent": {CPU: 5}})
        self.assertFalse(fed(sla)[-1])
        sla = Degradation({"max_percent": {CPU: 95}})
        self.assertEqual([True] * 3, fed(sla))

    def test_merge_equals_single(self):
        """Two halves are judged like the whole."""
        criterion = {"max_percent": {CPU: 5, "disk.*": 50}}
        whole = Degradation(criterion)
        fed(whole)
        first, second = (Degradation(criterion) for _ in "12")
        fed(first, numbers=(1,))
        fed(second, numbers=(2, 3))
        first.merge(second)
        self.assertEqual(whole.result(), first.result())

    @ddt.data(
        {},
        {"max_percent": {}},
        {"max_percent": {CPU: "5"}},
        {"max_percent": {CPU: 5}, "levels": 0},
        {"max_percent": {CPU: 5}, "levels": []},
        {"max_percent": {CPU: 5}, "levels": "every"},
        {"max_percent": {CPU: 5}, "statistic": "best"},
        {"max_percent": {CPU: 5}, "compare_to": "others"},
        {"max_percent": {CPU: 5}, "tolerate": ["made_up"]},
        {"max_percent": {CPU: 5}, "most": {CPU: 5}},
    )
    def test_schema_refuses(self, criterion):
        """Unknown keys and values are refused at validation."""
        with self.assertRaises(jsonschema.ValidationError):
            jsonschema.validate(criterion, Degradation.CONFIG_SCHEMA)


@ddt.ddt
class TestFairness(unittest.TestCase):
    """Guests that get the same are treated fairly."""

    @ddt.data(
        ({"min_index": {CPU: 0.9}}, True, "passed"),
        ({"max_spread_percent": {CPU: 20}, "levels": [2, 3]}, True, "passed"),
        ({"max_spread_percent": {CPU: 0.0001}}, False, "failed"),
    )
    @ddt.unpack
    def test_verdicts(self, criterion, success, word):
        """Success, and a sentence that begins with the verdict."""
        jsonschema.validate(criterion, Fairness.CONFIG_SCHEMA)
        sla = Fairness(criterion)
        fed(sla)
        result = sla.result()
        self.assertEqual("vmperf_fairness", result["criterion"])
        self.assertIs(success, result["success"], result["detail"])
        self.assertTrue(result["detail"].startswith(word), result["detail"])

    def test_nothing_measured_is_never_a_pass(self):
        """There is nobody to be fair to."""
        sla = Fairness({"min_index": {CPU: 0.1}})
        self.assertFalse(sla.result()["success"])

    @ddt.data(
        {},
        {"levels": 2},
        {"min_index": {}},
        {"min_index": {CPU: 0}},
        {"min_index": {CPU: 1.1}},
        {"min_index": {CPU: 0.5}, "statistic": "worst"},
    )
    def test_schema_refuses(self, criterion):
        """There must be a limit, and an index can be 1 at most."""
        with self.assertRaises(jsonschema.ValidationError):
            jsonschema.validate(criterion, Fairness.CONFIG_SCHEMA)
