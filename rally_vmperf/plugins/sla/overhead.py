"""SLA on the overhead of guests over bare metal."""

import typing as t

from rally.task import sla

from rally_vmperf.measurement import judging
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
                "description": "Metric or glob -> largest tolerated value of "
                "a count, such as retransmits, in the metric's own unit.",
            },
        },
        required=["max_percent"],
    )

    def __init__(self, criterion_value: dict[str, t.Any]) -> None:
        super().__init__(criterion_value)
        self.judge = judge(criterion_value)
        self.success = False

    def add_iteration(self, iteration: t.Any) -> bool:
        """Take one repetition; False only if a limit is broken for good."""
        self.judge.add(output.decode(iteration))
        return not self.judge.failed_beyond_return()


def judge(criterion: dict[str, t.Any]) -> judging.OverheadJudge:
    """Return the judge that an SLA's configuration asks for."""
    return judging.OverheadJudge(
        criterion["max_percent"],
        max_count=criterion.get("max", {}),
        confidence=criterion.get("confidence", 0.95),
        on_inconclusive=criterion.get("on_inconclusive", "fail"),
        tolerate=tuple(criterion.get("tolerate", ())),
    )
