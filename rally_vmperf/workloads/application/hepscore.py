# SPDX-License-Identifier: Apache-2.0
"""Application workload: HEPscore, jobs of high-energy physics."""

import statistics

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

        The score of a benchmark is relative to the reference machine.

        :raises base.WorkloadError: If the run failed, or did not run one of
            the benchmarks.
        """
        report = document.Document.parse_single(result.stdout, self.name)
        self.check_cores(report, arguments)
        profile = report.at("profiles", self.BENCHMARK)
        if profile.find("status") != "success":
            raise self.error("did not succeed")
        scores = [profile.number("score")]
        for benchmark in arguments["benchmarks"]:
            scores.append(self._relative_score(benchmark, profile))
        return outputs.create_samples(self.metrics(arguments), scores)

    def _relative_score(
        self, benchmark: str, profile: document.Document
    ) -> float:
        """Return a benchmark's mean ratio to its references as a float."""
        parts = profile.at("wl-scores", benchmark)
        pairs = [
            parts.numbers(key, f"{key}_ref")
            for key in parts.mapping()
            if not key.endswith("_ref")
        ]
        if not pairs or min(map(min, pairs)) <= 1e-9:
            raise self.error(f"did not run {benchmark}")
        ratios = (score / reference for score, reference in pairs)
        return statistics.geometric_mean(ratios)
