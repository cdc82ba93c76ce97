"""Small charts of all samples of bare metal and each guest."""

import collections
import collections.abc
import itertools

import markupsafe

from rally_vmperf.judging.results import result
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units
from rally_vmperf.report.charts import lines
from rally_vmperf.report.charts import style

#: The maximum number of points of a metric; more become a box for each side.
MOST_POINTS = 200
#: The width of the repetitions as a share of a machine's column.
_SPREAD = 0.6
_LONGEST_NAME = 12

MetricSamples = collections.abc.Iterable[sample.MetricSamples]
#: The label, the class of the colour and the values of a column.
Column = tuple[str, str, list[float]]


def draw(
    shown: collections.abc.Sequence[result.Result], name: str
) -> markupsafe.Markup:
    """Return a chart with the samples of each metric over time.

    :param shown: The rows with samples.
    :param name: The prefix of identifiers in the chart.
    """
    if not shown:
        return markupsafe.Markup()
    return style.arrange(
        _draw_panel(row, f"{name}-{position}")
        for position, row in enumerate(shown)
    )


def has_boxes(
    shown: collections.abc.Iterable[result.Result],
) -> bool:
    """Return whether a metric has more samples than a chart has points."""
    return any(
        sum(len(samples.observations) for samples in side) > MOST_POINTS
        for row in shown
        for side in [itertools.chain(*row.figure.sides)]
    )


def _draw_panel(row: result.Result, name: str) -> markupsafe.Markup:
    """Return the chart of one metric, a column of points per source."""
    bare, guest = row.figure.sides
    columns = _list_columns("bare metal ", "bare", bare)
    columns += _list_columns("", "guest", guest)
    with_box = has_boxes([row])
    if with_box:
        columns = _merge_columns(columns)
    low, high = _axis_range([value for *_, side in columns for value in side])
    factor, unit = units.scale_for((low, high), row.metric.unit)
    return lines.draw(
        row.metric.name,
        [
            line
            for position, (_, colour, values) in enumerate(columns)
            for line in lines.draw_samples(
                [value * factor for value in values],
                position,
                _SPREAD,
                colour,
                with_box=with_box,
            )
        ],
        lines.Axis(
            low=-0.5,
            high=len(columns) - 0.5,
            labels={
                position: style.shorten(label, _LONGEST_NAME)
                for position, (label, *_) in enumerate(columns)
            },
        ),
        lines.Axis(low=low * factor, high=high * factor),
        label=(
            f"{row.metric.name}: samples of "
            f"{', '.join(label for label, *_ in columns)}, "
            f"{units.show(low, row.metric.unit)} to "
            f"{units.show(high, row.metric.unit)}"
        ),
        name=name,
        note=", ".join(filter(None, (unit, f"{row.metric.better} is better"))),
    )


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
        (
            f"bare {source.removeprefix('copy-')}" if prefix else source,
            colour,
            values,
        )
        for source, values in values_by_source.items()
    ]
