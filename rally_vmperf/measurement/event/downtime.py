# SPDX-License-Identifier: Apache-2.0
"""The outage of a guest, from the offsets of its clock and from replies.

A guest cannot measure its own downtime, because its clock stops as well. The
clock is then late by the downtime: the offset from the clock of the controller
falls between two consecutive readings. Readings that are far apart are not
compared, because their difference contains the drift of the clock.

A step of the clock, as by NTP, looks the same. The time since the boot does
not have it, but a resolution of 10 ms only; it decides where both
differ, and where the clock shows no jump.
"""

import collections.abc
import dataclasses
import itertools
import re
import statistics

from rally_vmperf.measurement.event import figures

#: Readings whose error is above this multiple of the median are ignored: their
#: request waited in the network or in the stopped guest.
_MAX_ERROR = 3.0
#: The resolution of the time since the boot in seconds.
_RESOLUTION = 0.01
#: Readings on each side whose bounds are combined, and their maximum distance
#: in seconds from the nearest one.
_COMBINED = 25
_NEAR = 0.5
#: The largest differences of consecutive readings that may be the jump.
_CANDIDATES = 40
#: A line of ``ping -D`` about a reply: its time on the clock of the sender.
_REPLY = re.compile(
    r"\[([0-9]{1,12}\.[0-9]{6})\] [0-9]+ bytes from .{1,300}\bicmp_seq=[0-9]+ "
)
#: The share of gaps below the usual gap, which is the error of the longest.
_USUAL = 0.99


@dataclasses.dataclass(frozen=True, kw_only=True)
class OffsetReading:
    """A reading of the clock of a guest.

    :param at: The middle of the request on the clock of the controller.
    :param offset: The clock of the guest minus that of the controller, in
        seconds.
    :param error: The maximum error of the offset in seconds.
    :param running: The time of the guest since its boot minus the clock of
        the controller, in seconds; None if it is unknown.
    """

    at: float
    offset: float
    error: float
    running: float | None = None


Readings = collections.abc.Sequence[OffsetReading]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Stop:
    """A stop of a guest that boots again, by probes.

    Times are seconds since the epoch on the clock of the controller.

    :param last: The last answer.
    :param silent: The first probe without an answer.
    :param absent: The last probe without an answer.
    :param answered: The first answer of the new boot.
    """

    last: float
    silent: float
    absent: float
    answered: float

    def estimate_downtime(self) -> figures.Approximation:
        """Return the seconds without an answer.

        The guest stops after an answer and before the probe that has none,
        and is back between two probes.
        """
        least = max(0.0, self.absent - self.silent)
        most = self.answered - self.last
        return figures.Approximation(
            value=(least + most) / 2, error=(most - least) / 2
        )


def estimate_downtime(readings: Readings) -> figures.Approximation:
    """Return the downtime in seconds.

    Without a jump, the clock was corrected for the downtime, or there was
    none: the downtime is between zero and the longest time between two
    readings.

    :param readings: The readings around one event, in order.
    :raises ValueError: If there are fewer than three precise readings.
    """
    by_clock = _estimate_jump(readings)
    since_boot = [
        dataclasses.replace(
            reading,
            offset=reading.running + _RESOLUTION / 2,
            error=reading.error + _RESOLUTION / 2,
        )
        for reading in readings
        if reading.running is not None
    ]
    if len(since_boot) < len(readings):
        return by_clock
    by_boot = _estimate_jump(since_boot)
    distance = abs(by_clock.value - by_boot.value)
    differ = distance > by_clock.error + by_boot.error
    return by_boot if differ or by_boot.error < by_clock.error else by_clock


def _estimate_jump(readings: Readings) -> figures.Approximation:
    """Return the time by which the offset falls in seconds.

    :raises ValueError: If there are fewer than three precise readings.
    """
    precise = _select_precise(readings)
    if len(precise) <= 2:
        raise ValueError(
            f"{len(precise)} precise readings of the clock: must be at least 3"
        )
    low, high = _bound(precise, _find_jump(precise))
    if low <= 0:
        low = 0.0
        high = max(
            late.at + late.error - (early.at - early.error)
            for early, late in itertools.pairwise(readings)
        )
    return figures.Approximation(
        value=(low + high) / 2, error=(high - low) / 2
    )


def _find_jump(readings: Readings) -> int:
    """Return the place of the first reading after the surest jump."""
    places = sorted(
        range(1, len(readings)),
        key=lambda place: readings[place].offset - readings[place - 1].offset,
    )
    return max(
        places[:_CANDIDATES], key=lambda place: _bound(readings, place)[0]
    )


def _select_precise(readings: Readings) -> list[OffsetReading]:
    """Return the readings whose error is not far above the median."""
    if not readings:
        return []
    usual = statistics.median(reading.error for reading in readings)
    return [
        reading for reading in readings if reading.error <= _MAX_ERROR * usual
    ]


def _bound(readings: Readings, place: int) -> tuple[float, float]:
    """Return the smallest and the largest jump before a reading.

    The offset is between the bounds of all readings of a side, unless the
    clock drifts; then only the nearest reading counts.
    """
    before = _intersect(list(reversed(readings[:place])))
    after = _intersect(readings[place:])
    return before[0] - after[1], before[1] - after[0]


def _intersect(readings: Readings) -> tuple[float, float]:
    """Return the bounds of the offset that agree with the first reading.

    :param readings: The readings of a side, the nearest one first.
    """
    bounds = [
        (reading.offset - reading.error, reading.offset + reading.error)
        for reading in itertools.islice(readings, _COMBINED)
        if abs(reading.at - readings[0].at) <= _NEAR
    ]
    low = max(low for low, _ in bounds)
    high = min(high for _, high in bounds)
    return (low, high) if low <= high else bounds[0]


def parse_reply(line: str) -> float | None:
    """Return the time of a reply in seconds; None for another line.

    :param line: A line of the output of ``ping -D``.
    """
    match = _REPLY.match(line)
    return float(match[1]) if match else None


def estimate_gap(
    replies: collections.abc.Sequence[float],
    begun: float,
    ended: float,
    interval: float,
) -> figures.Approximation:
    """Return the longest gap in seconds between replies around an event.

    The error is the usual gap: an interruption begins after a reply and ends
    before one.

    :param replies: The times of replies in order, in seconds.
    :param begun: The time of the request for the event.
    :param ended: The end of the event.
    :param interval: The seconds between two requests of ping.
    :raises ValueError: If there is no reply before or after the event.
    """
    if not replies or replies[0] > begun or replies[-1] < ended:
        raise ValueError(
            "no reply to ping before the event or after it; allow ICMP "
            "from the address of the peer"
        )
    gaps = [
        (late - early, late) for early, late in itertools.pairwise(replies)
    ]
    within = [gap for gap, late in gaps if late >= begun]
    longest = max(within)
    others = sorted(gap for gap, _ in gaps if gap < longest)
    usual = others[int(_USUAL * (len(others) - 1))] if others else longest
    return figures.Approximation(value=longest, error=max(usual, interval))
