"""Whether totals follow the law that was fitted to them, in words."""

import collections.abc
import math
import statistics as stdlib
import typing as t

from rally_vmperf.measurement import statistics
from rally_vmperf.measurement import units

if t.TYPE_CHECKING:
    from rally_vmperf.measurement.density import law as law_

#: A level's total that is off by less, in percent, contradicts nothing.
MATTERS_PERCENT = 5.0
#: The same where no repetitions tell what is chance.
MATTERS_ONCE_PERCENT = 10.0
#: Share of the variance below which the law explains little.
LEAST_R_SQUARED = 0.8

Totals = collections.abc.Mapping[int, statistics.Values]


def words(law: "law_.Law", totals: Totals, confidence: float) -> str:
    """Return why the totals do not follow the law, or nothing."""
    return "; ".join(
        one
        for one in (
            _gain(totals, confidence),
            _off(law, totals, confidence),
        )
        if one
    )


def _gain(totals: Totals, confidence: float) -> str:
    """Say that guests together reach more than each alone.

    The law knows loss only.
    """
    lone = totals.get(1)
    if not lone:
        return ""
    found = []
    for guests, values in totals.items():
        alone = [guests * one for one in lone]
        ratio = statistics.geometric_mean(values) / statistics.geometric_mean(
            alone
        )
        ends = statistics.ratio_interval(alone, values, confidence)
        sure = ends is None or ends[0] > 1
        if sure and (ratio - 1) * 100 > MATTERS_PERCENT:
            found.append((ratio, guests))
    if not found:
        return ""
    ratio, guests = max(found)
    return (
        f"{guests} guests reach {units.show_percent((ratio - 1) * 100)} % "
        f"more than {guests} times one guest, and the law knows no gain"
    )


def _off(law: "law_.Law", totals: Totals, confidence: float) -> str:
    """Say which level lies off the law by more than chance.

    By an F test of what the levels' means lack against what repetitions of
    one level vary; without repetitions, by the size alone.
    """
    off = {
        guests: stdlib.fmean(statistics.logarithms(values))
        - math.log(law.total(guests))
        for guests, values in totals.items()
    }
    guests = max(off, key=lambda one: abs(off[one]))
    percent = math.expm1(off[guests]) * 100
    seen = (
        f"at {units.number_of('guest', guests)} the total is "
        f"{units.show_percent(abs(percent))} % "
        f"{'above' if percent > 0 else 'below'} the law"
    )
    chance = _chance(law, totals, off)
    if chance is None:
        return seen if abs(percent) > MATTERS_ONCE_PERCENT else ""
    if abs(percent) <= MATTERS_PERCENT:
        return ""
    if chance < 1 - confidence:
        return f"{seen}, more than repetitions vary"
    if law.r_squared < LEAST_R_SQUARED:
        share = units.show_percent(law.r_squared * 100)
        return f"{seen}, which explains {share} % of the variance only"
    return ""


def _chance(
    law: "law_.Law", totals: Totals, off: dict[int, float]
) -> float | None:
    """Return the probability of such distances where the law holds."""
    from scipy import stats

    free = 1 + sum(
        1 for one in (law.contention, law.coherency) if one.value > 0
    )
    lacking = len(totals) - free
    repeated = sum(len(values) - 1 for values in totals.values())
    if not repeated:
        return None
    between = math.fsum(
        len(values) * off[guests] ** 2 for guests, values in totals.items()
    )
    within = math.fsum(
        stdlib.variance(logs) * (len(logs) - 1)
        for logs in map(statistics.logarithms, totals.values())
        if len(logs) > 1
    )
    if within <= 0:
        return 0.0 if between > 0 else 1.0
    ratio = (between / lacking) / (within / repeated)
    return float(stats.f.sf(ratio, lacking, repeated))
