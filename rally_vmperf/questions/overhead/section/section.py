"""The section of the report with overhead runs."""

import collections.abc
import typing as t

import jinja2
import markupsafe

from rally_vmperf.judging import overhead_judge
from rally_vmperf.judging import rows
from rally_vmperf.judging import spread_judge
from rally_vmperf.measurement.samples import units
from rally_vmperf.questions.overhead.section import overheads
from rally_vmperf.questions.overhead.section import strips
from rally_vmperf.records import model
from rally_vmperf.report import groups
from rally_vmperf.report import neighbour_losses
from rally_vmperf.report import reports
from rally_vmperf.report import setting

#: The maximum number of metrics in the chart; the table has all metrics.
MOST_STRIPS = 60


def by_part(
    compared: collections.abc.Iterable[rows.FigureResult],
) -> dict[str, list[rows.FigureResult]]:
    """Return comparable rows as a dict by the title of the part measured."""
    rows_by_part: dict[str, list[rows.FigureResult]] = {
        title: [] for title in groups.PARTS.values()
    }
    for row in compared:
        rows_by_part.setdefault(groups.part(row.metric.name), []).append(row)
    return {
        title: part_rows
        for title, part_rows in rows_by_part.items()
        if part_rows
    }


def ordered(
    judgement: overhead_judge.OverheadJudgement,
) -> list[rows.FigureResult]:
    """Return the rows that have figures as a list in table order."""
    return [
        row
        for part_rows in by_part(judgement.compared).values()
        for row in part_rows
        if row.comparison is not None
    ]


def overview(
    shown: collections.abc.Sequence[reports.RunReport],
) -> list[tuple[str, tuple[rows.FigureResult | None, ...]]]:
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
    bare_metal = run.last.bare_metal
    return [
        (
            "Bare metal",
            [setting.describe_bare_metal(bare_metal)] if bare_metal else [],
        ),
        ("Shape of bare metal", [_describe_shape(run.last.shape)]),
        *neighbour_losses.describe(run),
    ]


def _describe_shape(shape: model.Shape) -> str:
    """Return the CPUs and the memory of the bare-metal copies as text."""
    return (
        f"{shape.vcpus} CPUs and {shape.memory_mib} MiB for each of "
        f"{units.number_of('copy', shape.copies)}"
    )


def _draw_overheads(run: reports.RunReport, name: str) -> markupsafe.Markup:
    """Return the chart of the overheads of a run as SVG markup."""
    return overheads.draw(ordered(run.judgement), f"{name}-overheads")


def _draw_samples(run: reports.RunReport, name: str) -> markupsafe.Markup:
    """Return the chart of the samples of a run as SVG markup."""
    shown: list[rows.FigureResult] = [*ordered(run.judgement)]
    drawn = {row.metric for row in shown}
    for row in run.judgement.absolute:
        if row.measured and row.metric not in drawn:
            shown.append(row)
            drawn.add(row.metric)
    return strips.draw(shown[:MOST_STRIPS], f"{name}-samples")


def _list_spreads(
    run: reports.RunReport,
) -> list[spread_judge.SpreadJudgement]:
    """Return the judgement on spread as a list, empty without one."""
    return [
        judgement
        for judgement in run.judgements.values()
        if isinstance(judgement, spread_judge.SpreadJudgement)
    ]


def _describe_outliers(row: t.Any) -> str:
    """Return the numbers of outlying repetitions as text, or ""."""
    parts = []
    for side, positions, repetitions in (
        ("guest", row.comparison.guest_outliers, row.guest),
        ("bare metal", row.comparison.bare_outliers, row.bare),
    ):
        if positions:
            numbers = ", ".join(
                str(repetitions[position].number) for position in positions
            )
            parts.append(f"{side} {numbers}")
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
        "losses": neighbour_losses.losses,
        "spreads": _list_spreads,
        "draw_overheads": _draw_overheads,
        "draw_samples": _draw_samples,
    },
    template="run.html.j2",
    overview="overview.html.j2",
    loader=jinja2.PackageLoader(__package__),
)
