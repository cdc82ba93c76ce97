"""What a run was to measure and did not."""

import collections.abc
import dataclasses

from rally_vmperf.measurement import repetition

#: How many reasons a sentence repeats; the record holds them all.
REASONS_SHOWN = 3


@dataclasses.dataclass(frozen=True, kw_only=True)
class Shortfall:
    """Repetitions that are missing, against those that were planned.

    :param planned: how many counted repetitions the task asks for
    :param complete: how many of these are complete
    :param incomplete: numbers of repetitions that lack a measurement,
        warm-up ones included
    :param interrupted: numbers of repetitions that were cut off
    :param unreadable: how many iterations left no readable record
    :param absent: how many counted repetitions never began
    :param warmups: how many warm-ups left no record
    :param reasons: why, once each
    """

    planned: int
    complete: int
    incomplete: tuple[int, ...] = ()
    interrupted: tuple[int, ...] = ()
    unreadable: int = 0
    absent: int = 0
    warmups: int = 0
    reasons: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(
            self.incomplete
            or self.interrupted
            or self.unreadable
            or self.absent
            or self.warmups
        )

    def sentence(self) -> str:
        """Return what is missing and why, or nothing."""
        if not self:
            return ""
        parts = [
            f"{words}: {', '.join(map(str, numbers))}"
            for words, numbers in (
                ("incomplete", self.incomplete),
                ("interrupted", self.interrupted),
            )
            if numbers
        ]
        if self.unreadable:
            parts.append(f"without a readable record: {self.unreadable}")
        if self.absent:
            parts.append(f"never begun: {self.absent}")
        if self.warmups:
            parts.append(f"of the warm-up without a record: {self.warmups}")
        words = f"repetitions {', '.join(parts)}"
        if self.planned:
            words += f" ({self.complete} of {self.planned} are complete)"
        shown = list(self.reasons[:REASONS_SHOWN])
        if len(self.reasons) > REASONS_SHOWN:
            shown.append(f"{len(self.reasons) - REASONS_SHOWN} more reasons")
        return f"{words}: {'; '.join(shown)}" if shown else words


def count(
    repetitions: collections.abc.Sequence[repetition.Repetition],
    unreadable: int,
    void: collections.abc.Set[int] = frozenset(),
) -> Shortfall:
    """Return what is missing from these repetitions.

    :param void: numbers of those that are left out: what they lack as well
        matters to nobody
    """
    planned = max(
        (entry.planned_repetitions for entry in repetitions), default=0
    )
    counted = [entry for entry in repetitions if entry.counted]
    lost = planned - len(counted)
    # Rally tells of an iteration that it is lost, and not which it was.
    unknown = max(0, unreadable - max(0, lost))
    short = [
        entry
        for entry in repetitions
        if entry.number not in void and not _complete(entry)
    ]
    whole = sum(1 for entry in counted if _complete(entry))
    reasons = dict.fromkeys(
        reason for entry in short for reason in _reasons(entry)
    )
    return Shortfall(
        planned=planned,
        complete=whole,
        incomplete=tuple(
            entry.number for entry in short if entry.state != "interrupted"
        ),
        interrupted=tuple(
            entry.number for entry in short if entry.state == "interrupted"
        ),
        unreadable=unreadable,
        absent=max(0, lost - unreadable),
        warmups=max(0, _lost_warmups(repetitions, planned) - unknown),
        reasons=tuple(reasons),
    )


def _lost_warmups(
    repetitions: collections.abc.Sequence[repetition.Repetition], planned: int
) -> int:
    """Return how many warm-ups there were at least without a record.

    Repetitions are numbered from 1, warm-ups first. Where more are counted
    than were planned, their numbers tell nothing.
    """
    warm = {entry.number for entry in repetitions if not entry.counted}
    counted = {entry.number for entry in repetitions if entry.counted}
    before = max(counted, default=0) - max(planned, len(counted))
    return max(max(warm, default=0), before) - len(warm)


def _complete(entry: repetition.Repetition) -> bool:
    """Return whether it holds what it says it holds."""
    return (
        entry.state == "complete"
        and not entry.all_missing
        and not _never(entry)
    )


def _never(entry: repetition.Repetition) -> list[str]:
    """Return the expected metrics that nobody reported."""
    there = {
        one.sample.metric
        for condition in entry.conditions
        for one in condition.observations
    }
    return [one.name for one in entry.expected_metrics if one not in there]


def _reasons(entry: repetition.Repetition) -> list[str]:
    if entry.all_missing:
        return [gap.sentence() for gap in entry.all_missing]
    return [f"{name}: nobody reported it" for name in _never(entry)]
