"""From what a file holds to a run, judged as its SLAs judge it."""

import typing as t

from rally_vmperf.plugins.sla import degradation
from rally_vmperf.plugins.sla import fairness
from rally_vmperf.plugins.sla import overhead

if t.TYPE_CHECKING:
    from rally_vmperf.report import run as shown
    from rally_vmperf.report import sources

#: The schemas of what a report can judge by, by the name of the SLA.
SCHEMAS: dict[str, dict[str, t.Any]] = {
    "vmperf_overhead": overhead.Overhead.CONFIG_SCHEMA,
    "vmperf_degradation": degradation.Degradation.CONFIG_SCHEMA,
    "vmperf_fairness": fairness.Fairness.CONFIG_SCHEMA,
}

Criteria = dict[str, dict[str, t.Any]]


def run(
    source: "sources.Source", criteria: Criteria | None = None
) -> "shown.Run":
    """Return the run with the verdicts of its SLAs.

    :param criteria: limits by the name of the SLA, instead of those of the
        task; for SLAs of other kinds too
    """
    # Rally imports all plugins for a mere list; drawing is for reports.
    from rally_vmperf.report import run as runs
    from rally_vmperf.report.density import run as density

    held = source.criteria if criteria is None else criteria
    if source.kind == "overhead":
        limits = held.get("vmperf_overhead")
        judge = overhead.judge(limits) if limits else None
        return runs.make(source.records, judge, source.folder)
    loss, shares = held.get("vmperf_degradation"), held.get("vmperf_fairness")
    return density.make(
        source.records,
        degradation.judge(loss) if loss else None,
        fairness.judge(shares) if shares else None,
        source.folder,
    )
