"""The drawing of one metric against the number of guests."""

import collections.abc
import typing as t

import markupsafe
from matplotlib import figure

from rally_vmperf.questions.density.section import law_line
from rally_vmperf.questions.density.section import shares
from rally_vmperf.questions.density.section import told
from rally_vmperf.report import look
from rally_vmperf.report import text

#: Half the width of what stands at one number of guests.
_HALF = 0.36
#: Width over which repetitions are spread.
_SPREAD = 0.42
#: The same in all drawings, so that they stand in line.
_MARGINS = {
    "left": 0.055,
    "right": 0.99,
    "bottom": 0.17,
    "top": 0.9,
    "wspace": 0.14,
}
#: Numbers of guests up to which each has its mark on the axis.
_MOST_TICKS = 12


def draw(series: shares.Series, name: str) -> markupsafe.Markup:
    """Return two panels: what each guest has, and all of them together.

    :param name: of the drawing, begins its identifiers
    """
    together = any(one.total is not None for one in series.shares)
    with look.settings(name):
        drawn = figure.Figure(figsize=(6.2, 2.3))
        drawn.subplots_adjust(**_MARGINS)
        each = drawn.add_subplot(1, 2, 1)
        each.set_gid(f"{name}-each")
        _each(each, series, name)
        if together:
            total = drawn.add_subplot(1, 2, 2)
            total.set_gid(f"{name}-total")
            _total(total, series, name)
        row_name = text.printable(series.row.metric.name)
        return look.svg(drawn, f"{row_name}: {told.curve(series)}")


def _each(axes: t.Any, series: shares.Series, name: str) -> None:
    whole = told.whole(series)
    axes.set_title(f"each guest, % of {whole}", loc="left", fontsize=8)
    for share in series.shares:
        _faint(axes, share, [value * 100 for value in share.repetitions])
    _line(axes, series, "bare", 100, look.BARE, "s", f"{name}-bare")
    _line(axes, series, "value", 100, look.GUEST, "", f"{name}-mean")
    for share in series.measured:
        _mark(axes, share, series, f"{name}-{share.guests}")
        if series.row.of == "worst" and share.worst is not None:
            axes.plot(
                [share.guests],
                [share.worst * 100],
                color=look.GUEST,
                marker="v",
                markersize=5,
                linestyle="none",
                gid=f"{name}-{share.guests}-worst",
            )
        limit = told.limit_of(series, share)
        if limit is not None:
            axes.plot(
                [share.guests - _HALF, share.guests + _HALF],
                [limit * 100] * 2,
                color=look.INK,
                linewidth=1.6,
                linestyle=(0, (2, 1)),
                gid=f"{name}-{share.guests}-limit",
            )
    law_line.draw(axes, series, lambda guests, total: total / guests * 100)
    _finish(axes, series)


def _total(axes: t.Any, series: shares.Series, name: str) -> None:
    axes.set_title(
        f"{told.together(series)}: {told.unit(series)}",
        loc="left",
        fontsize=8,
    )
    most = max(one.guests for one in series.shares)
    axes.plot([0, 2 * most], [0, 2 * most], color=look.FAINT, linewidth=1)
    top = 1.0
    for share in series.shares:
        _faint(axes, share, share.totals)
        top = max(top, *share.totals, share.total or 0, share.bare_total or 0)
    _line(axes, series, "bare_total", 1, look.BARE, "s", f"{name}-bare-total")
    _line(axes, series, "total", 1, look.GUEST, "o", f"{name}-sum")
    top = max(top, law_line.draw(axes, series, lambda guests, total: total))
    law_line.peak(axes, series, f"{name}-peak")
    _finish(axes, series)
    axes.set_ylim(0, top * 1.15)


def _faint(
    axes: t.Any,
    share: shares.Share,
    values: collections.abc.Sequence[float],
) -> None:
    """Put the repetitions around their mean, in the order of time."""
    step = _SPREAD / max(1, len(values) - 1)
    first = share.guests - (_SPREAD / 2 if len(values) > 1 else 0)
    axes.plot(
        [first + place * step for place in range(len(values))],
        values,
        color=look.BARE if share.void else look.GUEST,
        marker="o",
        markersize=3.2,
        markeredgewidth=0,
        alpha=0.3,
        linestyle="none",
    )


def _line(
    axes: t.Any,
    series: shares.Series,
    what: str,
    factor: float,
    colour: str,
    mark: str,
    gid: str,
) -> None:
    """Join what is known and means what it claims."""
    known = [
        (one.guests, getattr(one, what) * factor)
        for one in series.shares
        if getattr(one, what) is not None
        and (what.startswith("bare") or not one.void)
    ]
    if known:
        axes.plot(
            *zip(*known, strict=True),
            color=colour,
            linewidth=1.5,
            linestyle="-" if colour == look.GUEST else (0, (4, 2)),
            marker=mark,
            markersize=4,
            gid=gid,
        )


def _mark(
    axes: t.Any, share: shares.Share, series: shares.Series, gid: str
) -> None:
    """Put the mean guest with its interval; colour and mark are verdicts."""
    status = series.row.statuses.get(share.guests) or "none"
    colour, mark = look.VERDICTS["void" if share.void else status]
    value = share.value or 0.0
    if share.low is not None and share.high is not None:
        axes.plot(
            [share.guests] * 2,
            [share.low * 100, share.high * 100],
            color=colour,
            linewidth=2,
            marker="_",
            markersize=7,
            solid_capstyle="butt",
            gid=f"{gid}-interval",
        )
    axes.plot(
        [share.guests],
        [value * 100],
        color="white" if share.void else colour,
        marker=mark,
        markersize=6 if share.void else 7,
        markeredgecolor=colour if share.void else "white",
        markeredgewidth=1.2 if share.void else 0.8,
        linestyle="none",
        gid=gid,
    )


def _finish(axes: t.Any, series: shares.Series) -> None:
    """Give the axes their ends and marks; hatch what means nothing."""
    levels = [one.guests for one in series.shares]
    for share in series.shares:
        if share.void or share.value is None:
            axes.axvspan(
                share.guests - _HALF,
                share.guests + _HALF,
                facecolor="none",
                edgecolor=look.FAINT,
                hatch="////",
                linewidth=0,
                zorder=0.5,
            )
    axes.set_xlim(min(levels) - 0.6, law_line.reach(series) + 0.6)
    if len(levels) <= _MOST_TICKS:
        axes.set_xticks(_apart(levels, law_line.reach(series)))
    axes.set_xlabel("guests", fontsize=8)
    axes.set_ylim(0, axes.get_ylim()[1] * 1.06)
    axes.tick_params(labelsize=7)
    axes.grid(axis="y")


def _apart(levels: list[int], reach: float) -> list[int]:
    """Return the numbers of guests whose marks do not run together."""
    kept: list[int] = []
    for level in reversed(levels):
        if not kept or kept[-1] - level >= reach / 24:
            kept.append(level)
    return kept
