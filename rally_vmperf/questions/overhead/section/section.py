"""How a report shows runs of overhead."""

import collections.abc
import typing as t

import jinja2
import markupsafe

from rally_vmperf.measurement import overhead_judge
from rally_vmperf.measurement import rows
from rally_vmperf.measurement import spread_judge
from rally_vmperf.measurement.samples import units
from rally_vmperf.questions.overhead.section import overheads
from rally_vmperf.questions.overhead.section import strips
from rally_vmperf.report import groups
from rally_vmperf.report import neighbours
from rally_vmperf.report import run as runs
from rally_vmperf.report import setting

Json = collections.abc.Mapping[str, t.Any]

#: Samples of so many metrics are drawn; the table always holds all.
MOST_STRIPS = 60


def by_part(
    compared: collections.abc.Iterable[rows.Row],
) -> dict[str, list[rows.Row]]:
    """Return comparable rows under the title of their part, in order."""
    found: dict[str, list[rows.Row]] = {
        title: [] for title in groups.PARTS.values()
    }
    for row in compared:
        found.setdefault(groups.part(row.metric.name), []).append(row)
    return {title: entries for title, entries in found.items() if entries}


def ordered(judgement: overhead_judge.Judgement) -> list[rows.Row]:
    """Return the rows that have figures, in the order of the table."""
    return [
        row
        for entries in by_part(judgement.compared).values()
        for row in entries
        if row.comparison is not None
    ]


def overview(
    shown: collections.abc.Sequence[runs.RunReport],
) -> list[tuple[str, tuple[rows.Row | None, ...]]]:
    """Return a metric's name and row in each run, None where it has none.

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


def _compared(run: runs.RunReport) -> runs.Facts:
    """Return what guests are compared with."""
    reference = run.last["reference"]
    return [
        ("Bare metal", [setting.reference(reference)] if reference else []),
        ("Shape of bare metal", [_shape(run.last["shape"])]),
        ("Neighbours", neighbours.described(run)),
    ]


def _shape(shape: Json) -> str:
    return (
        f"{shape['vcpus']} CPUs and {shape['memory_mib']} MiB for each of "
        f"{units.number_of('copy', shape['copies'])}"
    )


def _draw_overheads(run: runs.RunReport, name: str) -> markupsafe.Markup:
    return overheads.draw(ordered(run.judgement), f"{name}-overheads")


def _draw_samples(run: runs.RunReport, name: str) -> markupsafe.Markup:
    shown: list[rows.Row] = [*ordered(run.judgement)]
    drawn = {row.metric for row in shown}
    for row in run.judgement.absolute:
        if row.measured and row.metric not in drawn:
            shown.append(row)
            drawn.add(row.metric)
    return strips.draw(shown[:MOST_STRIPS], f"{name}-samples")


def _spreads(run: runs.RunReport) -> list[spread_judge.Judgement]:
    """Return the judgement on spread, if the task has that criterion."""
    every = run.judgements.values()
    return [one for one in every if isinstance(one, spread_judge.Judgement)]


def _outliers(row: t.Any) -> str:
    """Return the outliers among repetitions, as text."""
    words = []
    for side, places, entries in (
        ("guest", row.comparison.guest_outliers, row.guest),
        ("bare metal", row.comparison.bare_outliers, row.bare),
    ):
        if places:
            numbers = ", ".join(str(entries[place].number) for place in places)
            words.append(f"{side} {numbers}")
    return f"outliers, kept: {'; '.join(words)}" if words else ""


SECTION = runs.Section(
    title="Overhead of guests over bare metal",
    subject="overhead",
    make=runs.RunReport,
    compared=_compared,
    functions={
        "overview": overview,
        "by_part": by_part,
        "outliers": _outliers,
        "losses": neighbours.losses,
        "spreads": _spreads,
        "draw_overheads": _draw_overheads,
        "draw_samples": _draw_samples,
    },
    template="run.html.j2",
    overview="overview.html.j2",
    loader=jinja2.PackageLoader(__package__),
)
