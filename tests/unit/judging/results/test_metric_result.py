"""Tests for the family of judged results."""

import importlib
import inspect
import pkgutil
import unittest

import rally_vmperf
from rally_vmperf.judging import summary
from rally_vmperf.judging.results import metric_result


class TestFamily(unittest.TestCase):
    """A new question has figures of its own, but no class of results."""

    def test_few_classes(self):
        """Three classes of results and one of judgements in the package."""
        kinds = {"result": set(), "judgement": set()}
        for module in pkgutil.walk_packages(
            rally_vmperf.__path__, "rally_vmperf."
        ):
            if not module.name.startswith(
                ("rally_vmperf.judging.", "rally_vmperf.questions.")
            ):
                continue
            members = inspect.getmembers(
                importlib.import_module(module.name), inspect.isclass
            )
            for _, kind in members:
                if issubclass(kind, metric_result.MetricResult):
                    kinds["result"].add(kind.__name__)
                if issubclass(kind, summary.Judgement):
                    kinds["judgement"].add(kind.__name__)
        self.assertEqual({"Judgement"}, kinds["judgement"])
        self.assertEqual(
            {"FigureResult", "DensityResult", "SpreadResult"},
            kinds["result"] - {"MetricResult"},
        )
        self.assertTrue(inspect.isabstract(metric_result.MetricResult))
