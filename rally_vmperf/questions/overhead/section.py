# SPDX-License-Identifier: Apache-2.0
"""The section of the report with overhead runs."""

import collections
import collections.abc
import itertools
import typing as t

import jinja2
import markupsafe

from rally_vmperf.judging import summary
from rally_vmperf.judging.results import result
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units
from rally_vmperf.records import model
from rally_vmperf.report import groups
from rally_vmperf.report import reports
from rally_vmperf.report import setting
from rally_vmperf.report.charts import dots
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
        lines.ChartAxis(
            low=-0.5,
            high=len(columns) - 0.5,
            labels={
                position: style.shorten(label, _LONGEST_NAME)
                for position, (label, *_) in enumerate(columns)
            },
        ),
        lines.ChartAxis(low=low * factor, high=high * factor),
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


def by_part(
    compared: collections.abc.Iterable[result.Result],
) -> dict[str, list[result.Result]]:
    """Return comparable rows as a dict by the title of the part measured."""
    rows_by_part: dict[str, list[result.Result]] = {}
    for row in sorted(
        compared, key=lambda row: groups.position(row.metric.name)
    ):
        rows_by_part.setdefault(groups.part(row.metric.name), []).append(row)
    return rows_by_part


def ordered(
    judgement: summary.Judgement,
) -> list[result.Result]:
    """Return the rows that have figures as a list in table order."""
    return [
        row
        for part_rows in by_part(judgement.compared).values()
        for row in part_rows
        if row.decisive is not None
    ]


def overview(
    shown: collections.abc.Sequence[reports.RunReport],
) -> list[tuple[str, tuple[result.Result | None, ...]]]:
    """Return each metric's name with its row in each run, or None there.

    Metrics are grouped as in the tables of the runs.
    """
    tables = [
        {row.metric.name: row for row in reversed(run.judgement.rows)}
        for run in shown
    ]
    names = dict.fromkeys(
        row.metric.name for run in shown for row in run.judgement.rows
    )
    return [
        (name, tuple(table.get(name) for table in tables))
        for name in sorted(names, key=groups.position)
    ]


def _list_facts(run: reports.RunReport) -> reports.Facts:
    """Return titled lines on bare metal and unmeasured guests, a list."""
    if (bare_metal := run.last.bare_metal) is None:
        return [("Bare metal", ["no baseline"]), *run.unmeasured_facts]
    return [
        ("Bare metal", [setting.describe_bare_metal(bare_metal)]),
        ("Shape of bare metal", [_describe_shape(run.last.shape)]),
        *run.unmeasured_facts,
    ]


def _describe_shape(shape: model.RecordedShape) -> str:
    """Return the CPUs and the memory of the bare-metal copies as text."""
    return (
        f"{shape.vcpus} CPUs and {shape.memory_mib} MiB for each of "
        f"{units.number_of('copy', shape.copies)}"
    )


def list_sampled(
    judgement: summary.Judgement,
) -> list[result.Result]:
    """Return the first rows with samples, one for each metric, as a list."""
    by_metric: dict[sample.Metric, result.Result] = {}
    for row in (*ordered(judgement), *judgement.absolute):
        if row.measured:
            by_metric.setdefault(row.metric, row)
    return [*by_metric.values()]


def draw_overheads(
    shown: collections.abc.Iterable[result.Result], name: str
) -> markupsafe.Markup:
    """Return the chart of overheads as SVG markup."""
    return dots.draw(
        [
            dots.from_comparison(
                row.metric.name,
                row.decisive,
                row.status or "none",
                () if row.limit is None else (row.limit,),
            )
            for row in shown
            if row.decisive is not None
        ],
        name,
        "overhead in percent of bare metal (right: the guest is worse)",
        "Overhead of each metric with its interval",
    )


def _describe_outliers(row: t.Any) -> str:
    """Return the numbers of outlying repetitions as text, or ""."""
    parts = []
    bare, guest = row.figure.sides
    for side, values, repetitions in (
        ("guest", row.decisive.guest_values, guest),
        ("bare metal", row.decisive.bare_values, bare),
    ):
        positions = statistics.outliers(values)
        numbers = [str(repetitions[place].number) for place in positions]
        if numbers:
            parts.append(f"{side} {', '.join(numbers)}")
    return f"outliers, kept: {'; '.join(parts)}" if parts else ""


SECTION = reports.Section(
    title="Overhead of guests over bare metal",
    title_alone="Values of guests, without bare metal",
    subject="overhead",
    report_class=reports.RunReport,
    comparison_facts=_list_facts,
    functions={
        "overview": overview,
        "by_part": by_part,
        "outliers": _describe_outliers,
        "ordered": ordered,
        "list_sampled": list_sampled,
        "draw_overheads": draw_overheads,
        "draw_samples": draw,
        "has_boxes": has_boxes,
        "part": groups.part,
    },
    template="run.html.j2",
    overview="overview.html.j2",
    loader=jinja2.PackageLoader(__package__),
)
