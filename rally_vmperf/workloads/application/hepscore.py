"""Application workload: HEPscore, jobs of high-energy physics."""

import math

from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import document
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import schemas
from rally_vmperf.workloads.application import _bmkrun


class HepScore(_bmkrun.Benchmark):
    """Jobs of experiments in containers, as configured by the operator."""

    name = "hepscore"
    title = "Application: HEPscore"
    BENCHMARK = "hepscore"
    ARGUMENTS = _bmkrun.arguments(
        hours=6,
        benchmarks=schemas.texts(
            "Benchmarks of the configuration that have a metric of their own, "
            "such as atlas-gen_sherpa-ma-bmk.",
            r"^[a-z][a-z0-9_-]{0,63}$(?!\n)",
        ),
    )

    def metrics(self, arguments: base.Arguments) -> tuple[sample.Metric, ...]:
        """Return the metric definitions of all selected benchmarks."""
        prefixes = ("", *(f"{name}." for name in arguments["benchmarks"]))
        return tuple(
            sample.Metric(f"application.hepscore.{prefix}score", "1", "higher")
            for prefix in prefixes
        )

    def parse(
        self, arguments: base.Arguments, result: base.CommandResult
    ) -> list[sample.Sample]:
        """Return the samples of the total score and of each benchmark.

        :raises base.WorkloadError: If the run failed, or its score does not
            agree with its benchmarks.
        """
        report = document.Document.parse_single(result.stdout, self.name)
        self.check_cores(report, arguments)
        profile = report.at("profiles", self.BENCHMARK)
        if profile.find("status") != "success":
            raise self.error("did not succeed")
        names = profile.mapping("benchmarks")
        if not 0 < len(names) <= 64:
            raise self.error("did not report benchmarks")
        scores, logarithm, weights = {}, 0.0, 0.0
        for benchmark in names:
            weight = profile.optional("benchmarks", benchmark, "weight")
            parts = profile.at("wl-scores", benchmark)
            scores[benchmark] = self._mean_ratio(parts)
            if not 0 < weight <= 1000:
                raise self.error(
                    f"reported a benchmark with weight {weight:g}"
                )
            logarithm += weight * math.log(scores[benchmark])
            weights += weight
        scaling = profile.optional("settings", "scaling")
        score = profile.number("score")
        # HEPscore uses means of an even number of repetitions, which differ.
        mean = scaling * math.exp(min(700.0, logarithm / weights))
        if not math.isclose(score, mean, rel_tol=2e-3):
            raise self.error(
                f"reported the score {score:g}, but its benchmarks give "
                f"{mean:g}"
            )
        missing = [n for n in arguments["benchmarks"] if n not in scores]
        if missing:
            raise self.error(f"did not run {', '.join(missing)}")
        selected = (scores[name] for name in arguments["benchmarks"])
        return outputs.create_samples(
            self.metrics(arguments), (score, *selected)
        )

    def _mean_ratio(self, report: document.Document) -> float:
        """Return a benchmark's mean ratio to its references as a float."""
        parts = report.find()
        if not isinstance(parts, dict) or len(parts) > 64:
            raise self.error("did not report the scores of a benchmark")
        logarithms = []
        for name in parts:
            if name.endswith("_ref"):
                continue
            score, reference = report.numbers(name, f"{name}_ref")
            if not (1e-9 < score < 1e12 and 1e-9 < reference < 1e12):
                raise self.error(
                    f"reported a part with score {score:g} and reference "
                    f"{reference:g}"
                )
            logarithms.append(math.log(score / reference))
        if not logarithms or len(parts) != 2 * len(logarithms):
            raise self.error("reported scores without references")
        return math.exp(math.fsum(logarithms) / len(logarithms))
