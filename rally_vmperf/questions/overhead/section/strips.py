"""Small charts of all samples of bare metal and each guest."""

import collections
import collections.abc
import statistics

import markupsafe

from rally_vmperf import sanitize
from rally_vmperf.judging.results import figure_result
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units
from rally_vmperf.report import chart_style

#: The maximum number of points of a metric; more become a box for each side.
MOST_POINTS = 200
#: The width of the repetitions as a share of a machine's column.
_SPREAD = 0.6
#: The width of half a box as a share of a column.
_HALF = 0.25
_LONGEST_NAME = 12

MetricSamples = collections.abc.Iterable[sample.MetricSamples]
#: The label, the class of the colour and the values of a column.
Column = tuple[str, str, list[float]]


def draw(
    shown: collections.abc.Sequence[figure_result.FigureResult], name: str
) -> markupsafe.Markup:
    """Return a chart with the samples of each metric over time.

    :param shown: The rows with samples.
    :param name: The prefix of identifiers in the chart.
    """
    if not shown:
        return markupsafe.Markup()
    return markupsafe.Markup('<div class="strips">{}</div>').format(
        markupsafe.Markup().join(
            _draw_panel(row, f"{name}-{position}")
            for position, row in enumerate(shown)
        )
    )


def has_boxes(
    shown: collections.abc.Iterable[figure_result.FigureResult],
) -> bool:
    """Return whether a metric has more samples than a chart has points."""
    return any(
        sum(len(samples.observations) for samples in (*row.bare, *row.guest))
        > MOST_POINTS
        for row in shown
    )


def _draw_panel(
    row: figure_result.FigureResult, name: str
) -> markupsafe.Markup:
    """Return the chart of one metric, a column of points per source."""
    columns = _list_columns("bare metal ", "bare", row.bare)
    columns += _list_columns("", "guest", row.guest)
    draw_column = _draw_points
    if has_boxes([row]):
        columns = _merge_columns(columns)
        draw_column = _draw_box
    values = [value for _, _, samples in columns for value in samples]
    low, high = _axis_range(values)
    width = 100 / len(columns)
    drawing = markupsafe.Markup().join(
        draw_column(
            samples,
            colour,
            [(value - low) / (high - low) for value in samples],
            (position + 0.5) * width,
            width,
        )
        for position, (_, colour, samples) in enumerate(columns)
    )
    labels = [label for label, _, _ in columns]
    ends = [
        sanitize.printable(units.show(end, row.metric.unit))
        for end in (low, high)
    ]
    title = sanitize.printable(row.metric.name)
    return markupsafe.Markup(
        '<figure id="{}" role="img" aria-label="{}: {}, {} to {}">'
        "<b>{}</b><small>{} is better</small><small>{}</small>"
        '<svg viewBox="0 0 100 100" preserveAspectRatio="none">{}</svg>'
        "<small>{}</small><p>{}</p></figure>"
    ).format(
        name,
        title,
        "samples of " + ", ".join(labels),
        *ends,
        title,
        row.metric.better,
        ends[1],
        drawing,
        ends[0],
        markupsafe.Markup().join(
            markupsafe.Markup("<span>{}</span>").format(label)
            for label in labels
        ),
    )


def _draw_points(
    samples: list[float],
    colour: str,
    heights: list[float],
    centre: float,
    width: float,
) -> markupsafe.Markup:
    """Return the samples of a column as points in the order of time."""
    places = chart_style.spread_horizontally(
        centre, len(samples), _SPREAD * width
    )
    path = "".join(
        f"M{place:.3g} {100 - 100 * height:.3g}h0"
        for place, height in zip(places, heights, strict=True)
    )
    return _draw_path(f"{colour} point", path)


def _draw_box(
    samples: list[float],
    colour: str,
    heights: list[float],
    centre: float,
    width: float,
) -> markupsafe.Markup:
    """Return the extremes, the quartiles and the median of a column."""
    first, median, third = statistics.quantiles(heights, method="inclusive")
    bottom, lower, middle, upper, top = (
        f"{100 - 100 * height:.3g}"
        for height in (min(heights), first, median, third, max(heights))
    )
    left, right = centre - _HALF * width, centre + _HALF * width
    path = (
        f"M{centre:.3g} {bottom}V{lower}M{centre:.3g} {upper}V{top}"
        f"M{left:.3g} {lower}H{right:.3g}V{upper}H{left:.3g}Z"
        f"M{left:.3g} {middle}H{right:.3g}"
    )
    return _draw_path(f"{colour} box", path)


def _draw_path(style: str, path: str) -> markupsafe.Markup:
    """Return a path of a style as markup."""
    return markupsafe.Markup('<path class="{}" d="{}"/>').format(style, path)


def _axis_range(values: list[float]) -> tuple[float, float]:
    """Return both ends of the axis: from zero if values are far apart.

    Otherwise, the axis is narrow and shows scatter and drift.
    """
    low, high = min(values), max(values)
    if low <= high / 2:
        return 0, high * 1.12 or 1.0
    margin = 0.2 * (high - low) or 0.1 * high
    return low - margin, high + margin


def _merge_columns(columns: list[Column]) -> list[Column]:
    """Return one column for each side with the values of its machines."""
    merged: dict[str, list[float]] = {}
    for _, colour, values in columns:
        merged.setdefault(colour, []).extend(values)
    names = {"bare": "bare metal", "guest": "guests"}
    return [(names[colour], colour, both) for colour, both in merged.items()]


def _list_columns(
    prefix: str, colour: str, side: MetricSamples
) -> list[Column]:
    """Return the label, the colour and the values of each source."""
    values_by_source: dict[str, list[float]] = collections.defaultdict(list)
    for samples in side:
        # A percentile over all machines has no source.
        by_source = samples.by_source or {"all": [*samples.values]}
        for source, values in by_source.items():
            values_by_source[source] += values
    if prefix and len(values_by_source) == 1:
        (only_values,) = values_by_source.values()
        return [(prefix.strip(), colour, only_values)]
    return [
        (_short_label(source, prefix), colour, values)
        for source, values in values_by_source.items()
    ]


def _short_label(source: str, prefix: str) -> str:
    """Return the name of a guest or a copy, shortened for an axis."""
    name = sanitize.printable(source)
    name = name.removeprefix("copy-") if prefix else name
    return f"{'bare ' if prefix else ''}{name[:_LONGEST_NAME]}"
