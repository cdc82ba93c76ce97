# SPDX-License-Identifier: Apache-2.0
"""The section of the report on an event: figures and time lines."""

import collections.abc
import dataclasses
import datetime
import statistics
import typing as t

import jinja2
import markupsafe

from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.event import figures
from rally_vmperf.measurement.event import phases
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units
from rally_vmperf.report import reports
from rally_vmperf.report.charts import lines as charts
from rally_vmperf.runs import event_types
from rally_vmperf.runs import loads

#: The maximum number of time lines on a page.
MOST_LINES = 12
#: The figures that come first.
_FIRST = (
    figures.DOWNTIME,
    figures.PACKET_GAP,
    figures.RECOVERY_TIME,
    figures.NOT_RECOVERED,
)
#: The styles of lines, and the machines that they stand for.
_STYLES = ("first", "third", "last")
_KINDS = ("guest of the event", "other guests", "control machine")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Happened:
    """An event with the rates of its repetition.

    :param number: The number of the repetition.
    :param lines: The lines of all phases.
    :param values: The figures as text by name of the metric.
    """

    number: int
    counted: bool
    event: phases.EventRecord
    lines: tuple[phases.Line, ...]
    values: dict[str, str]

    def select(self, better: sample.Better) -> "Happened":
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


def list_events(run: reports.RunReport) -> list[Happened]:
    """Return the events of a run in the order of repetitions."""
    found = []
    for measured in run.repetitions:
        events = [
            condition.phase.event
            for condition in measured.conditions
            if condition.phase and condition.phase.event
        ]
        for event in events:
            found.append(
                Happened(
                    number=measured.number,
                    counted=measured.counted,
                    event=event,
                    lines=tuple(
                        line
                        for condition in measured.conditions
                        if condition.phase
                        for line in condition.phase.lines
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
            if not metric.name.startswith("guest.event."):
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


def sort_rows(rows: collections.abc.Iterable[t.Any]) -> list[t.Any]:
    """Return the rows of figures in the order for readers.

    How long the guest was away is first, then how long it was slow.
    """
    order = [metric.name for metric in _FIRST]
    return sorted(
        rows,
        key=lambda row: (
            order.index(row.metric.name)
            if row.metric.name in order
            else len(order)
        ),
    )


def select_lines(
    happenings: collections.abc.Sequence[Happened], better: sample.Better
) -> list[Happened]:
    """Return the events with lines of rates, or of response times."""
    selected = [happened.select(better) for happened in happenings]
    has_guests = any(
        line.machine == happened.event.guest
        for happened in selected
        for line in happened.lines
    )
    return selected if has_guests else []


def list_labels(
    happenings: collections.abc.Sequence[Happened],
) -> list[tuple[str, str]]:
    """Return the style and the machines of each kind of line."""
    names: dict[str, dict[str, None]] = {style: {} for style in _STYLES}
    metrics: dict[str, str] = {}
    for happened in happenings:
        for line in happened.lines:
            style = _choose_style(happened, line)
            names[style][line.machine] = None
            metrics.setdefault(style, line.metric.name)
    kinds = dict(zip(_STYLES, _KINDS, strict=True))
    labels = [
        (style, f"{kinds[style]} {', '.join(machines)} ({metrics[style]})")
        for style, machines in names.items()
        if machines
    ]
    return [*labels, ("first bare", "its mean in the phase during")]


def _choose_style(happened: Happened, line: phases.Line) -> str:
    """Return the style of the line of a machine."""
    subject, other, control = _STYLES
    if line.metric.name.startswith(loads.LABEL):
        return control
    return subject if line.machine == happened.event.guest else other


def draw_time_line(happened: Happened, name: str) -> markupsafe.Markup:
    """Return the chart of the first metric of each machine over time.

    Values are percent of the mean before the happened. Vertical lines are
    the request and the end of the event; the dashed line is the mean of
    the whole phase, in which a dip is hardly visible.

    :param name: The identifier of the chart.
    """
    begins = [line.begun for line in happened.lines]
    origin = min([happened.event.requested, *begins])
    requested = happened.event.requested - origin
    ended = happened.event.ended - origin
    drawn = []
    highest, last = 100.0, ended
    machines = dict.fromkeys(
        (happened.event.guest, *(line.machine for line in happened.lines))
    )
    for machine in machines:
        own = [line for line in happened.lines if line.machine == machine]
        own = [line for line in own if line.metric == own[0].metric]
        usual = _find_usual(own, happened.event.requested)
        if not usual:
            continue
        for line in own:
            points = [
                (line.begun - origin + end, 100 * rate / usual)
                for end, rate in line.points
            ]
            highest = max(highest, *(rate for _, rate in points))
            last = max(last, points[-1][0])
            style = _choose_style(happened, line)
            drawn.append(charts.ChartLine(style=style, points=points))
            is_subject = style == _STYLES[0]
            if is_subject and points[0][0] < requested < points[-1][0]:
                mean = statistics.fmean(rate for _, rate in points)
                drawn.append(
                    charts.ChartLine(
                        style="first bare",
                        points=[(points[0][0], mean), (points[-1][0], mean)],
                    )
                )
    for moment in (requested, ended):
        drawn.append(
            charts.ChartLine(
                style="limit", points=[(moment, 0.0), (moment, highest)]
            )
        )
    return charts.draw(
        f"Repetition {happened.number}",
        drawn,
        charts.ChartAxis(
            low=0, high=last, title="seconds since the first phase"
        ),
        charts.ChartAxis(low=0, high=highest),
        label=f"Machines in repetition {happened.number} over time",
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
    """Return titled lines on the requested event, a list.

    :raises InvalidEvent: If this version does not know the event.
    """
    options = run.last.options
    try:
        requested = event_types.parse(options.get("event"))
    except event_types.InvalidEvent as error:
        last = run.last
        version = last.software.get("rally-vmperf", "another version")
        raise event_types.InvalidEvent(
            f"run {last.repetition.run}, record of repetition "
            f"{last.repetition.number}: {error}; the record is of "
            f"rally-vmperf {version}: create the page with this version or a "
            "later one"
        ) from None
    return [
        (
            "Event",
            [
                f"{requested.title} of the first guest",
                *requested.describe(),
                f"aborted after {options.get('deadline', 0):g} s",
            ],
        )
    ]


SECTION = reports.Section(
    title="Cost of events",
    subject="event",
    report_class=reports.RunReport,
    comparison_facts=_list_facts,
    functions={
        "draw_time_line": draw_time_line,
        "list_labels": list_labels,
        "list_events": list_events,
        "select_lines": select_lines,
        "sort_rows": sort_rows,
        "MOST_LINES": MOST_LINES,
    },
    template="event.html.j2",
    loader=jinja2.PackageLoader(__package__),
)
