# SPDX-License-Identifier: Apache-2.0
"""Tests that judges judge whatever a record's schema lets through."""

import random
import unittest

import ddt

from rally_vmperf.judging.results import spreads
from rally_vmperf.questions import table
from rally_vmperf.records import model
from tests.unit import made
from tests.unit.records import permitted
from tests.unit.report import shaped

SCHEMA = model.FORMAT.adapter.json_schema()
LIMITS = {
    "vmperf_overhead": made.LIMITS,
    "vmperf_spread": {f"max_{name}": {"*": 10} for name in spreads.NAMES},
    **made.DENSITY_LIMITS,
}
RUNS = {
    name: [made.document(shaped.shaped(record)) for record in records]
    for name, records in {
        "overhead": made.records(count=4, guests=2, emulated=True),
        "density": made.few(
            made.density_records((1, 2, 3), bare_metal=(1, 2))
        ),
    }.items()
}
STATUSES = {"passed", "failed", "inconclusive", "void", "unjudged"}


@ddt.ddt
class TestPermitted(unittest.TestCase):
    """A verdict and its sentences, and no exception."""

    @ddt.idata([(name, seed) for name in RUNS for seed in range(4)])
    @ddt.unpack
    def test_judges(self, name, seed):
        """Each changed in up to four places, the whole run at once."""
        rng = random.Random(f"{name} {seed}")
        for _ in range(3):
            documents = [
                permitted.mutated(document, SCHEMA, rng, rng.randrange(5))
                for document in RUNS[name]
            ]
            read = [model.decode_or_none(document) for document in documents]
            for criterion in table.criteria().values():
                judge = criterion.parse(
                    LIMITS.get(criterion.name, {})
                ).create_judge()
                for record in read:
                    judge.add(record.repetition if record else None)
                    judge.is_failure_final()
                judgement = judge.judgement()
                self.assertIn(judgement.status, STATUSES)
                self.assertTrue(all(judgement.sentences()))

    def test_they_are_changed(self):
        """Half of them at least make another document."""
        rng = random.Random(1)
        (document, *_) = RUNS["overhead"]
        changed = [
            permitted.mutated(document, SCHEMA, rng, 1) != document
            for _ in range(20)
        ]
        self.assertGreater(sum(changed), 10)
