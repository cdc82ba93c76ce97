"""The section of the report with density runs."""

import collections.abc
import dataclasses

import jinja2

from rally_vmperf.judging import density_levels
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.samples import units
from rally_vmperf.questions.density.section import curves
from rally_vmperf.questions.density.section import density_report
from rally_vmperf.questions.density.section import overview
from rally_vmperf.questions.density.section import sentences
from rally_vmperf.questions.density.section import starts
from rally_vmperf.records import model
from rally_vmperf.report import reports
from rally_vmperf.report import setting

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
        for guests in density_levels.guest_counts(repetitions):
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


def _list_facts(run: density_report.DensityReport) -> reports.Facts:
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
        {
            density_levels.guests_of(each)
            for each in record.repetition.conditions
        }
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
        density_levels.guests_of(condition): None
        for condition in record.repetition.conditions
        if condition.reference is repetition.NO_REFERENCE
        and not condition.skip_reason
    }
    if missing_copies:
        lines.append(f"none for {units.number_of('copy', *missing_copies)}")
    return lines


SECTION = reports.Section(
    title="Degradation of guests as their number grows",
    subject="degradation",
    report_class=density_report.DensityReport,
    comparison_facts=_list_facts,
    functions={
        "overview": overview.table,
        "gaps_of": gaps,
        "starts_of": starts.worst,
        "MOST": density_report.MOST,
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
