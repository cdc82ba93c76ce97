"""Application workload: HEP-SPEC06, C++ programs of SPEC CPU2006."""

import math

from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import document
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads.application import _bmkrun

SCORE = sample.Metric("application.hepspec06.score", "1", "higher")


class HepSpec06(_bmkrun.Benchmark):
    """One copy of the programs of SPEC on each core; requires a licence."""

    name = "hepspec06"
    title = "Application: HEP-SPEC06"
    BENCHMARK = "hs06"
    METRICS = (SCORE,)
    ARGUMENTS = _bmkrun.arguments(hours=8)

    def parse(
        self, arguments: base.Arguments, result: base.CommandResult
    ) -> list[sample.Sample]:
        """Return a list with the sample of the score of all copies.

        :raises base.WorkloadError: If it is not the sum of the geometric
            means of the programs of each copy.
        """
        report = document.Document.parse_single(result.stdout, self.name)
        profiles = report.mapping("profiles")
        keys = [key for key in profiles if key.startswith("hs06")]
        if len(keys) != 1:
            raise self.error(f"reported {len(keys)} results instead of one")
        profile = report.at("profiles", keys[0])
        copies = profile.number("copies")
        cores = self.check_cores(report, arguments)
        if copies != cores:
            raise self.error(f"ran {copies:g} copies on {cores:g} cores")
        score, copy_score = profile.numbers("score", "avg_core_score")
        ratios = self._log_ratios(profile, int(copies))
        total = math.fsum(math.exp(logarithm) for logarithm in ratios)
        # Ratios have three digits, and scores have two decimals.
        if not (
            math.isclose(score, total, rel_tol=6e-3)
            and math.isclose(
                copy_score, score / copies, rel_tol=1e-3, abs_tol=6e-3
            )
        ):
            raise self.error(
                f"reported the score {score:g} and {copy_score:g} per copy, "
                f"but its programs give {total:g}"
            )
        return [outputs.create_sample(SCORE, score)]

    def _log_ratios(
        self, profile: document.Document, copies: int
    ) -> list[float]:
        """Return per copy the mean logarithm of its program ratios."""
        programs = profile.mapping("bmks")
        if not 0 < len(programs) <= 64:
            raise self.error("did not report ratios of programs")
        if profile.number("num_bmks") != len(programs):
            raise self.error(
                f"did not report the ratios of {len(programs)} programs"
            )
        ratios = [0.0] * copies
        for name, column in programs.items():
            if not isinstance(column, list) or len(column) != copies:
                raise self.error(
                    f"did not report {copies} ratios of each program"
                )
            for copy in range(copies):
                ratio = profile.number("bmks", name, copy)
                if not 1e-3 < ratio < 1e6:
                    raise self.error(f"reported a ratio of {ratio:g}")
                ratios[copy] += math.log(ratio) / len(programs)
        return ratios
