"""SLA: limits on how evenly guests share what there is."""

import typing as t

from rally.task import sla

from rally_vmperf.measurement.density import judging
from rally_vmperf.plugins.sla import telling
from rally_vmperf.records import output


@sla.configure(name="vmperf_fairness")
class Fairness(telling.Telling):
    """Limits on how unevenly guests that share a host are served."""

    CONFIG_SCHEMA: t.ClassVar[dict[str, t.Any]] = telling.schema(
        {
            "min_index": {
                **telling.PER_METRIC,
                "additionalProperties": {
                    "type": "number",
                    "exclusiveMinimum": 0,
                    "maximum": 1,
                },
                "description": "Metric or glob -> smallest tolerated index "
                "of Jain: 1 when all guests get the same, 1/n when one gets "
                "all.",
            },
            "max_spread_percent": {
                **telling.PER_METRIC,
                "description": "Metric or glob -> largest tolerated spread "
                "of the guests in percent.",
            },
            "at": telling.AT,
        },
        anyOf=[
            {"required": ["min_index"]},
            {"required": ["max_spread_percent"]},
        ],
    )

    def __init__(self, criterion_value: dict[str, t.Any]) -> None:
        super().__init__(criterion_value)
        self.judge = judge(criterion_value)
        self.success = False

    def add_iteration(self, iteration: t.Any) -> bool:
        """Take one curve; False only if a limit is broken for good."""
        self.judge.add(output.decode(iteration))
        return not self.judge.failed_beyond_return()


def judge(criterion: dict[str, t.Any]) -> judging.FairnessJudge:
    """Return the judge that an SLA's configuration asks for."""
    return judging.FairnessJudge(**criterion)
