"""How a report shows density runs."""

import collections.abc
import dataclasses
import typing as t

import jinja2
import markupsafe

from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.density import levels
from rally_vmperf.measurement.samples import units
from rally_vmperf.questions.density.section import cells
from rally_vmperf.questions.density.section import curves
from rally_vmperf.questions.density.section import heat
from rally_vmperf.questions.density.section import overview
from rally_vmperf.questions.density.section import picture
from rally_vmperf.questions.density.section import run as runs
from rally_vmperf.questions.density.section import sentences
from rally_vmperf.questions.density.section import starts
from rally_vmperf.report import neighbours
from rally_vmperf.report import run as reports
from rally_vmperf.report import setting

#: Metrics that are drawn; the tables hold all.
MOST = 60
#: Gaps of one level and repetition that are shown; the record has them all.
MOST_REASONS = 4
_LONE = {
    "rotate": "another one in each repetition",
    "all": "each, one after another in every repetition",
}

_ORDERS = {
    "listed": "as the task lists them",
    "shuffled": "shuffled in each repetition, from seed {}",
    "blocks": "in blocks, each once at each place, from seed {}",
}

Json = collections.abc.Mapping[str, t.Any]
Repetitions = collections.abc.Sequence[repetition.Repetition]


def _picture(run: runs.DensityReport, name: str) -> markupsafe.Markup:
    return picture.draw(run.series[:MOST], f"{name}-picture")


def _heat(run: runs.DensityReport, name: str) -> markupsafe.Markup:
    return heat.draw(run.strips[:MOST], f"{name}-heat")


def sum_of(
    strips: collections.abc.Iterable[cells.Strip], state: cells.State
) -> int:
    """Return how many cells of all strips are in a state."""
    return sum(one.number(state) for one in strips)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Gap:
    """A level of a repetition that is not complete.

    :param state: incomplete, interrupted, skipped or never begun
    :param reasons: the first few reasons
    :param more: number of further reasons
    """

    guests: int
    repetition: int
    counted: bool
    state: str
    reasons: tuple[str, ...]
    more: int


def gaps(repetitions: Repetitions) -> list[Gap]:
    """Return every level that is not complete, by guests and repetition."""
    found = []
    for one in repetitions:
        for guests in levels.numbers(repetitions):
            level = one.at(guests=guests)
            if level is None:
                state: str = "never begun"
                reasons: list[str] = []
            elif level.skip_reason:
                state, reasons = "skipped", [level.skip_reason]
            else:
                state = level.state
                reasons = [gap.sentence() for gap in level.missing]
            if state == "complete" and not reasons:
                continue
            found.append(
                Gap(
                    guests=guests,
                    repetition=one.number,
                    counted=one.counted,
                    state=state,
                    reasons=tuple(reasons[:MOST_REASONS]),
                    more=max(0, len(reasons) - MOST_REASONS),
                )
            )
    return sorted(found, key=lambda gap: (gap.guests, gap.repetition))


def _compared(run: runs.DensityReport) -> reports.Facts:
    """Return what ran, and what it is compared with."""
    limited = [x for x in run.judgement.curves if x.status is not None]
    return [
        ("Numbers of guests", [_levels(run.last)]),
        ("Order", [_order(run.last["order"])]),
        (
            "Others meanwhile",
            [run.last["options"].get("idle_guests", "running")],
        ),
        (
            "Lone guest",
            [_LONE[run.last["options"].get("solo_guest", "rotate")]],
        ),
        ("Neighbours", neighbours.described(run)),
        ("Bare metal", _bare(run.last)),
        (
            "Limits",
            [f"on the loss {sentences.whose(one)}" for one in limited[:1]],
        ),
    ]


def _levels(record: Json) -> str:
    numbers = sorted({one["axes"]["guests"] for one in record["conditions"]})
    words = f"{', '.join(map(str, numbers))} at once"
    hosts = {
        one["host"] for one in record["machines"] if one["role"] == "guest"
    }
    return (
        f"{words} on each of {len(hosts)} hosts" if len(hosts) > 1 else words
    )


def _order(order: Json) -> str:
    return _ORDERS[order["kind"]].format(order["seed"])


def _bare(record: Json) -> list[str]:
    """Return the baseline with its numbers of copies, and what it lacks."""
    reference = record["reference"]
    if reference is None:
        return ["none to compare with"]
    known = [one["copies"] for one in reference["copies"]]
    copies = units.number_of("copy", *known)
    lines = [f"{setting.reference(reference)}, for {copies}"]
    lacking = {
        one["axes"]["guests"]: None
        for one in record["conditions"]
        if one["reference_copies"] is None and not one["skip_reason"]
    }
    if lacking:
        lines.append(f"none for {units.number_of('copy', *lacking)}")
    return lines


SECTION = reports.Section(
    title="Degradation of guests as their number grows",
    subject="degradation",
    make=runs.DensityReport,
    compared=_compared,
    functions={
        "MOST_CURVES": MOST,
        "MOST_GUESTS": heat.MOST_GUESTS,
        "number_of": units.number_of,
        "overview": overview.table,
        "gaps_of": gaps,
        "losses": neighbours.losses,
        "starts_of": starts.worst,
        "sum_of": sum_of,
        "draw_picture": _picture,
        "draw_curve": curves.draw,
        "draw_heat": _heat,
        "sentences": sentences,
    },
    template="run.html.j2",
    overview="overview.html.j2",
    loader=jinja2.PackageLoader(__package__),
)
