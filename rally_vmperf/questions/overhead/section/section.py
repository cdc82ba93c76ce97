"""The section of the report with overhead runs."""

import collections.abc
import typing as t

import jinja2
import markupsafe

from rally_vmperf.judging import summary
from rally_vmperf.judging.results import result
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units
from rally_vmperf.questions.overhead.section import strips
from rally_vmperf.records import model
from rally_vmperf.report import groups
from rally_vmperf.report import reports
from rally_vmperf.report import setting
from rally_vmperf.report.charts import dots


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


def _describe_shape(shape: model.Shape) -> str:
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
        "draw_samples": strips.draw,
        "has_boxes": strips.has_boxes,
        "part": groups.part,
    },
    template="run.html.j2",
    overview="overview.html.j2",
    loader=jinja2.PackageLoader(__package__),
)
