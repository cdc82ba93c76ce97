# SPDX-License-Identifier: Apache-2.0
"""The directions and the operations of metrics, by which caps apply."""

import collections.abc
import dataclasses
import re

from rally_vmperf.measurement import gathering
from rally_vmperf.measurement.comparison import rate_caps
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.samples import sample

#: The side of an operation in the last word of a metric before its quantity:
#: ``randread``, ``rewrite``.
_SIDE = re.compile(r"(?:\w{0,40}_|re|rand)?(read|write)\Z")
#: The directions that limit the traffic of a network metric.
_TRAFFIC = {
    "to_peer": ("egress",),
    "from_peer": ("ingress",),
    "guest_to_guest": ("egress", "ingress"),
}


def split_side(name: str) -> tuple[tuple[str, ...], str]:
    """Return the words that name the command of a metric, and its side.

    The sides of a mixed pattern, such as ``randrw.read``, are one command.
    """
    name_parts = tuple(name.split(".")[:-1])
    match = _SIDE.match(name_parts[-1])
    is_side = match and match[0] == match[1] and len(name_parts) > 3
    return name_parts[:-1] if is_side else name_parts, match[
        1
    ] if match else ""


def find_directions(
    metric: sample.Metric, metrics: collections.abc.Iterable[sample.Metric]
) -> tuple[str, ...]:
    """Return the directions whose caps apply to a metric; () if unknown.

    The total only applies to a command that either reads or writes.

    :param metrics: All metrics of the run.
    """
    name_parts = metric.name.split(".")[:-1]
    if name_parts[0] == "network":
        return _TRAFFIC.get(name_parts[-1], ())
    command, side = split_side(metric.name)
    if not side:
        return ()
    other = {"read": "write", "write": "read"}[side]
    is_mixed = any(
        split_side(another.name) == (command, other) for another in metrics
    )
    return (side,) if is_mixed else (side, "total")


def is_merged(metric: sample.Metric) -> bool:
    """Return whether a metric counts operations that the kernel can merge.

    The kernel merges sequential requests, so that their number on the device
    is not known.
    """
    name_parts = metric.name.split(".")[2:-1]
    is_random = any("rand" in part for part in name_parts)
    return metric.unit == "ops/s" and not is_random


def count_operations(
    metric: sample.Metric,
    request_bytes: float,
    metrics: collections.abc.Iterable[sample.Metric],
    conditions: gathering.Conditions,
) -> float:
    """Return the operations of a request; zero if its size is not known.

    :param metric: The rate of requests of a command.
    :param request_bytes: The largest request that is one operation.
    :param metrics: All metrics of the run.
    """
    prefix = metric.name.rpartition(".")[0]
    for other in metrics:
        if other.name.rpartition(".")[0] == prefix and other.unit == "B/s":
            both = [
                gathering.guest_samples(each, conditions)
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
    metric: sample.Metric,
    caps: collections.abc.Iterable[rate_caps.Cap],
    metrics: collections.abc.Collection[sample.Metric],
    conditions: gathering.Conditions,
) -> tuple[rate_caps.Cap, ...]:
    """Return the caps that can limit a metric, with the rate of its requests.

    A cap is only omitted if the direction of the metric is known.

    :param metrics: All metrics of the run.
    """
    applied = []
    for cap in caps:
        if not cap.find_factor(metric):
            continue
        directions = find_directions(metric, metrics)
        if directions and cap.direction not in ("", *directions):
            continue
        operations = cap.request_bytes and count_operations(
            metric, cap.request_bytes, metrics, conditions
        )
        applied.append(
            dataclasses.replace(
                cap,
                rate=cap.rate / operations,
                payload_rate=cap.payload_rate / operations,
                burst=cap.burst / operations,
                request_bytes=0,
            )
            if operations
            else cap
        )
    return tuple(applied)
