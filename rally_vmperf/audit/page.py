# SPDX-License-Identifier: Apache-2.0
"""The HTML page of an audit: a strip of hosts for each metric.

The marks of hosts are points of one path, eight characters each, so that the
page of a thousand hosts stays below a megabyte.
"""

import collections.abc
import dataclasses

import markupsafe

from rally_vmperf import sanitize
from rally_vmperf.audit import host_table
from rally_vmperf.audit import hosts
from rally_vmperf.audit import result
from rally_vmperf.measurement.samples import units
from rally_vmperf.report import page
from rally_vmperf.report import table_labels
from rally_vmperf.report.charts import style

#: The largest distance of a mark from the median, in margins.
_RANGE = 4
#: The width of a strip in its own units, and the heights of its marks.
_WIDTH, _HEIGHTS = 1000, (5, 17, 11, 8, 14)
#: The number of worse hosts with a mark of their own in a strip.
_MOST_MARKS = 30
#: The number of hosts without a difference that are listed one per line.
MOST_ROWS = 400
_MAX_LABEL_CHARACTERS = 60
#: The style of a status, as that of a verdict.
STYLES = {
    "worse": "failed",
    "no result": "void",
    "incomplete": "failed",
    "differ": "inconclusive",
    "not compared": "inconclusive",
    "undecided": "inconclusive",
    "acknowledged": "none",
    "not worse": "passed",
}
#: The statuses of the hosts that a strip names, with their style.
_NAMED = {status: STYLES[status] for status in ("worse", "differ")}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Strip:
    """The losses of one figure on all hosts.

    :param changes: The changes that were compared.
    """

    figure: hosts.HostFigure
    changes: tuple[hosts.HostChange, ...]

    @property
    def named(self) -> list[hosts.HostChange]:
        """The hosts that are worse or differ, the largest loss first."""
        named = [change for change in self.changes if change.status in _NAMED]
        return sorted(named, key=_get_loss, reverse=True)


def render(audit: result.Audit) -> str:
    """Return the page of an audit as text."""
    shown = [
        host_result
        for host_result in audit.results
        if host_result.status != "not worse"
    ]
    healthy = audit.results[len(shown) :]
    listed = max(0, MOST_ROWS - len(shown))
    template = page.create_environment(None).get_template("audit.html.j2")
    html = template.render(
        title="Audit of hosts",
        embedded=False,
        audit=audit,
        rows=shown,
        healthy=healthy[:listed],
        others=[host_result.host.name for host_result in healthy[listed:]],
        columns=host_table.COLUMNS,
        list_cells=host_table.list_cells,
        chart=_draw(list_strips(audit.changes)),
        styles=STYLES,
    )
    return table_labels.add(html)


def list_strips(
    changes: collections.abc.Iterable[hosts.HostChange],
) -> list[Strip]:
    """Return a strip for each figure, those with worse hosts first."""
    by_figure: dict[hosts.HostFigure, list[hosts.HostChange]] = {}
    for change in changes:
        if change.decision is not None:
            by_figure.setdefault(change.figure, []).append(change)
    strips = [
        Strip(figure=figure, changes=tuple(compared))
        for figure, compared in by_figure.items()
    ]
    return sorted(strips, key=lambda strip: -len(strip.named))


def _get_loss(change: hosts.HostChange) -> float:
    """Return the loss of a change in percent; 0 without a decision."""
    return change.decision.loss if change.decision else 0.0


def _draw(strips: collections.abc.Sequence[Strip]) -> markupsafe.Markup:
    """Return the chart of all strips, with one axis for all of them."""
    if not strips:
        return markupsafe.Markup()
    largest = max(
        change.margin for strip in strips for change in strip.changes
    )
    end = _RANGE * (largest or 1.0)
    ticks = style.list_ticks(-end, end)
    labels = markupsafe.Markup().join(
        style.create_element(
            "text", f"{tick:g}", x=f"{_place(tick, end) / 10:g}%", y="14"
        )
        for tick in ticks
    )
    return markupsafe.Markup(
        '<div class="dots strips" role="img" aria-label="Loss of each host by '
        'metric">{}<div class="axis"><svg>{}</svg><small>loss in percent of '
        "the median of the other hosts of the class (right: worse); marks at "
        "the ends lie beyond them</small></div></div>"
    ).format(
        markupsafe.Markup().join(_draw_strip(strip, end) for strip in strips),
        labels,
    )


def _draw_strip(strip: Strip, end: float) -> markupsafe.Markup:
    """Return the label, the marks and the named hosts of a strip.

    :param end: The loss at the right end in percent.
    """
    plain: dict[str, list[str]] = {}
    marks = markupsafe.Markup()
    for number, change in enumerate(strip.changes):
        height = _HEIGHTS[number % len(_HEIGHTS)]
        place = _place(_get_loss(change), end)
        kind = _NAMED.get(change.status, "none")
        plain.setdefault(kind, []).append(f"M{place} {height}h0")
    for change in strip.named[:_MOST_MARKS]:
        kind = _NAMED[change.status]
        glyph = style.GLYPHS[kind]
        name = f"{change.host}: {host_table.describe_loss(change)}"
        marks += style.create_element(
            "text",
            markupsafe.Markup("{}{}").format(
                glyph, style.create_element("title", name)
            ),
            style=kind,
            x=f"{_place(_get_loss(change), end) / 10:g}%",
            y="16",
        )
    margin = strip.changes[0].margin
    lines = markupsafe.Markup().join(
        style.create_element(
            "line",
            style="zero" if loss == 0 else "limit",
            x1=f"{_place(loss, end) / 10:g}%",
            x2=f"{_place(loss, end) / 10:g}%",
            y1="0",
            y2="100%",
        )
        for loss in dict.fromkeys((-margin, 0.0, margin))
    )
    paths = markupsafe.Markup().join(
        style.create_element("path", style=kind, d="".join(points))
        for kind, points in plain.items()
    )
    title = sanitize.printable(strip.figure.title)
    label = style.shorten(title, _MAX_LABEL_CHARACTERS)
    return markupsafe.Markup(
        '<p><span>{}</span><svg>{}<svg viewBox="0 0 {} 22" '
        'preserveAspectRatio="none">{}</svg>{}</svg><b>{}</b></p>'
    ).format(label, lines, _WIDTH, paths, marks, _name_hosts(strip))


def _place(loss: float, end: float) -> int:
    """Return the position of a loss in a strip; beyond the ends, the end."""
    share = (min(max(loss, -end), end) + end) / (2 * end)
    return round(20 + share * (_WIDTH - 40))


def _name_hosts(strip: Strip) -> str:
    """Return the named hosts of a strip as text, or the number of all."""
    named = strip.named
    if not named:
        return units.number_of("host", len(strip.changes))
    names = host_table.list_first(named, lambda change: change.host)
    return sanitize.printable(", ".join(names))
