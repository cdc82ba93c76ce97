"""The levels of a run: conditions with so many guests, points and gaps."""

import collections.abc
import dataclasses

from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import judge
from rally_vmperf.measurement import level
from rally_vmperf.measurement import plausibility
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import caps as caps_
from rally_vmperf.measurement.density import points
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units


@dataclasses.dataclass(frozen=True, kw_only=True)
class Measured:
    """What was measured, and what of it is the same for all metrics.

    :param entries: in the order of their numbers
    :param hosts: guest -> host, as far as the cloud tells
    :param offered: names of metrics that are offered at a rate
    :param caps: what else may hold rates
    """

    entries: judge.Repetitions
    metrics: tuple[sample.Metric, ...]
    hosts: collections.abc.Mapping[str, str]
    offered: collections.abc.Collection[str]
    caps: tuple[caps_.Cap, ...]

    @classmethod
    def of(cls, entries: judge.Repetitions) -> "Measured":
        """Return what these repetitions measured."""
        hosts: dict[str, str] = {}
        for one in entries:
            hosts.update(one.hosts)
        return cls(
            entries=entries,
            metrics=tuple(metrics(entries)),
            hosts=hosts,
            offered=plausibility.offered(
                x
                for one in entries
                for y in one.conditions
                for x in y.findings
            ),
            caps=tuple(
                dict.fromkeys(x for one in entries for x in one.rate_limits)
            ),
        )

    @property
    def ratios(self) -> list[sample.Metric]:
        """The metrics that have a rate; counts have none."""
        return [one for one in self.metrics if one.scale == "ratio"]


def points_of(
    metric: sample.Metric,
    measured: Measured,
    confidence: float = 0.95,
    tolerate: collections.abc.Collection[str] = (),
) -> tuple[points.Point, ...]:
    """Return what is known of a metric, in ascending number of guests.

    :param tolerate: kinds of findings that do not void
    :raises ValueError: for a count, which has no rate
    """
    entries = measured.entries
    found: list[points.Point] = []
    for number in numbers(entries):
        there = counted(entries, number)
        done = [one for one in there if not one.skip_reason]
        gathered = gathering.guests(metric, done)
        changed = (one for one, _ in plausibility.baseline_changed(done))
        found.append(
            points.Point(
                metric=metric,
                guests=number,
                gathered=gathered,
                bare=gathering.bare(metric, done[0].reference) if done else (),
                lone=next((one for one in found if one.guests == 1), None),
                hosts=measured.hosts,
                confidence=confidence,
                skipped=len(there) - len(done),
                caps=None
                if metric.name in measured.offered
                else measured.caps,
                turns=max((one.batches for one in done), default=1),
                void=void_level(metric, entries, there, tolerate),
                bare_void=level.voiding(changed, tolerate),
                reason="" if gathered else absence(there),
            )
        )
    return tuple(found)


def numbers(entries: judge.Repetitions) -> list[int]:
    """Return every number of guests of a run, ascending."""
    return sorted(
        {level.guests_of(x) for one in entries for x in one.conditions}
    )


def void_level(
    metric: sample.Metric,
    entries: judge.Repetitions,
    there: collections.abc.Sequence[repetition.Condition],
    tolerate: collections.abc.Collection[str],
) -> str:
    """Return why samples of a level do not mean what they claim, or nothing.

    :param there: the level in each counted repetition
    """
    found = level.void(metric.name, entries, there, tolerate)
    return found or _gap(one for one in there if not one.skip_reason)


def metrics(entries: judge.Repetitions) -> list[sample.Metric]:
    """Return every metric once: the expected ones, then the others."""
    return gathering.metrics([x for one in entries for x in one.conditions])


def counted(
    entries: judge.Repetitions, number: int
) -> list[repetition.Condition]:
    """Return the counted conditions with so many guests, skipped ones too."""
    found = [one.at(guests=number) for one in entries if one.counted]
    return [one for one in found if one is not None]


def no_figure(
    point: points.Point | None, figure: str, compare_to: points.CompareTo
) -> str:
    """Return why a level has no figure.

    :param figure: ``loss``, or one of how guests share
    :param compare_to: what a loss is against
    """
    if point is None:
        return "the task has no such level"
    if point.reason:
        return point.reason
    if figure != "loss":
        return "a single guest shares with nobody"
    if compare_to == "bare_metal":
        copies = units.number_of("copy", point.guests)
        return (
            f"the baseline does not have it of {copies}, record "
            f"it with --copies {point.guests}"
        )
    if point.lone is None:
        return "the task has no level of one guest to compare with"
    return f"one guest: {point.lone.reason}"


def absence(there: collections.abc.Sequence[repetition.Condition]) -> str:
    skipped = [one.skip_reason for one in there if one.skip_reason]
    if skipped and len(skipped) == len(there):
        return f"not run: {skipped[0]}"
    return gathering.NOBODY


def _gap(done: collections.abc.Iterable[repetition.Condition]) -> str:
    """Return what a level lacks, or nothing.

    Guests that stopped left the host to the others, whose figures are then
    not those of so many guests, at whichever moment it was.
    """
    for entry in done:
        if entry.complete:
            continue
        words = f"repetition {entry.number} is {entry.state}"
        for gap in entry.missing[:1]:
            words += f": {gap.sentence()}"
        return words
    return ""
