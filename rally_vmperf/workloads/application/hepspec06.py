# SPDX-License-Identifier: Apache-2.0
"""Application workload: HEP-SPEC06, C++ programs of SPEC CPU2006."""

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

        :raises base.WorkloadError: If there is another number of results, or
            of copies.
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
        return [outputs.create_sample(SCORE, profile.number("score"))]
