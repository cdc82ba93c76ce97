# SPDX-License-Identifier: Apache-2.0
"""The directions and the operations of metrics, by which caps apply."""

import collections.abc
import dataclasses
import functools
import re

from rally_vmperf.measurement import gathering
from rally_vmperf.measurement.comparison import rate_caps
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.samples import sample

#: The commands of fio that read and write.
_MIXED = ("rw", "randrw")
#: The reason why the operations of requests are not known.
UNKNOWN_SIZE = (
    "a request larger than size_iops_sec counts as several operations, and "
    "the size of the requests is not known without a bandwidth"
)
#: The side of an operation in the last word of a metric before its quantity:
#: ``randread``, ``rewrite``.
_SIDE = re.compile(r"(?:\w{0,40}_|re|rand)?(read|write)\Z")
#: The directions that limit the traffic of a network metric.
_TRAFFIC = {
    "to_peer": ("egress",),
    "from_peer": ("ingress",),
    "guest_to_guest": ("egress", "ingress"),
}


def _identify(name_parts: tuple[str, ...]) -> tuple[str, str]:
    """Return the title of the workload and the command in a metric's name.

    :param name_parts: The words of the name up to the command.
    """
    return "-".join(name_parts[1:-1]), name_parts[-1]


class CappedMetrics:
    """The metrics that caps apply to, by their commands and directions.

    :param metrics: All metrics of the run.
    :param conditions: The conditions that measured them.
    :param one_sided: The names of metrics whose command also does what is not
        measured, such as the writes of a section.
    """

    def __init__(
        self,
        metrics: collections.abc.Iterable[sample.Metric],
        conditions: gathering.Conditions,
        one_sided: collections.abc.Set[str] = frozenset(),
    ) -> None:
        self._metrics = tuple(metrics)
        self._conditions = conditions
        self._one_sided = one_sided

    @functools.cached_property
    def _commands(self) -> set[tuple[str, str]]:
        """The commands that ran, each with the title of its workload."""
        return {
            (usage.workload, usage.command)
            for condition in self._conditions
            for usage in condition.command_usage
        }

    def split_side(self, name: str) -> tuple[tuple[str, ...], str]:
        """Return the words that name the command of a metric, and its side.

        The sides of a mixed pattern, such as ``randrw.read``, or of a section
        of a job file are one command; the commands after a label are not.
        """
        name_parts = tuple(name.split(".")[:-1])
        if not (match := _SIDE.match(name_parts[-1])):
            return name_parts, ""
        is_side_of_command = (
            len(name_parts) > 3
            and match[0] == match[1]
            and not self._has_run(name_parts)
            and (name_parts[-2] in _MIXED or self._has_run(name_parts[:-1]))
        )
        return name_parts[:-1] if is_side_of_command else name_parts, match[1]

    def _has_run(self, name_parts: tuple[str, ...]) -> bool:
        """Return whether the words of a metric are those of a command."""
        return _identify(name_parts) in self._commands

    def list_seconds(self, command: tuple[str, ...]) -> list[float]:
        """Return the mean duration of a command in each condition."""
        return [
            usage.seconds / usage.runs
            for condition in self._conditions
            for usage in condition.command_usage
            if (usage.workload, usage.command) == _identify(command)
        ]

    def find_directions(self, metric: sample.Metric) -> tuple[str, ...]:
        """Return the directions whose caps apply to a metric; () if unknown.

        The total is that of both sides of a mixed pattern together.
        """
        name_parts = metric.name.split(".")[:-1]
        if name_parts[0] == "network":
            if name_parts[-1] == "udp":
                del name_parts[-1]
            return _TRAFFIC.get(name_parts[-1], ())
        _, side = self.split_side(metric.name)
        return (side, "total") if side else ()

    def is_mixed(self, metric: sample.Metric) -> bool:
        """Return whether the command of a metric both reads and writes."""
        if metric.name in self._one_sided:
            return True
        command, side = self.split_side(metric.name)
        other = {"read": "write", "write": "read"}.get(side)
        return other is not None and any(
            self.split_side(another.name) == (command, other)
            for another in self._metrics
        )

    def is_merged(self, metric: sample.Metric) -> bool:
        """Return whether a metric counts operations that the kernel can merge.

        The kernel merges sequential requests, so that their number on the
        device is not known.
        """
        command, _ = self.split_side(metric.name)
        return metric.unit == "ops/s" and not command[-1].startswith("rand")

    def count_operations(
        self, metric: sample.Metric, request_bytes: float
    ) -> float:
        """Return the operations of a request; zero if its size is not known.

        :param metric: The rate of requests of a command.
        :param request_bytes: The largest request that is one operation.
        """
        prefix = metric.name.rpartition(".")[0]
        for other in self._metrics:
            if other.name.rpartition(".")[0] != prefix or other.unit != "B/s":
                continue
            both = [
                gathering.guest_samples(each, self._conditions)
                for each in (other, metric)
            ]
            if not all(both):
                continue
            bandwidth, rate = (
                statistics.geometric_mean(gathering.geometric_means(samples))
                for samples in both
            )
            return max(1.0, bandwidth / rate / request_bytes)
        return 0.0

    def list_caps(
        self,
        metric: sample.Metric,
        caps: collections.abc.Iterable[rate_caps.Cap],
    ) -> tuple[rate_caps.Cap, ...]:
        """Return the caps that can limit a metric, with the rate of requests.

        A cap is only omitted if the direction of the metric is known, or if
        the operations of its requests are not.
        """
        applied = []
        for cap in self._list_applied(metric, caps):
            if not cap.request_bytes:
                applied.append(cap)
            elif operations := self.count_operations(
                metric, cap.request_bytes
            ):
                applied.append(
                    dataclasses.replace(
                        cap,
                        rate=cap.rate / operations,
                        payload_rate=cap.payload_rate / operations,
                        burst=cap.burst / operations,
                        request_bytes=0,
                    )
                )
        return tuple(applied)

    def list_uncounted(
        self,
        metric: sample.Metric,
        caps: collections.abc.Iterable[rate_caps.Cap],
    ) -> tuple[rate_caps.Cap, ...]:
        """Return the caps on operations whose number is not known.

        A request is several of them if it is large, and the size of the
        requests of a metric without a bandwidth is not known.
        """
        return tuple(
            cap
            for cap in self._list_applied(metric, caps)
            if cap.request_bytes
            and not self.count_operations(metric, cap.request_bytes)
        )

    def _list_applied(
        self,
        metric: sample.Metric,
        caps: collections.abc.Iterable[rate_caps.Cap],
    ) -> list[rate_caps.Cap]:
        """Return the caps of a metric, by its unit and direction."""
        of_metric = [cap for cap in caps if cap.find_factor(metric)]
        directions = self.find_directions(metric) if of_metric else ()
        return [
            cap
            for cap in of_metric
            if not directions or cap.direction in ("", *directions)
        ]
