"""Tests of the SLA as Rally uses it."""

import unittest
from unittest import mock

import ddt
import jsonschema

from rally_vmperf.plugins.sla import criteria
from rally_vmperf.records import model
from rally_vmperf.records import output
from tests.unit import made

Overhead = criteria.SLAS["vmperf_overhead"]


def iteration(value, number, **changes):
    """Return an iteration whose record has one sample."""
    record = model.decode(made.record(rate=value, number=number, **changes))
    return {
        "error": [],
        "output": {"additive": [], "complete": [output.encode(record)]},
    }


@ddt.ddt
class TestOverhead(unittest.TestCase):
    """Verdicts reach Rally, and nothing measured is never a pass."""

    def judged(self, values, limit=15, **criterion):
        """Return an SLA that has seen these values."""
        sla = Overhead({"max_percent": {"cpu.*": limit}, **criterion})
        for number, value in enumerate(values, 1):
            sla.add_iteration(iteration(value, number))
        return sla

    @ddt.data(
        ([90.0, 91.0, 89.0], 15, True, "passed"),
        ([60.0, 61.0, 59.0], 15, False, "failed"),
        ([85.0, 92.0, 78.0], 15, False, "inconclusive"),
        ([90.0], 15, False, "inconclusive"),
        ([], 15, False, "void"),
        ([190.0, 191.0, 189.0], 15, False, "void"),
    )
    @ddt.unpack
    def test_verdicts(self, values, limit, success, word):
        """Success, and a sentence that begins with the verdict."""
        result = self.judged(values, limit).result()
        self.assertEqual("vmperf_overhead", result["criterion"])
        self.assertIs(success, result["success"], result["detail"])
        self.assertTrue(result["detail"].startswith(word), result["detail"])

    def test_no_log(self):
        """The context of the guests prints the verdicts of all SLAs once."""
        sla = self.judged([90.0, 91.0, 89.0])
        with self.assertNoLogs("rally_vmperf", "INFO"):
            sla.result()

    def test_iteration_without_record_is_missing(self):
        """Also when Rally reports no error for it."""
        sla = self.judged([90.0, 91.0, 89.0])
        sla.add_iteration({"error": [], "output": {"complete": []}})
        self.assertFalse(sla.result()["success"])

    def test_interrupted_repetition_never_passes(self):
        """What is there is fine, but the run was cut short."""
        sla = self.judged([90.0, 91.0])
        sla.add_iteration(iteration(89.0, 3, state="interrupted"))
        self.assertFalse(sla.result()["success"])

    def test_undecided_is_no_reason_to_abort(self):
        """Only a limit that is failed beyond return stops the run."""
        sla = Overhead({"max_percent": {"cpu.*": 15}})
        for number, value in enumerate([85.0, 92.0, 78.0], 1):
            self.assertTrue(sla.add_iteration(iteration(value, number)))

    def test_hopeless_run_may_be_aborted(self):
        """A limit that is far exceeded at the last repetition is failed."""
        sla = Overhead({"max_percent": {"cpu.*": 15}})
        answers = [
            sla.add_iteration(iteration(value, number))
            for number, value in enumerate([10.0, 10.01, 9.99], 1)
        ]
        self.assertEqual([True, True, False], answers)

    def test_merge_equals_single(self):
        """Two halves are judged like the whole."""
        values = [90.0, 91.0, 89.0]
        first = self.judged(values[:1])
        second = Overhead({"max_percent": {"cpu.*": 15}})
        for number in (2, 3):
            second.add_iteration(iteration(values[number - 1], number))
        first.merge(second)
        self.assertEqual(self.judged(values).result(), first.result())

    @ddt.data("add", "is_failure_final", "figures")
    def test_a_defect_of_the_judge(self, method):
        """Voids the verdict in one line; Rally's consumer goes on."""
        sla = self.judged([90.0, 91.0, 89.0])
        self.assertTrue(self.judged([90.0, 91.0, 89.0]).result()["success"])
        error = OverflowError("too large\nto convert")
        with mock.patch.object(
            sla.judge, method, autospec=True, side_effect=error
        ):
            self.assertTrue(sla.add_iteration(iteration(90.0, 4)))
            whole = self.judged([])
            whole.merge(sla)
        result = whole.result()
        self.assertFalse(result["success"])
        self.assertTrue(result["detail"].startswith("void"), result["detail"])
        self.assertIn("OverflowError: too large to convert", result["detail"])
        self.assertNotIn("\n", result["detail"])

    def test_a_judge_that_fails_in_the_end(self):
        """Is as void, and nothing is raised."""
        sla = self.judged([90.0, 91.0, 89.0])
        error = ValueError("no")
        with mock.patch.object(
            sla.judge, "judgement", autospec=True, side_effect=error
        ):
            result = sla.result()
        self.assertFalse(result["success"])
        self.assertIn("void: the judge failed 1 time", result["detail"])

    @ddt.data(
        {"max_percent": {"cpu.*": "5"}},
        {"max_percent": {}},
        {"max_percent": {"cpu.*": 5}, "tolerate": ["made_up"]},
        {"max_percent": {"cpu.*": 5}, "confidence": 1},
        {"max_percent": {"cpu.*": 5}, "on_inconclusive": "maybe"},
        {"max_percent": {"cpu.*": 5}, "statistic": "median"},
        {"max_percent": {"cpu.*": 5}, "other": 1},
        {},
    )
    def test_schema_refuses(self, criterion):
        """Unknown keys and values are refused at validation."""
        with self.assertRaises(jsonschema.ValidationError):
            jsonschema.validate(criterion, Overhead.CONFIG_SCHEMA)
