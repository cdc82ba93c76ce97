"""Application workload: HEPscore, jobs of high-energy physics."""

import math

from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import document
from rally_vmperf.workloads import limits
from rally_vmperf.workloads.application import _bmkrun

_SCORE = "application.hepscore.score"


class HepScore(_bmkrun.Benchmark):
    """Jobs of experiments in containers, by the operator's configuration."""

    name = "hepscore"
    title = "Application: HEPscore"
    BENCHMARK = "hepscore"
    ARGUMENTS = _bmkrun.arguments(
        hours=6,
        benchmarks={
            "type": "array",
            "description": "Benchmarks of the configuration that get a metric "
            "of their own, such as atlas-gen_sherpa-ma-bmk.",
            "items": {
                "type": "string",
                "pattern": r"^[a-z][a-z0-9_-]{0,63}$(?!\n)",
            },
            "maxItems": 32,
            "uniqueItems": True,
            "default": [],
        },
    )

    def metrics(self, arguments: base.Arguments) -> tuple[sample.Metric, ...]:
        """Return the score, and those of benchmarks that were asked for."""
        names = [
            f"application.hepscore.{n}.score" for n in arguments["benchmarks"]
        ]
        return tuple(
            sample.Metric(name, "1", "higher") for name in (_SCORE, *names)
        )

    def read(
        self, arguments: base.Arguments, outcome: base.Outcome
    ) -> list[sample.Sample]:
        """Return the scores, relative to those of the reference machine.

        :raises base.WorkloadError: when the run did not succeed, or its score
            does not follow from its benchmarks
        """
        told = document.Document.only(outcome.stdout, self.name)
        top = ("profiles", self.BENCHMARK)
        if told.find(*top, "status") != "success":
            raise self.error("did not succeed")
        names = told.find(*top, "benchmarks")
        if not isinstance(names, dict) or not 0 < len(names) <= 64:
            raise self.error("names no benchmarks")
        scores, logarithm, weights = {}, 0.0, 0.0
        for name in names:
            weight = 1.0
            if told.find(*top, "benchmarks", name, "weight") is not None:
                weight = told.number(*top, "benchmarks", name, "weight")
            scores[name] = self._score(told, *top, "wl-scores", name)
            if not 0 < weight <= 1000:
                raise self.error(f"gives a benchmark the weight {weight:g}")
            logarithm += weight * math.log(scores[name])
            weights += weight
        scaling = 1.0
        if told.find(*top, "settings", "scaling") is not None:
            scaling = told.number(*top, "settings", "scaling")
        score = told.number(*top, "score")
        # Of an even number of repetitions HEPscore takes means, which differ.
        mean = scaling * math.exp(min(700.0, logarithm / weights))
        if not math.isclose(score, mean, rel_tol=2e-3):
            raise self.error(
                f"has the score {score:g}, and its benchmarks give {mean:g}"
            )
        missing = [n for n in arguments["benchmarks"] if n not in scores]
        if missing:
            raise self.error(f"did not run {', '.join(missing)}")
        values = (score, *(scores[one] for one in arguments["benchmarks"]))
        return [
            limits.measured(metric, value)
            for metric, value in zip(
                self.metrics(arguments), values, strict=True
            )
        ]

    def _score(self, told: document.Document, *path: str) -> float:
        """Return the mean of a benchmark's parts, each by its reference."""
        parts = told.find(*path)
        if not isinstance(parts, dict) or len(parts) > 64:
            raise self.error("has no scores of a benchmark")
        logarithms = []
        for part in parts:
            if part.endswith("_ref"):
                continue
            value = told.number(*path, part)
            reference = told.number(*path, f"{part}_ref")
            if not (1e-9 < value < 1e12 and 1e-9 < reference < 1e12):
                raise self.error(f"has a part of {value:g} by {reference:g}")
            logarithms.append(math.log(value / reference))
        if not logarithms or len(parts) != 2 * len(logarithms):
            raise self.error("has scores without references")
        return math.exp(math.fsum(logarithms) / len(logarithms))
