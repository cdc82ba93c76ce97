"""SLA: limits on what guests lose as more of them share a host."""

import typing as t

from rally.task import sla

from rally_vmperf.measurement.density import judging
from rally_vmperf.plugins.sla import telling
from rally_vmperf.records import output


@sla.configure(name="vmperf_degradation")
class Degradation(telling.Telling):
    """Limits on what each guest loses as their number grows, in percent."""

    CONFIG_SCHEMA: t.ClassVar[dict[str, t.Any]] = telling.schema(
        {
            "max_percent": {
                **telling.PER_METRIC,
                "description": "Metric or glob -> largest tolerated loss of "
                "the rate in percent; the most exact match wins.",
            },
            "at": telling.AT,
            "of": {
                "enum": ["mean", "worst"],
                "description": "Whether the mean guest or the worst one is "
                "held to the limits; default mean.",
            },
            "against": {
                "enum": ["one_guest", "bare_metal"],
                "description": "What the loss is against: one guest, or as "
                "many bare-metal copies; default one_guest.",
            },
        },
        required=["max_percent"],
    )

    def __init__(self, criterion_value: dict[str, t.Any]) -> None:
        super().__init__(criterion_value)
        self.judge = judge(criterion_value)
        self.success = False

    def add_iteration(self, iteration: t.Any) -> bool:
        """Take one curve; False only if a limit is broken for good."""
        self.judge.add(output.decode(iteration))
        return not self.judge.failed_beyond_return()


def judge(criterion: dict[str, t.Any]) -> judging.DegradationJudge:
    """Return the judge that an SLA's configuration asks for."""
    return judging.DegradationJudge(**criterion)
