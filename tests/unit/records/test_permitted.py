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

SCHEMA = model.FORMAT.schema
LIMITS = {
    "vmperf_overhead": made.LIMITS,
    "vmperf_spread": {f"max_{one}": {"*": 10} for one in spreads.NAMES},
    **made.DENSITY_LIMITS,
}
RUNS = {
    "overhead": made.records(count=4, guests=2, emulated=True),
    "density": made.few(made.density_records((1, 2, 3), bare_metal=(1, 2))),
}
for _run in RUNS.values():
    for _one in _run:
        shaped.shaped(_one)
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
            given = [
                permitted.mutated(one, SCHEMA, rng, rng.randrange(5))
                for one in RUNS[name]
            ]
            read = [
                model.decode_or_none(model.FORMAT.check(one)) for one in given
            ]
            for criterion in table.criteria().values():
                judge = criterion.parse(
                    LIMITS.get(criterion.name, {})
                ).create_judge()
                for one in read:
                    judge.add(one.repetition if one else None)
                    judge.is_failure_final()
                got = judge.judgement()
                self.assertIn(got.status, STATUSES)
                self.assertTrue(all(got.sentences()))

    def test_they_are_changed(self):
        """Half of them at least make another document."""
        rng = random.Random(1)
        (one, *_) = RUNS["overhead"]
        changed = [
            permitted.mutated(one, SCHEMA, rng, 1) != one for _ in range(20)
        ]
        self.assertGreater(sum(changed), 10)
