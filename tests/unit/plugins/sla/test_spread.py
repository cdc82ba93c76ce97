"""The SLA on spread as Rally uses it."""

import unittest

import ddt
import jsonschema

from rally_vmperf.plugins.sla import criteria
from tests.unit.plugins.sla import test_overhead

Spread = criteria.SLAS["vmperf_spread"]


def judged(values, **limits):
    """Return an SLA that has seen these values."""
    sla = Spread(limits)
    for number, value in enumerate(values, 1):
        sla.add_iteration(test_overhead.iteration(value, number))
    return sla


@ddt.ddt
class TestSpread(unittest.TestCase):
    """Verdicts reach Rally with their figures."""

    @ddt.data(
        ([90.0, 90.1, 89.9], {"max_cv_percent": {"*": 2}}, True, "passed"),
        ([90.0, 99.0, 81.0], {"max_cv_percent": {"*": 2}}, False, "failed"),
        ([90.0, 91.0], {"max_cv_percent": {"*": 2}}, False, "inconclusive"),
        (
            [90.0, 91.0, 89.0],
            {"max_cv_percent": {"*": 2}},
            False,
            "inconclusive",
        ),
        ([], {"max_range_percent": {"*": 2}}, False, "void"),
    )
    @ddt.unpack
    def test_verdicts(self, values, limits, success, word):
        """Success, and a sentence that begins with the verdict."""
        result = judged(values, **limits).result()
        self.assertEqual("vmperf_spread", result["criterion"])
        self.assertIs(success, result["success"], result["detail"])
        self.assertTrue(result["detail"].startswith(word), result["detail"])

    def test_passed_figures_are_in_the_table(self):
        sla = judged([90.0, 90.1, 89.9], max_cv_percent={"cpu.*": 2})
        self.assertIn(
            "passed: 1 of 1 metric is within the limit", sla.details()
        )
        self.assertIn("All figures: rally-vmperf judge.", sla.details())
        self.assertNotIn("cv 0.111 %", sla.details())

    @ddt.data(
        {},
        {"max_cv_percent": {}},
        {"max_cv_percent": {"*": -1}},
        {"max_gsd": {"*": 1.1}},
        {"max_iqr_percent": {"*": 5}},
        {"max_gsd_ratio": {"*": 2}},
        {"max_cv_percent": {"*": 2}, "over": "repetitions"},
        {"max_cv_percent": {"*": 2}, "over": "intervals"},
        {"max_cv_percent": {"*": 2}, "max_percent": {"*": 2}},
    )
    def test_schema_refuses(self, criterion):
        """What can not be meant is refused at validation."""
        with self.assertRaises(jsonschema.ValidationError):
            jsonschema.validate(criterion, Spread.CONFIG_SCHEMA)
