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
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import promises
from rally_vmperf.measurement.comparison import rate_caps

#: The reason why a limit of some volumes is not compared with a rate.
_PARTIAL = (
    "a workload measures volumes {numbers}, and not all of them have this "
    "limit for the same guests; give them the same volume type in each guest"
)
#: The names of metrics by the numbers of the volumes of their workload.
_Metrics = dict[tuple[int, ...], list[str]]


def list_caps(
    booted: models.BootedGuests,
    assignments: collections.abc.Iterable[assignment.Assignment],
) -> tuple[list[rate_caps.Cap], list[finding.Finding]]:
    """Return the policies that limit guests, those of unused volumes too.

    The findings name the limits that only some volumes of a workload have.
    """
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
    findings = []
    for numbers, names in metrics.items():
        combined, partial = _combine(
            [booted.volume_caps.get(n, ()) for n in numbers]
        )
        caps += (
            dataclasses.replace(cap, metrics=tuple(names)) for cap in combined
        )
        text = ", ".join(map(str, numbers))
        findings += [
            promises.create_not_checked_finding(
                cap.name, _PARTIAL.format(numbers=text)
            )
            for cap in partial
        ]
    used = {number for numbers in metrics for number in numbers}
    caps += (
        dataclasses.replace(cap, metrics=())
        for number, volume_caps in booted.volume_caps.items()
        if number not in used
        for cap in volume_caps
    )
    return [*dict.fromkeys(caps)], [*dict.fromkeys(findings)]


def _combine(
    volumes: collections.abc.Sequence[collections.abc.Iterable[rate_caps.Cap]],
) -> tuple[list[rate_caps.Cap], list[rate_caps.Cap]]:
    """Return the caps of volumes that one run of a workload uses in turn.

    The slowest volume determines the rate of the others. If a volume has no
    cap, the rate of all has none; the caps of the others are the second list.

    :param volumes: The caps of each volume.
    """
    limits: dict[tuple[object, ...], list[rate_caps.Cap]] = {}
    for volume_caps in volumes:
        for cap in volume_caps:
            key = (cap.unit, cap.direction, cap.guests)
            limits.setdefault(key, []).append(cap)
    number = len(volumes)
    combined: list[rate_caps.Cap] = []
    partial: list[rate_caps.Cap] = []
    for caps in limits.values():
        if len(caps) < number:
            partial += caps
            continue
        least = min(caps, key=lambda cap: cap.rate)
        combined.append(
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
    return combined, partial
