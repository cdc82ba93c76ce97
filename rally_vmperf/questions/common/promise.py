# SPDX-License-Identifier: Apache-2.0
"""The criterion for the promises of flavor, volume type and port."""

import dataclasses
import types
import typing as t

from rally_vmperf import documents
from rally_vmperf.judging import judge
from rally_vmperf.judging import promise
from rally_vmperf.measurement.comparison import rate_caps
from rally_vmperf.questions.common import neighbours
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task


@dataclasses.dataclass(frozen=True, kw_only=True)
class Options(judge.VerdictOptions):
    """The options of vmperf_promise.

    :param min_percent: Least share of a promised rate that each guest gets,
        in percent; it applies to limits and to guarantees.
    :param max_percent: Largest share of a limit that a guest gets after its
        burst, in percent: whether the limit is enforced.
    """

    min_percent: t.Annotated[
        float, {"exclusiveMinimum": 0, "maximum": 100}
    ] = 95
    max_percent: t.Annotated[float, {"minimum": 100}] = 110
    unmeasured: t.ClassVar = "reject"


#: The arguments of workloads with the number of requests or streams.
_CONCURRENCY = ("depth", "jobs", "processes", "streams", "connections")


def _describe_remedy(arguments: documents.Arguments) -> str:
    """Return the arguments that raise the number of requests, as a clause."""
    names = [name for name in _CONCURRENCY if name in arguments]
    return f"raise {' or '.join(names)}" if names else "add another workload"


class Criterion(question.Criterion):
    """Rates and sizes that flavor, volume type and port promise."""

    name = "vmperf_promise"
    heading = "Promise"
    rules = promise.RULES
    options = Options
    limits = types.MappingProxyType({})
    selects = neighbours.WITHOUT

    def list_limit_options(self) -> list[str]:
        """Return no option: the configuration may be empty."""
        return []

    def list_warnings(self, subtask: task.AnyTask) -> list[str]:
        """Return the workloads that may not reach a promise by themselves."""
        return [
            f"sla {self.name}: workload {assigned.title} has one request or "
            "stream at a time, which may not reach a promised rate; "
            + _describe_remedy(assigned.arguments)
            for assigned in subtask.assignments
            if any(
                rate_caps.find_unit(metric)[0] for metric in assigned.metrics()
            )
            and all(
                assigned.arguments.get(name, 1) == 1 for name in _CONCURRENCY
            )
        ]

    def create_judge(self, limits: t.Any, options: t.Any) -> judge.Judge:
        """Return a judge with these options; the cloud has the limits."""
        return promise.PromiseJudge(self.rules, limits, options, self.selects)


#: The criterion for the runs of every question.
CRITERION = Criterion()
