"""The fitted law in the drawing of a metric."""

import collections.abc
import typing as t

from rally_vmperf.questions.density.section import shares
from rally_vmperf.report import look

Scale = collections.abc.Callable[[float, float], float]

_STEPS = 60


def reach(series: shares.Series) -> float:
    """Return the number of guests at which the drawing ends.

    Beyond what was measured the law is drawn for twice as many guests at
    most: enough to see the peak, if it is near, and what is predicted.
    """
    most = max(one.guests for one in series.shares)
    law, fits = series.row.law, series.row.fits
    if law is None:
        return most
    wanted = [most * 1.3]
    if law.peak is not None:
        wanted.append(law.peak + 0.5)
    if fits is not None and fits.predicted is not None:
        wanted.append(fits.predicted)
    return min(2.0 * most, max(wanted))


def draw(axes: t.Any, series: shares.Series, scale: Scale) -> float:
    """Draw the law, dashed where it is extrapolated; return its top.

    :param scale: from guests and total, in lone guests, to the axis
    """
    law = series.row.law
    if law is None:
        return 0.0
    first = min(one.guests for one in series.shares)
    top = 0.0
    ends = (first, law.largest, max(law.largest, reach(series)))
    for start, end, style in (
        (*ends[:2], "-"),
        (*ends[1:], (0, (3, 2))),
    ):
        guests = [
            start + (end - start) * step / _STEPS for step in range(_STEPS + 1)
        ]
        values = [
            scale(one, law.total(one) / series.rate / series.hosts)
            for one in guests
        ]
        top = max(top, *values)
        axes.plot(
            guests, values, color=look.LAW, linewidth=0.9, linestyle=style
        )
    return top


def peak(axes: t.Any, series: shares.Series, gid: str) -> None:
    """Mark where the total is largest, if the drawing goes that far."""
    law = series.row.law
    if law is None or law.peak is None or law.peak > reach(series):
        return
    height = law.total(law.peak) / series.rate / series.hosts
    left = law.peak > (1 + reach(series)) / 2
    axes.plot(
        [law.peak] * 2,
        [0, height],
        color=look.LAW,
        linewidth=0.9,
        linestyle=(0, (1, 2)),
        gid=gid,
    )
    axes.annotate(
        f"peak at {law.peak:.1f}",
        (law.peak, 0),
        xytext=(-3 if left else 3, 4),
        textcoords="offset points",
        ha="right" if left else "left",
        fontsize=7,
        color=look.LAW,
        bbox={"facecolor": "white", "linewidth": 0, "pad": 0.6},
    )
