# SPDX-License-Identifier: Apache-2.0
"""The longest gap between the replies to a ping."""

import collections.abc
import itertools
import re

from rally_vmperf.measurement.event import estimates

#: A line of ``ping -D`` about a reply: its time on the clock of the sender.
_REPLY = re.compile(
    r"\[([0-9]{1,12}\.[0-9]{6})\] [0-9]+ bytes from .{1,300}\bicmp_seq=[0-9]+ "
)
#: The share of gaps below the usual gap, which is the error of the longest.
_USUAL = 0.99


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
) -> estimates.Approximation:
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
    return estimates.Approximation(value=longest, error=max(usual, interval))
