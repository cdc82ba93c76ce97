"""Rates that links and policies limit, rather than the machine."""

import collections.abc
import dataclasses
import re

from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units

#: A rate that is nearer to a cap than this share is held by it.
NEAR = 0.02
#: Sides that differ by less, in percent, while neither varies by more than
#: ``STEADY_PERCENT``, do what something else allows.
EQUAL_PERCENT = 0.5
STEADY_PERCENT = 0.3
#: Bytes of a packet with TCP over IPv4 that are no payload, and those that
#: Ethernet adds to it on the wire.
_HEADERS, _FRAME = 20 + 20 + 12, 14 + 4 + 8 + 12
#: Of each base unit that a rate has, the unit of caps and the factor to it.
_UNITS = {
    ("network", "bit/s"): ("bit/s", 1.0),
    ("network", "B/s"): ("bit/s", 8.0),
    ("disk", "B/s"): ("B/s", 1.0),
    ("disk", "ops/s"): ("ops/s", 1.0),
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Cap:
    """A rate that no guest, or no machine, can exceed.

    :param part: what it limits: ``disk`` or ``network``
    :param unit: ``bit/s`` of a network, ``B/s`` or ``ops/s`` of a disk
    :param rate: in the unit, at most
    :param payload_rate: what is left of the rate for the payload
    :param name: The name of the link or the policy
    :param shared: whether all guests share it
    """

    part: str
    unit: str
    rate: float
    payload_rate: float
    name: str
    shared: bool = False


def network(
    rate: float, what: str, mtu: int = 1500, shared: bool = False
) -> Cap:
    """Return the cap of a network: its payload is what TCP can carry.

    :param rate: bits per second on the wire
    """
    payload = rate * max(0, mtu - _HEADERS) / (mtu + _FRAME)
    return Cap(
        part="network",
        unit="bit/s",
        rate=rate,
        payload_rate=payload,
        name=what,
        shared=shared,
    )


def disk(rate: float, unit: str, what: str) -> Cap:
    """Return the cap of a disk, in bytes or operations per second."""
    return Cap(part="disk", unit=unit, rate=rate, payload_rate=rate, name=what)


def links(
    nets: collections.abc.Iterable[collections.abc.Mapping[str, str | None]],
    machine: str,
) -> list[Cap]:
    """Return the caps of a machine's links, as far as they report a speed.

    :param nets: of its fingerprint: name, speed in Mbit/s, MTU, as text
    """
    found = []
    for one in nets:
        speed, mtu = (_number(one.get(key)) for key in ("speed", "mtu"))
        if speed and mtu:
            rate = speed * 1e6
            what = (
                f"link {one.get('name')} of {machine}, "
                f"{units.show(rate, 'bit/s')} with an MTU of {mtu}"
            )
            found.append(network(rate, what, mtu, shared=True))
    return found


def _number(text: str | None) -> int:
    """Return what a link says as text; 0 where it is no such number."""
    digits = re.fullmatch("[0-9]{1,9}", text or "")
    return int(digits[0]) if digits else 0


def capped(
    comparison: loss.Comparison,
    caps: collections.abc.Iterable[Cap] = (),
    machines: int = 1,
) -> str:
    """Return what else limits the rate of the guest, or nothing.

    :param machines: how many guests had the rate at once
    """
    each = comparison.guest
    found = limiting_cap(comparison.metric, each, each * machines, caps)
    return found or _equal(comparison)


def limiting_cap(
    metric: sample.Metric,
    each: float,
    total: float,
    caps: collections.abc.Iterable[Cap],
) -> str:
    """Return the link or the policy that holds a rate, or nothing.

    :param each: what the mean guest has, in the metric's unit
    :param total: what all have that run at once
    """
    unit, factor = _kind(metric)
    for one in caps:
        if one.part != metric.name.partition(".")[0] or one.unit != unit:
            continue
        rate = (total if one.shared else each) * factor
        if one.payload_rate * (1 - NEAR) <= rate <= one.rate * (1 + NEAR):
            several = one.shared and total > each
            who = "the guests together have" if several else "the guest has"
            return f"{who} {units.show(rate, unit)} of {one.name}"
    return ""


def _kind(metric: sample.Metric) -> tuple[str, float]:
    """Return the unit of the caps that may hold a metric, and the factor."""
    if metric.better != "higher":
        return "", 0.0
    return _UNITS.get((metric.name.partition(".")[0], metric.unit), ("", 0.0))


def _equal(comparison: loss.Comparison) -> str:
    if not _kind(comparison.metric)[0]:
        return ""
    sides = (comparison.bare_values, comparison.guest_values)
    if min(map(len, sides)) < statistics.FEWEST:
        return ""
    spreads = [statistics.spread_percent(values) or 0.0 for values in sides]
    apart = abs(comparison.overhead_percent)
    if apart > EQUAL_PERCENT or max(spreads) > STEADY_PERCENT:
        return ""
    return (
        f"both sides give the same: {apart:.2f} % apart, while they vary by "
        f"{spreads[0]:.2f} and {spreads[1]:.2f} %"
    )
