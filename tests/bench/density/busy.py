# SPDX-License-Identifier: Apache-2.0
"""A workload without any tool: the shell counts."""

from rally_vmperf.execution import assignment
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base

METRIC = sample.Metric(name="bench.seconds", unit="s", better="lower")

_LOOPS = {
    "time": "timeout {seconds} sh -c 'while :; do :; done'; :",
    "size": "i=0; while [ $i -lt {count} ]; do i=$((i+1)); done",
}


class Busy(base.Workload):
    """Counts for some time, or up to a number."""

    name = "busy"
    title = "The shell counts"
    ARGUMENTS = {"type": "object", "properties": {}}  # noqa: RUF012
    TOOLS = ()

    def __init__(self, seconds, count):
        self.values = {"seconds": seconds, "count": count}

    def metrics(self, arguments):
        """Return no metrics, because none is compared."""
        return (METRIC,)

    def commands(self, arguments, endpoints):
        """Return both: bound by time, bound by size."""
        return tuple(
            base.Command(
                name=bound,
                argv=("sh", "-c", loop.format(**self.values)),
                timeout=120,
                bound=bound,
            )
            for bound, loop in _LOOPS.items()
        )

    def parse(self, arguments, outcome):
        """Return how long it took."""
        return [sample.Sample(METRIC, outcome.seconds)]


def assigned(seconds, count):
    """Return it, assigned."""
    return assignment.Assignment(Busy(seconds, count), {})
