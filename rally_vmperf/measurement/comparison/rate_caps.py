# SPDX-License-Identifier: Apache-2.0
"""The caps on rates: limits of links and policies."""

import collections.abc
import dataclasses
import math
import re
import typing as t

import annotated_types

from rally_vmperf import formats
from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units

#: A rate that is closer to a cap than this share is limited by it.
NEAR_SHARE = 0.02
#: Sides that differ by less, in percent, and vary by at most
#: ``STEADY_PERCENT`` share a bottleneck.
EQUAL_PERCENT = 0.5
STEADY_PERCENT = 0.3
#: Bytes of a packet with TCP over IPv4 that are no payload, and those that
#: Ethernet adds to it on the wire.
_HEADERS, _FRAME = 20 + 20 + 12, 14 + 4 + 8 + 12
#: The unit of caps, and the factor to it, for each base unit of a rate.
_UNITS = {
    ("network", "bit/s"): ("bit/s", 1.0),
    ("network", "B/s"): ("bit/s", 8.0),
    ("disk", "B/s"): ("B/s", 1.0),
    ("disk", "ops/s"): ("ops/s", 1.0),
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Cap:
    """A rate that no guest, or no machine, can exceed.

    :param part: The limited device: ``disk``, ``network`` or ``cpu``.
    :param unit: The unit: ``bit/s`` of a network, ``B/s`` or ``ops/s`` of a
        disk, ``%`` of the time of each vCPU.
    :param rate: The largest rate, in the unit.
    :param payload_rate: The largest rate of the payload, in the unit.
    :param name: The name of the link or the policy.
    :param shared: Whether all guests share the cap, as they share a link;
        each guest has its own policy.
    :param direction: The direction: reads, writes or their total; traffic to
        the guest (ingress) or from it (egress); "" for any.
    :param is_guarantee: Whether the rate is the least one that the guest
        gets, and no limit.
    :param burst: The amount beyond the rate that a burst may have, in the
        unit times seconds.
    :param request_bytes: The largest request that is one operation; QEMU
        counts a larger one as a multiple. Zero if each request is one.
    :param guests: The names of the guests that have the policy; empty for all
        guests.
    :param metrics: The names of the metrics that the cap applies to, if a
        machine has several disks; None for all of the device.
    """

    part: t.Annotated[str, formats.one_of("disk", "network", "cpu")]
    unit: t.Annotated[str, formats.one_of("B/s", "bit/s", "ops/s", "%")]
    rate: t.Annotated[float, formats.number("> 0", annotated_types.Gt(0))]
    payload_rate: formats.Amount
    name: str
    shared: bool = False
    direction: t.Annotated[
        str, formats.one_of("", "read", "write", "total", "ingress", "egress")
    ] = ""
    is_guarantee: bool = False
    burst: formats.Amount = 0
    request_bytes: formats.Amount = 0
    guests: tuple[str, ...] = ()
    metrics: tuple[str, ...] | None = None

    def find_factor(self, metric: sample.Metric) -> float:
        """Return the factor from the unit of a metric to that of the cap.

        It is zero for a metric that the cap does not apply to.
        """
        unit, factor = find_unit(metric)
        is_limited = self.metrics is None or metric.name in self.metrics
        is_alike = metric.name.partition(".")[0] == self.part
        return factor if is_alike and is_limited and unit == self.unit else 0.0


def network(
    rate: float,
    name: str,
    mtu: int = 1500,
    shared: bool = False,
    **properties: t.Any,
) -> Cap:
    """Return the cap of a network: its payload is what TCP can carry.

    :param rate: The rate on the wire, in bits per second.
    :param properties: Other fields of the cap.
    """
    payload = rate * max(0, mtu - _HEADERS) / (mtu + _FRAME)
    return Cap(
        part="network",
        unit="bit/s",
        rate=rate,
        payload_rate=payload,
        name=name,
        shared=shared,
        **properties,
    )


def disk(rate: float, unit: str, name: str, **properties: t.Any) -> Cap:
    """Return the cap of a disk, in bytes or operations per second.

    :param properties: Other fields of the cap.
    """
    return Cap(
        part="disk",
        unit=unit,
        rate=rate,
        payload_rate=rate,
        name=name,
        **properties,
    )


def cpu(percent: float, name: str) -> Cap:
    """Return the cap of the time of each vCPU, in percent."""
    return Cap(
        part="cpu", unit="%", rate=percent, payload_rate=percent, name=name
    )


def links(
    nets: collections.abc.Iterable[collections.abc.Mapping[str, str | None]],
    machine: str,
) -> list[Cap]:
    """Return the caps of a machine's links with a known speed, a list.

    :param nets: The links of its fingerprint: name, speed in Mbit/s and MTU.
    """
    caps = []
    for link in nets:
        speed, mtu = (_parse_number(link.get(key)) for key in ("speed", "mtu"))
        if speed and mtu:
            rate = speed * 1e6
            name = (
                f"link {link.get('name')} of {machine}, "
                f"{units.show(rate, 'bit/s')} with an MTU of {mtu}"
            )
            caps.append(network(rate, name, mtu, shared=True))
    return caps


def _parse_number(text: str | None) -> int:
    """Return the integer in a text; 0 if the text is not a number."""
    digits = re.fullmatch("[0-9]{1,9}", text or "")
    return int(digits[0]) if digits else 0


def describe_bottleneck(
    comparison: loss.Comparison,
    caps: collections.abc.Iterable[Cap] = (),
    machines: int = 1,
    metrics: int = 1,
) -> str:
    """Return the bottleneck outside the guest as text, or "".

    :param machines: The number of concurrent guests.
    :param metrics: The number of compared metrics that can have a cap.
    """
    rate = comparison.guest
    bottleneck = describe_limiting_cap(
        comparison.metric, rate, rate * machines, caps
    )
    return bottleneck or _describe_equal_sides(comparison, metrics)


def describe_limiting_cap(
    metric: sample.Metric,
    guest_rate: float,
    total: float,
    caps: collections.abc.Iterable[Cap],
) -> str:
    """Return the link or policy that limits a rate as text, or "".

    :param guest_rate: The rate of the mean guest, in the metric's unit.
    :param total: The total rate of the concurrent guests.
    """
    for cap in caps:
        factor = cap.find_factor(metric)
        if not factor or cap.is_guarantee:
            continue
        rate = (total if cap.shared else guest_rate) * factor
        if (
            cap.payload_rate * (1 - NEAR_SHARE)
            <= rate
            <= cap.rate * (1 + NEAR_SHARE)
        ):
            is_total = cap.shared and total > guest_rate
            subject = (
                "the guests together have" if is_total else "the guest has"
            )
            return f"{subject} {units.show(rate, cap.unit)} of {cap.name}"
    return ""


def describe_policy(
    metric: sample.Metric,
    guest_rate: float | None,
    caps: collections.abc.Iterable[Cap] | None,
) -> str:
    """Return the policy that limits a rate as text, or "".

    :param guest_rate: The rate of the mean guest, in the metric's unit; None
        without a rate.
    :param caps: The caps on the rate; None without any.
    """
    rate = guest_rate or 0.0
    policies = [cap for cap in caps or () if not cap.shared]
    return describe_limiting_cap(metric, rate, rate, policies)


def count_capped(metrics: collections.abc.Iterable[sample.Metric]) -> int:
    """Return the number of metrics that a link or a policy can limit."""
    return sum(bool(find_unit(metric)[0]) for metric in metrics)


def find_unit(metric: sample.Metric) -> tuple[str, float]:
    """Return the unit of a metric's caps, or "", and its factor."""
    if metric.better != "higher":
        return "", 0.0
    return _UNITS.get((metric.name.partition(".")[0], metric.unit), ("", 0.0))


def _describe_equal_sides(comparison: loss.Comparison, metrics: int) -> str:
    """Return that both sides are suspiciously equal as text, or "".

    :param metrics: The number of metrics, for which chance is corrected.
    """
    if not find_unit(comparison.metric)[0]:
        return ""
    sides = (comparison.bare_values, comparison.guest_values)
    if min(map(len, sides)) < statistics.FEWEST:
        return ""
    spreads = [
        statistics.spread_percent(side_values) or 0.0 for side_values in sides
    ]
    difference_percent = abs(comparison.overhead_percent)
    if difference_percent > EQUAL_PERCENT or max(spreads) > STEADY_PERCENT:
        return ""
    confidence = verdict.correct_confidence(comparison.confidence, metrics)
    if _find_chance_of_steadiness(comparison) > 1 - confidence:
        return ""
    return (
        f"both sides give the same: {difference_percent:.2f} % apart, "
        f"while they vary by {spreads[0]:.2f} and {spreads[1]:.2f} %"
    )


def _find_chance_of_steadiness(comparison: loss.Comparison) -> float:
    """Return the chance that sides are so steady without a bottleneck.

    Without one, repetitions of each side vary by ``EQUAL_PERCENT`` or more.
    """
    from scipy import special

    squares, freedom = statistics.sum_squares(
        (comparison.bare_values, comparison.guest_values)
    )
    usual = math.log1p(EQUAL_PERCENT / 100) ** 2
    return float(special.chdtr(freedom, squares / usual))
