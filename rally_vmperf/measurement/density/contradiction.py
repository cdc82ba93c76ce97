"""Whether totals follow the law that was fitted to them, in words."""

import collections.abc
import math
import statistics as stdlib
import typing as t

from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.samples import units

if t.TYPE_CHECKING:
    from rally_vmperf.measurement.density import law as law_

#: A level's total that is off by less, in percent, contradicts nothing.
MATTERS_PERCENT = 5.0
#: The same where no repetitions tell what is chance.
MATTERS_ONCE_PERCENT = 10.0
#: Share of the variance below which the law explains little.
LEAST_R_SQUARED = 0.8

Totals = collections.abc.Mapping[int, statistics.Values]
#: Guests -> the repetition of each of their totals.
Numbers = collections.abc.Mapping[int, collections.abc.Sequence[int]]


def reason(
    law: "law_.Law", totals: Totals, confidence: float, numbers: Numbers
) -> str:
    """Return why the totals do not follow the law, or nothing.

    :param numbers: of the repetitions; empty where they are not known
    """
    return "; ".join(
        one
        for one in (
            _gain(totals, confidence, numbers),
            _off(law, totals, confidence),
        )
        if one
    )


def _gain(totals: Totals, confidence: float, numbers: Numbers) -> str:
    """Return by how much guests exceed as many lone guests, or nothing.

    The law allows losses only. The interval is the one that decides losses:
    of pairs, where enough repetitions have both.
    """
    lone = totals.get(1)
    if not lone:
        return ""
    found = []
    for guests, values in totals.items():
        alone = [guests * one for one in lone]
        before = dict(zip(numbers.get(1, ()), alone, strict=False))
        after = dict(zip(numbers.get(guests, ()), values, strict=False))
        both = sorted(before.keys() & after.keys())
        paired = len(both) >= statistics.FEWEST
        if paired:
            alone = [before[one] for one in both]
            values = [after[one] for one in both]
        ratio = statistics.geometric_mean(values) / statistics.geometric_mean(
            alone
        )
        ends = statistics.interval(alone, values, confidence, paired=paired)
        sure = ends is None or ends[0] > 1
        if sure and (ratio - 1) * 100 > MATTERS_PERCENT:
            found.append((ratio, guests))
    if not found:
        return ""
    ratio, guests = max(found)
    return (
        f"{guests} guests reach {units.show_percent((ratio - 1) * 100)} % "
        f"more than {guests} times one guest, but the law allows no gain"
    )


def _off(law: "law_.Law", totals: Totals, confidence: float) -> str:
    """Return which level is off the law by more than chance, or nothing.

    An F test compares the distances of the levels' means with the variance
    within levels; without repetitions the size alone decides.
    """
    off = {
        guests: stdlib.fmean(statistics.logarithms(values))
        - math.log(law.total(guests))
        for guests, values in totals.items()
    }
    guests = max(off, key=lambda one: abs(off[one]))
    percent = math.expm1(off[guests]) * 100
    detail = (
        f"at {units.number_of('guest', guests)} the total is "
        f"{units.show_percent(abs(percent))} % "
        f"{'above' if percent > 0 else 'below'} the law"
    )
    chance = _chance(law, totals, off)
    if chance is None:
        return detail if abs(percent) > MATTERS_ONCE_PERCENT else ""
    if abs(percent) <= MATTERS_PERCENT:
        return ""
    if chance < 1 - confidence:
        return f"{detail}, more than repetitions vary"
    if law.r_squared < LEAST_R_SQUARED:
        share = units.show_percent(law.r_squared * 100)
        return f"{detail}, which explains {share} % of the variance only"
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
