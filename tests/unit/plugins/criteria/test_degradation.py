# SPDX-License-Identifier: Apache-2.0
"""Tests of the SLAs on density as Rally uses them."""

import unittest

from tests.unit import made
from tests.unit.plugins.criteria import contract

CPU = made.EVENTS.name
BARE = {made.EVENTS: [330.0, 331.0, 329.0]}


class TestDegradation(contract.SLAContract, unittest.TestCase):
    """Three guests on two CPUs lose a third of the solo guest's rate."""

    NAME = "vmperf_degradation"
    RUN = made.levels({made.EVENTS: made.SHARED}, apart=True, bare=BARE)
    PASSES = (
        {"max_percent": {"*": 50}},
        {"max_percent": {CPU: 5}, "levels": 2},
        {"max_percent": {CPU: 45}, "compare_to": "bare_metal"},
        {"min": {CPU: 200}},
    )
    FAILS = (
        {"max_percent": {CPU: 5}},
        {"max_percent": {CPU: 5}, "levels": [2, 3]},
        {"max_percent": {CPU: 10}, "compare_to": "bare_metal"},
        {"max": {CPU: 300}},
    )
    UNDECIDED = ({"max_percent": {CPU: 34.6}},)
    UNMATCHED = (
        {"max_percent": {"*": 50, "x.*": 1}},
        {"max_percent": {"*": 50}, "min": {"x.*": 1}},
    )
    REJECTED = (
        {},
        {"max_percent": {}},
        {"max_percent": {CPU: "5"}},
        {"max_percent": {CPU: 5}, "levels": 0},
        {"max_percent": {CPU: 5}, "levels": []},
        {"max_percent": {CPU: 5}, "levels": [2, True]},
        {"max_percent": {CPU: 5}, "levels": "every"},
        {"max_percent": {CPU: 5}, "statistic": "best"},
        {"max_percent": {CPU: 5}, "compare_to": "others"},
        {"max_percent": {CPU: 5}, "most": {CPU: 5}},
    )


class TestFairness(contract.SLAContract, unittest.TestCase):
    """Two guests share unequally, three equally."""

    NAME = "vmperf_fairness"
    RUN = made.levels(
        {made.EVENTS: {1: [100.0], 2: [60.0, 20.0], 3: [50.0] * 3}}, apart=True
    )
    PASSES = (
        {"min_index": {"*": 0.7}},
        {"max_spread_percent": {CPU: 20}, "levels": 3},
    )
    FAILS = (
        {"min_index": {CPU: 0.9}},
        {"max_spread_percent": {CPU: 20}, "levels": [2, 3]},
        {"min_index": {CPU: 0.7}, "max_spread_percent": {CPU: 20}},
    )
    UNDECIDED = ({"min_index": {CPU: 0.8}},)
    UNMATCHED = ({"min_index": {"*": 0.7, "x.*": 0.5}},)
    REJECTED = (
        {},
        {"levels": 2},
        {"min_index": {}},
        {"min_index": {CPU: 0}},
        {"min_index": {CPU: -1}},
        {"min_index": {CPU: 1.01}},
        {"min_index": {CPU: 0.5}, "statistic": "worst"},
    )
