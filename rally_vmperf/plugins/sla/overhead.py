"""SLA on the overhead of guests over bare metal."""

import typing as t

from rally.task import sla

from rally_vmperf.measurement import overhead_judge
from rally_vmperf.plugins.sla import telling
from rally_vmperf.records import output


@sla.configure(name="vmperf_overhead")
class Overhead(telling.Telling):
    """Limits on what guests lose against bare metal, in percent."""

    CONFIG_SCHEMA: t.ClassVar[dict[str, t.Any]] = telling.schema(
        {
            "max_percent": {
                **telling.PER_METRIC,
                "description": "Metric or glob -> largest tolerated loss in "
                "percent of bare metal; the most exact match wins.",
            },
            "max": {
                **telling.PER_METRIC,
                "description": "Metric or glob -> largest tolerated value in "
                "the guest, in the metric's own unit: of a count, such as "
                "retransmits, in its worst repetition; of a rate or a time "
                "the mean.",
            },
            "min": {
                **telling.PER_METRIC,
                "description": "Metric or glob -> smallest tolerated value, "
                "likewise.",
            },
        },
        anyOf=[{"required": [name]} for name in ("max_percent", "max", "min")],
    )

    def __init__(self, criterion_value: dict[str, t.Any]) -> None:
        super().__init__(criterion_value)
        self.judge = judge(criterion_value)
        self.success = False

    def add_iteration(self, iteration: t.Any) -> bool:
        """Take one repetition; False only if a limit is broken for good."""
        self.judge.add(output.decode(iteration))
        return not self.judge.failed_beyond_return()


def judge(criterion: dict[str, t.Any]) -> overhead_judge.OverheadJudge:
    """Return the judge that an SLA's configuration asks for."""
    return overhead_judge.OverheadJudge(**criterion)
