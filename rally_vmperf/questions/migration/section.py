"""The section of the report on migration: figures and time lines."""

import collections.abc
import dataclasses
import datetime
import statistics
import typing as t

import jinja2
import markupsafe

from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.migration import phases
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units
from rally_vmperf.report import reports
from rally_vmperf.report.charts import lines as charts
from rally_vmperf.runs import loads

#: The maximum number of time lines on a page.
MOST_LINES = 12
#: The styles of lines, and the machines that they stand for.
_STYLES = ("first", "third", "last")
_KINDS = ("migrated guest", "other guests", "control machine")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Migration:
    """A migration with the rates of its repetition.

    :param number: The number of the repetition.
    :param lines: The lines of all phases.
    :param values: The figures as text by name of the metric.
    """

    number: int
    counted: bool
    event: phases.Event
    lines: tuple[phases.Line, ...]
    values: dict[str, str]

    def select(self, better: sample.Better) -> "Migration":
        """Return the lines of rates, or of response times."""
        lines = [line for line in self.lines if line.metric.better == better]
        return dataclasses.replace(self, lines=tuple(lines))

    @property
    def nova_seconds(self) -> float | None:
        """The duration in whole seconds by Nova; None if it is unknown."""
        try:
            begun, ended = (
                datetime.datetime.fromisoformat(text)
                for text in (self.event.nova_begun, self.event.nova_ended)
            )
        except ValueError:
            return None
        return (ended - begun).total_seconds()


def list_migrations(run: reports.RunReport) -> list[Migration]:
    """Return the migrations of a run in the order of repetitions."""
    found = []
    for measured in run.repetitions:
        events = [
            condition.migration.event
            for condition in measured.conditions
            if condition.migration and condition.migration.event
        ]
        for event in events:
            found.append(
                Migration(
                    number=measured.number,
                    counted=measured.counted,
                    event=event,
                    lines=tuple(
                        line
                        for condition in measured.conditions
                        if condition.migration
                        for line in condition.migration.lines
                    ),
                    values=_list_values(measured),
                )
            )
    return found


def _list_values(measured: repetition.Repetition) -> dict[str, str]:
    """Return the figures of a repetition as texts with their errors."""
    values: dict[str, list[str]] = {}
    for condition in measured.conditions:
        for observation in condition.observations:
            metric = observation.sample.metric
            if not metric.name.startswith("guest.migration."):
                continue
            text = units.show(observation.sample.value, metric.unit)
            if metric.step is not None:
                text += f" ± {units.show(metric.step, metric.unit)}"
            values.setdefault(metric.name, []).append(text)
    return {
        name: ", ".join(
            text.replace(" ", "\u00a0").replace("\u00a0±", " ±")
            for text in texts
        )
        for name, texts in values.items()
    }


def select_lines(
    migrations: collections.abc.Sequence[Migration], better: sample.Better
) -> list[Migration]:
    """Return the migrations with lines of rates, or of response times."""
    selected = [migration.select(better) for migration in migrations]
    has_guests = any(
        line.machine == migration.event.guest
        for migration in selected
        for line in migration.lines
    )
    return selected if has_guests else []


def list_labels(
    migrations: collections.abc.Sequence[Migration],
) -> list[tuple[str, str]]:
    """Return the style and the machines of each kind of line."""
    names: dict[str, dict[str, None]] = {style: {} for style in _STYLES}
    metrics: dict[str, str] = {}
    for migration in migrations:
        for line in migration.lines:
            style = _choose_style(migration, line)
            names[style][line.machine] = None
            metrics.setdefault(style, line.metric.name)
    kinds = dict(zip(_STYLES, _KINDS, strict=True))
    labels = [
        (style, f"{kinds[style]} {', '.join(machines)} ({metrics[style]})")
        for style, machines in names.items()
        if machines
    ]
    return [*labels, ("first bare", "its mean in the phase during")]


def _choose_style(migration: Migration, line: phases.Line) -> str:
    """Return the style of the line of a machine."""
    migrated, other, control = _STYLES
    if line.metric.name.startswith(loads.LABEL):
        return control
    return migrated if line.machine == migration.event.guest else other


def draw_time_line(migration: Migration, name: str) -> markupsafe.Markup:
    """Return the chart of the first metric of each machine over time.

    Values are percent of the mean before the migration. Vertical lines are
    the request and the end of the migration; the dashed line is the mean of
    the whole phase, in which a dip is hardly visible.

    :param name: The identifier of the chart.
    """
    begins = [line.begun for line in migration.lines]
    origin = min([migration.event.requested, *begins])
    requested = migration.event.requested - origin
    ended = migration.event.ended - origin
    drawn = []
    highest, last = 100.0, ended
    machines = dict.fromkeys(
        (migration.event.guest, *(line.machine for line in migration.lines))
    )
    for machine in machines:
        own = [line for line in migration.lines if line.machine == machine]
        own = [line for line in own if line.metric == own[0].metric]
        usual = _find_usual(own, migration.event.requested)
        if not usual:
            continue
        for line in own:
            points = [
                (line.begun - origin + end, 100 * rate / usual)
                for end, rate in line.points
            ]
            highest = max(highest, *(rate for _, rate in points))
            last = max(last, points[-1][0])
            style = _choose_style(migration, line)
            drawn.append(charts.Line(style=style, points=points))
            is_migrated = style == _STYLES[0]
            if is_migrated and points[0][0] < requested < points[-1][0]:
                mean = statistics.fmean(rate for _, rate in points)
                drawn.append(
                    charts.Line(
                        style="first bare",
                        points=[(points[0][0], mean), (points[-1][0], mean)],
                    )
                )
    for moment in (requested, ended):
        drawn.append(
            charts.Line(
                style="limit", points=[(moment, 0.0), (moment, highest)]
            )
        )
    return charts.draw(
        f"Repetition {migration.number}",
        drawn,
        charts.Axis(low=0, high=last, title="seconds since the first phase"),
        charts.Axis(low=0, high=highest),
        label=f"Machines in repetition {migration.number} over time",
        name=name,
        note="percent of the mean before the request",
    )


def _find_usual(
    own: collections.abc.Iterable[phases.Line], requested: float
) -> float:
    """Return the mean rate of a machine before the request; 0 without one."""
    rates = [
        value
        for line in own
        for _, value in phases.points_until(line, requested)
    ]
    return statistics.fmean(rates) if rates else 0.0


def _list_facts(run: reports.RunReport) -> reports.Facts:
    """Return titled lines on the requested migration, a list."""
    options = run.last.options
    target = options.get("host") or "a host that Nova chooses"
    copied = {True: "yes", False: "no"}.get(
        t.cast(bool, options.get("block_migration")), "as Nova decides"
    )
    return [
        (
            "Migration",
            [
                f"{options.get('migrated', 'a guest')} to {target}, and back "
                "in the next repetition",
                f"local disks are copied: {copied}",
                f"aborted after {options.get('deadline', 0):g} s",
            ],
        )
    ]


SECTION = reports.Section(
    title="Cost of live migrations",
    subject="migration",
    report_class=reports.RunReport,
    comparison_facts=_list_facts,
    functions={
        "draw_time_line": draw_time_line,
        "list_labels": list_labels,
        "list_migrations": list_migrations,
        "select_lines": select_lines,
        "MOST_LINES": MOST_LINES,
    },
    template="migration.html.j2",
    loader=jinja2.PackageLoader(__package__),
)
