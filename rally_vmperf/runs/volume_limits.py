# SPDX-License-Identifier: Apache-2.0
"""The rate limits of disks, with the metrics that they apply to.

A workload measures the boot disk or data volumes, of which each has limits of
its own.
"""

import collections
import collections.abc
import dataclasses

from rally_vmperf.execution import assignment
from rally_vmperf.guests import models
from rally_vmperf.measurement.comparison import rate_caps

#: The names of metrics by the numbers of the volumes of their workload.
_Metrics = dict[tuple[int, ...], list[str]]


def list_caps(
    booted: models.BootedGuests,
    assignments: collections.abc.Iterable[assignment.Assignment],
) -> list[rate_caps.Cap]:
    """Return the policies that limit guests, those of unused volumes too."""
    metrics: _Metrics = collections.defaultdict(list)
    for assigned in assignments:
        numbers = tuple(target.number for target in assigned.targets())
        metrics[numbers] += [metric.name for metric in assigned.metrics()]
    of_root = tuple(metrics.pop((), ()))
    caps = [
        dataclasses.replace(cap, metrics=of_root)
        if cap.part == "disk" and metrics
        else cap
        for cap in booted.caps
    ]
    for numbers, names in metrics.items():
        caps += (
            dataclasses.replace(cap, metrics=tuple(names))
            for cap in _combine(
                [booted.volume_caps.get(n, ()) for n in numbers]
            )
        )
    used = {number for numbers in metrics for number in numbers}
    caps += (
        dataclasses.replace(cap, metrics=())
        for number, volume_caps in booted.volume_caps.items()
        if number not in used
        for cap in volume_caps
    )
    return list(dict.fromkeys(caps))


def _combine(
    volumes: collections.abc.Sequence[collections.abc.Iterable[rate_caps.Cap]],
) -> collections.abc.Iterator[rate_caps.Cap]:
    """Yield the caps of volumes that one run of a workload uses in turn.

    The slowest volume determines the rate of the others. If a volume has no
    cap, the rate of all has none.

    :param volumes: The caps of each volume.
    """
    limits: dict[tuple[object, ...], list[rate_caps.Cap]] = {}
    for volume_caps in volumes:
        for cap in volume_caps:
            key = (cap.unit, cap.direction, cap.guests)
            limits.setdefault(key, []).append(cap)
    number = len(volumes)
    for caps in limits.values():
        if len(caps) < number:
            continue
        least = min(caps, key=lambda cap: cap.rate)
        yield (
            least
            if number == 1
            else dataclasses.replace(
                least,
                rate=number * least.rate,
                payload_rate=number * least.payload_rate,
                burst=number * least.burst,
                name=f"{number} x {least.name}",
            )
        )
