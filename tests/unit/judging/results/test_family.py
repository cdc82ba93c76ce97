# SPDX-License-Identifier: Apache-2.0
"""Tests for the family of figures."""

import importlib
import inspect
import pkgutil
import unittest

import rally_vmperf
from rally_vmperf.judging import summary
from rally_vmperf.judging.results import figure as figures
from rally_vmperf.judging.results import result


class TestFamily(unittest.TestCase):
    """A new question has contrasts of its own, but no class of results."""

    def test_few_classes(self):
        """One class of results and of judgements, and four of figures."""
        kinds = {result.Result: set(), figures.Figure: set()}
        kinds[summary.Judgement] = set()
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
            for base, names in kinds.items():
                names |= {
                    kind.__name__
                    for _, kind in members
                    if issubclass(kind, base)
                }
        self.assertEqual({"Judgement"}, kinds[summary.Judgement])
        self.assertEqual({"Result"}, kinds[result.Result])
        self.assertEqual(
            {"Loss", "AbsoluteValue", "SpreadFigure", "Fairness"},
            kinds[figures.Figure] - {"Figure", "GuestFigure"},
        )
        self.assertTrue(inspect.isabstract(figures.GuestFigure))
