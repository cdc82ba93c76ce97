"""Application workload: HEP-SPEC06, C++ programs of SPEC CPU2006."""

import math

from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import document
from rally_vmperf.workloads import limits
from rally_vmperf.workloads.application import _bmkrun

SCORE = sample.Metric("application.hepspec06.score", "1", "higher")


class HepSpec(_bmkrun.Benchmark):
    """One copy of SPEC's programs on each core, by the operator's licence."""

    name = "hepspec06"
    title = "Application: HEP-SPEC06"
    BENCHMARK = "hs06"
    ARGUMENTS = _bmkrun.arguments(hours=8)

    def metrics(self, arguments: base.Arguments) -> tuple[sample.Metric, ...]:
        """Return the score of all copies."""
        return (SCORE,)

    def read(
        self, arguments: base.Arguments, outcome: base.Outcome
    ) -> list[sample.Sample]:
        """Return the score of all copies.

        :raises base.WorkloadError: when it is not the sum over copies of the
            geometric mean of their programs
        """
        told = document.Document.only(outcome.stdout, self.name)
        profiles = told.find("profiles")
        keys = (
            [key for key in profiles if key.startswith("hs06")]
            if (isinstance(profiles, dict))
            else []
        )
        if len(keys) != 1:
            raise self.error(f"has {len(keys)} results instead of one")
        top = ("profiles", keys[0])
        copies, cores = told.number(*top, "copies"), told.number("cores")
        if not 0 < copies == cores <= 4096:
            raise self.error(f"ran {copies:g} copies on {cores:g} cores")
        score = told.number(*top, "score")
        each = told.number(*top, "avg_core_score")
        ratios = self._ratios(told, int(copies), *top)
        total = math.fsum(math.exp(one) for one in ratios)
        # Ratios have three digits, scores two decimals.
        if not (
            math.isclose(score, total, rel_tol=6e-3)
            and math.isclose(each, score / copies, rel_tol=1e-3, abs_tol=6e-3)
        ):
            raise self.error(
                f"has the score {score:g}, {each:g} of a copy, and its "
                f"programs give {total:g}"
            )
        return [limits.measured(SCORE, score)]

    def _ratios(
        self, told: document.Document, copies: int, *top: str
    ) -> list[float]:
        """Return the logarithm of the mean ratio of each copy."""
        programs = told.find(*top, "bmks")
        if not isinstance(programs, dict) or not 0 < len(programs) <= 64:
            raise self.error("has no ratios of programs")
        if told.number(*top, "num_bmks") != len(programs):
            raise self.error(
                f"does not have the ratios of {len(programs)} programs"
            )
        ratios = [0.0] * copies
        for name, column in programs.items():
            if not isinstance(column, list) or len(column) != copies:
                raise self.error(
                    f"does not have {copies} ratios of each program"
                )
            for at in range(copies):
                value = told.number(*top, "bmks", name, at)
                if not 1e-3 < value < 1e6:
                    raise self.error(f"has a ratio of {value:g}")
                ratios[at] += math.log(value) / len(programs)
        return ratios
