"""What all curves hold of one metric at one number of guests."""

import collections.abc
import dataclasses

from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import noted
from rally_vmperf.measurement import sample
from rally_vmperf.measurement import seen
from rally_vmperf.measurement.density import curve

Curves = collections.abc.Sequence[curve.Curve]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Taken:
    """The samples of one metric with so many guests.

    :param gathered: of the guests, for each counted repetition
    :param bare: of as many bare-metal copies, for each repetition of the
        baseline
    :param void: why the samples do not mean what they claim, or nothing
    :param bare_void: why the comparison with bare metal means nothing
    :param reason: why there are none, or nothing
    """

    guests: int
    gathered: tuple[gathering.Gathered, ...]
    bare: tuple[gathering.Gathered, ...]
    void: str
    bare_void: str
    reason: str


def metrics(curves: Curves) -> list[sample.Metric]:
    """Return every metric once: the expected ones, then the others."""
    entries = [level.repetition for one in curves for level in one.levels]
    expected = [one for entry in entries for one in entry.expected]
    observed = [
        one.sample.metric for entry in entries for one in entry.observations
    ]
    return list(dict.fromkeys(expected + observed))


def guests(curves: Curves) -> list[int]:
    """Return the numbers of guests that were planned, ascending."""
    return sorted({level.guests for one in curves for level in one.levels})


def levels(curves: Curves, number: int) -> list[curve.Level]:
    """Return the counted levels with so many guests, skipped ones too."""
    found = [one.level(number) for one in curves if one.counted]
    return [one for one in found if one is not None]


def take(
    metric: sample.Metric,
    number: int,
    curves: Curves,
    others: collections.abc.Collection[str],
    tolerate: collections.abc.Collection[str],
) -> Taken:
    """Return the samples of a metric with so many guests.

    :param others: names of the other metrics, whose findings void only them
    :param tolerate: kinds of findings that do not void
    """
    there = levels(curves, number)
    ran = [one for one in there if not one.skipped]
    gathered = gathering.guests(metric, [one.repetition for one in ran])
    bare = gathering.bare(metric, ran[0].repetition.reference) if ran else ()
    return Taken(
        guests=number,
        gathered=gathered,
        bare=bare,
        void=_found(number, curves, others, tolerate) or _incomplete(ran),
        bare_void=_changed(ran, tolerate),
        reason="" if gathered else _absence(there),
    )


def _absence(there: collections.abc.Sequence[curve.Level]) -> str:
    skipped = [one.skipped for one in there if one.skipped]
    if skipped and len(skipped) == len(there):
        return f"not run: {skipped[0]}"
    return gathering.NOBODY


def _incomplete(ran: collections.abc.Iterable[curve.Level]) -> str:
    """Return what a level lacks, or nothing.

    Guests that stopped left the host to the others, whose figures are then
    not those of so many guests, at whichever moment it was.
    """
    for entry in (one.repetition for one in ran):
        if entry.state == "complete" and not entry.missing:
            continue
        words = f"repetition {entry.number} is {entry.state}"
        for gap in entry.missing[:1]:
            words += f": {gap.what} of {gap.source}: {gap.reason}"
        return words
    return ""


def _changed(
    ran: collections.abc.Iterable[curve.Level],
    tolerate: collections.abc.Collection[str],
) -> str:
    """Return that repetitions have different baselines, or nothing."""
    changes = seen.baseline_changed([one.repetition for one in ran])
    for found, _ in changes:
        if found.kind not in tolerate:
            return noted.Noted(finding=found).sentence()
    return ""


def _found(
    number: int,
    curves: Curves,
    others: collections.abc.Collection[str],
    tolerate: collections.abc.Collection[str],
) -> str:
    """Return the finding that voids a metric at this level, or nothing.

    Those of the whole run void all levels. Of a warm-up's levels none does.
    """
    all_seen = [found for one in curves for found in one.whole.findings]
    for level in levels(curves, number):
        all_seen += level.repetition.findings
    for one in all_seen:
        voids = one.severity == "void" and one.kind not in tolerate
        if voids and one.subject not in others:
            return noted.Noted(finding=one).sentence()
    return ""
