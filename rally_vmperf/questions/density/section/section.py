# SPDX-License-Identifier: Apache-2.0
"""The section of the report with density runs."""

import collections.abc
import dataclasses
import functools
import itertools

import jinja2

from rally_vmperf.judging import counting
from rally_vmperf.judging import run_capacity
from rally_vmperf.judging.results import result
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.density import points
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units
from rally_vmperf.questions.density.section import curves
from rally_vmperf.questions.density.section import sentences
from rally_vmperf.questions.density.section import shares
from rally_vmperf.records import model
from rally_vmperf.report import groups
from rally_vmperf.report import reports
from rally_vmperf.report import setting

#: The maximum number of metrics in charts, and of their levels together;
#: tables have all.
MOST, MOST_LEVELS = 60, 200
#: The heading of the verdict on fairness.
FAIRNESS = "Fairness"


@dataclasses.dataclass(frozen=True, kw_only=True)
class DensityReport(reports.RunReport):
    """The results of a density run by level."""

    @property
    def answer(self) -> str:
        """The sentences on how many guests fit within all limits."""
        texts = []
        for load, found in run_capacity.find_capacities(self).items():
            clause = run_capacity.describe(self, load, found)
            text = sentences.sentence(clause)
            if found.first_beyond:
                names = finding.join_first(found.first_beyond, ", ")
                text += f" The first beyond its limit: {names}."
            texts.append(text)
        return " ".join(texts)

    @functools.cached_property
    def series(self) -> list[shares.ShareSeries]:
        """The measured metrics as shares of the solo guest, a list."""
        return [*filter(None, map(self.shares_of, self.judgement.curves))]

    @property
    def loads(self) -> dict[str, dict[str, shares.ShareSeries]]:
        """The metrics at several loads, by their name at full speed and load.

        It is empty if the guests have one load.
        """
        by_name: dict[str, dict[str, shares.ShareSeries]] = {}
        for series in self.series:
            name, load = self.last.split_load(series.row.metric.name)
            if load:
                by_name.setdefault(name, {})[load] = series
        return {
            name: by_load
            for name, by_load in by_name.items()
            if len(by_load) > 1
        }

    def shares_of(self, row: result.Curve) -> shares.ShareSeries | None:
        """Return a metric as shares, or None if it was not measured."""
        return shares.series(row, self.hosts)

    @functools.cached_property
    def hosts(self) -> int:
        """The number of hosts, each with the guests of a level."""
        return run_capacity.count_hosts(self)

    def fairness_at(
        self, metric: sample.Metric, guests: int
    ) -> list[tuple[str, str]]:
        """Return each fairness figure at a level with its verdict, texts."""
        fairness = self.judgements.get(FAIRNESS)
        return [
            (
                "Jain's index" if row.figure.name == "index" else "spread",
                str(row.status),
            )
            for row in (fairness.limited if fairness else ())
            if row.metric == metric and row.guests == guests
        ]

    @property
    def drawn_metrics(self) -> int:
        """The number of metrics with charts of their own."""
        levels = max(
            (len(row.points) for row in self.judgement.curves), default=0
        )
        return min(MOST, MOST_LEVELS // max(1, levels))


@dataclasses.dataclass(frozen=True, kw_only=True)
class StartCell:
    """The worst synchronisation of a command at one number of guests.

    :param skew: The largest skew in seconds, its uncertainty and the
        repetition; None if fewer than two machines ran the command.
    :param overlap: The smallest overlap as a share, and the repetition.
    """

    skew: tuple[float, float | None, int] | None
    overlap: tuple[float, int] | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class CommandRow:
    """A command of a workload.

    :param cells: The cells by number of guests; None if it did not run.
    """

    workload: str
    command: str
    bound: repetition.Bound
    cells: tuple[StartCell | None, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class StartTable:
    """All commands at each number of guests with several machines."""

    levels: tuple[int, ...]
    rows: tuple[CommandRow, ...]


def find_worst_starts(
    repetitions: collections.abc.Iterable[repetition.Repetition],
) -> StartTable:
    """Return a table of the worst start of each command at each level."""
    starts: dict[
        tuple[str, str, repetition.Bound],
        dict[int, list[tuple[int, repetition.Synchronisation]]],
    ] = {}
    for run_repetition in repetitions:
        for level in (
            run_repetition.conditions if run_repetition.counted else ()
        ):
            for start in level.synchronisation:
                if start.skew is None and start.overlap is None:
                    continue
                key = (start.workload, start.command, start.bound)
                starts.setdefault(key, {}).setdefault(
                    counting.guests_of(level), []
                ).append((run_repetition.number, start))
    levels = sorted({*itertools.chain.from_iterable(starts.values())})
    return StartTable(
        levels=tuple(levels),
        rows=tuple(
            CommandRow(
                workload=workload,
                command=command,
                bound=bound,
                cells=tuple(
                    _create_start_cell(by_guests.get(guests))
                    for guests in levels
                ),
            )
            for (workload, command, bound), by_guests in starts.items()
        ),
    )


def _create_start_cell(
    starts: list[tuple[int, repetition.Synchronisation]] | None,
) -> StartCell | None:
    """Return the largest skew and smallest overlap, or None if unknown."""
    if not starts:
        return None
    skews = [
        (start.skew, start.uncertainty, number)
        for number, start in starts
        if start.skew is not None
    ]
    overlaps = [
        (start.overlap, number)
        for number, start in starts
        if start.overlap is not None
    ]
    return StartCell(
        skew=max(skews, key=lambda skew: skew[0], default=None),
        overlap=min(overlaps, default=None),
    )


#: The maximum number of reasons per gap; the record has all of them.
MOST_REASONS = 4
_SOLO_GUEST = {
    "rotate": "a different guest in each repetition",
    "all": "every guest, one at a time, in each repetition",
}

_ORDERS = {
    "listed": "as listed in the task",
    "shuffled": "shuffled in each repetition, seed {}",
    "blocks": "in blocks, each level once at each position, seed {}",
}

Repetitions = collections.abc.Sequence[repetition.Repetition]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Gap:
    """A level of a repetition that is not complete.

    :param state: The state: incomplete, interrupted, skipped or not started.
    :param reasons: The first reasons.
    :param hidden: The number of further reasons.
    """

    guests: int
    repetition: int
    counted: bool
    state: str
    reasons: tuple[str, ...]
    hidden: int


def gaps(repetitions: Repetitions) -> list[Gap]:
    """Return the incomplete levels as a list, sorted by guests."""
    incomplete = []
    for run_repetition in repetitions:
        for guests in counting.guest_counts(repetitions):
            level = next(
                iter(run_repetition.select(guests=guests).conditions), None
            )
            if level is None and not run_repetition.counted:
                # A warm-up can have other levels.
                continue
            if level is None:
                state: str = "not started"
                reasons: list[str] = []
            elif level.skip_reason:
                state, reasons = "skipped", [level.skip_reason]
            else:
                state = level.state
                reasons = [gap.sentence() for gap in level.missing]
            if state == "complete" and not reasons:
                continue
            incomplete.append(
                Gap(
                    guests=guests,
                    repetition=run_repetition.number,
                    counted=run_repetition.counted,
                    state=state,
                    reasons=tuple(reasons[:MOST_REASONS]),
                    hidden=max(0, len(reasons) - MOST_REASONS),
                )
            )
    return sorted(incomplete, key=lambda gap: (gap.guests, gap.repetition))


def _list_facts(run: DensityReport) -> reports.Facts:
    """Return titled lines on the levels and their references, a list."""
    options = run.last.options
    order = _ORDERS[run.last.order.kind].format(run.last.order.seed)
    solo_guest = _SOLO_GUEST[options.get("solo_guest", "rotate")]
    limits = [
        f"on the loss {sentences.describe_limited_loss(row)}"
        for row in run.judgement.curves
        if row.status is not None
    ]
    return [
        ("Numbers of guests", [_describe_levels(run.last)]),
        ("Order", [order]),
        ("Idle guests", [options.get("idle_guests", "running")]),
        ("Solo guest", [solo_guest]),
        *run.unmeasured_facts,
        ("Bare metal", _describe_bare_metal(run.last)),
        ("Limits", limits[:1]),
    ]


def _describe_levels(record: model.Record) -> str:
    """Return the numbers of guests and of hosts of a record as text."""
    numbers = sorted(
        {counting.guests_of(each) for each in record.repetition.conditions}
    )
    text = f"{', '.join(map(str, numbers))} at once"
    hosts = {
        machine.host for machine in record.machines if machine.role == "guest"
    }
    return f"{text} on each of {len(hosts)} hosts" if len(hosts) > 1 else text


def _describe_bare_metal(record: model.Record) -> list[str]:
    """Return lines on the baseline and on the copies that it lacks."""
    bare_metal = record.bare_metal
    if bare_metal is None:
        return ["none"]
    copies = units.number_of("copy", *bare_metal.references)
    lines = [f"{setting.describe_bare_metal(bare_metal)}, for {copies}"]
    missing_copies = {
        counting.guests_of(condition): None
        for condition in record.repetition.conditions
        if condition.reference is repetition.NO_REFERENCE
        and not condition.skip_reason
    }
    if missing_copies:
        lines.append(f"none for {units.number_of('copy', *missing_copies)}")
    return lines


@dataclasses.dataclass(frozen=True, kw_only=True)
class OverviewCell:
    """One metric of one run at one number of guests.

    :param of_host: The total of a host's guests as a share of bare metal; None
        if one of them is not known.
    :param status: The verdict on the degradation; None without a limit.
    """

    point: points.Point
    of_host: float | None
    status: verdict.Status | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class MetricRows:
    """One metric over all runs.

    :param host: The largest total on bare metal, as a rate; None without
        bare metal or for metrics that are not additive.
    :param copies: The number of copies with that total, and the title of the
        run with their shape.
    :param rows: The position and the cells of each run with the metric; a
        cell is None if the run does not have that number of guests.
    """

    metric: sample.Metric
    host: float | None
    copies: tuple[int, str] | None
    rows: tuple[tuple[int, tuple[OverviewCell | None, ...]], ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class OverviewTable:
    """All metrics, by run and number of guests."""

    levels: tuple[int, ...]
    metrics: tuple[MetricRows, ...]


def build_overview(
    shown: collections.abc.Sequence[DensityReport],
) -> OverviewTable:
    """Return a table of the metrics of all runs at each level."""
    rows = [
        {row.metric: row for row in run.judgement.curves if row.measured}
        for run in shown
    ]
    levels = sorted(
        {
            point.guests
            for run_rows in rows
            for row in run_rows.values()
            for point in row.points
        }
    )
    metrics = sorted(
        dict.fromkeys(metric for run_rows in rows for metric in run_rows),
        key=lambda metric: groups.position(metric.name),
    )
    return OverviewTable(
        levels=tuple(levels),
        metrics=tuple(
            _create_metric_rows(metric, rows, shown, levels)
            for metric in metrics
        ),
    )


def _create_metric_rows(
    metric: sample.Metric,
    rows: list[dict[sample.Metric, result.Curve]],
    shown: collections.abc.Sequence[DensityReport],
    levels: list[int],
) -> MetricRows:
    """Return the row of one metric for each run that measured it."""
    measured = [
        (position, run_rows[metric])
        for position, run_rows in enumerate(rows)
        if metric in run_rows
    ]
    wholes = [
        (point.bare_total, point.guests, shown[position].title)
        for position, row in measured
        for point in row.points
        if point.bare_total is not None
    ]
    best = max(wholes, default=None)
    host = best[0] if best else None
    return MetricRows(
        metric=metric,
        host=host,
        copies=best[1:] if best else None,
        rows=tuple(
            (
                position,
                tuple(
                    _create_overview_cell(
                        row, guests, host, shown[position].hosts
                    )
                    for guests in levels
                ),
            )
            for position, row in measured
        ),
    )


def _create_overview_cell(
    row: result.Curve,
    guests: int,
    host: float | None,
    hosts: int,
) -> OverviewCell | None:
    """Return the table cell of a metric at a level, or None if not run."""
    point = row.point(guests)
    if point is None:
        return None
    of_host = None
    if host is not None and point.total is not None:
        of_host = point.total / hosts / host
    return OverviewCell(
        point=point,
        of_host=of_host,
        status=row.statuses.get(guests),
    )


SECTION = reports.Section(
    title="Degradation of guests as their number grows",
    subject="degradation",
    report_class=DensityReport,
    comparison_facts=_list_facts,
    functions={
        "overview": build_overview,
        "gaps_of": gaps,
        "starts_of": find_worst_starts,
        "MOST": MOST,
        "list_levels": curves.list_levels,
        "draw_all": curves.draw_all,
        "draw_loads": curves.draw_loads,
        "MOST_POINTS": curves.MOST_POINTS,
        "has_boxes": curves.has_boxes,
        "draw_curve": curves.draw,
        "sentences": sentences,
    },
    template="run.html.j2",
    overview="overview.html.j2",
    loader=jinja2.PackageLoader(__package__),
)
