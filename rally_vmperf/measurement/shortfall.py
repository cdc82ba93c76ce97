# SPDX-License-Identifier: Apache-2.0
"""Missing repetitions and measurements of a run."""

import collections.abc
import dataclasses

from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import repetition

#: The values that complete records lack, by the number of the repetition.
_Silent = collections.abc.Mapping[int, list[repetition.Missing]]
#: Number of reasons in a sentence; the record has all.
REASONS_SHOWN = 3


@dataclasses.dataclass(frozen=True, kw_only=True)
class Shortfall:
    """The repetitions that are missing, compared with the planned ones.

    :param planned: The number of counted repetitions of the task.
    :param complete: The number of complete counted repetitions.
    :param incomplete: The numbers of repetitions that lack a measurement,
        including warm-ups.
    :param interrupted: The numbers of interrupted repetitions.
    :param unreadable: The number of iterations without a readable record.
    :param absent: The number of counted repetitions that did not start.
    :param warmups: The number of warm-ups without a record.
    :param reasons: The distinct reasons.
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
        number = self.unreadable + self.absent + self.warmups
        return bool(self.incomplete or self.interrupted or number)

    def sentence(self) -> str:
        """Return what repetitions are missing and why as text, or ""."""
        if not self:
            return ""
        clauses = [
            f"{text}: {figure}"
            for text, figure in (
                ("incomplete", ", ".join(map(str, self.incomplete))),
                ("interrupted", ", ".join(map(str, self.interrupted))),
                ("without a readable record", self.unreadable),
                ("not started", self.absent),
                ("of the warm-up without a record", self.warmups),
            )
            if figure
        ]
        text = f"repetitions {', '.join(clauses)}"
        if self.planned:
            text += f" ({self.complete} of {self.planned} are complete)"
        shown = list(self.reasons[:REASONS_SHOWN])
        if len(self.reasons) > REASONS_SHOWN:
            shown.append(f"{len(self.reasons) - REASONS_SHOWN} more reasons")
        return f"{text}: {'; '.join(shown)}" if shown else text


def count_missing(
    repetitions: collections.abc.Sequence[repetition.Repetition],
    unreadable: int,
    void: collections.abc.Set[int] = frozenset(),
) -> Shortfall:
    """Return the number of missing repetitions with the reasons.

    :param void: The numbers of void repetitions, whose missing measurements
        do not count.
    """
    planned = max(
        (measured.planned_repetitions for measured in repetitions),
        default=0,
    )
    counted = [measured for measured in repetitions if measured.counted]
    silent = gathering.list_silent(repetitions)
    absent = planned - len(counted)
    # Rally reports the number of lost iterations, but not which they were.
    unidentified = max(0, unreadable - max(0, absent))
    incomplete = [
        measured
        for measured in repetitions
        if measured.number not in void and not _is_complete(measured, silent)
    ]
    complete = sum(1 for measured in counted if _is_complete(measured, silent))
    reasons = dict.fromkeys(
        reason
        for measured in incomplete
        for reason in _list_reasons(measured, silent)
    )
    return Shortfall(
        planned=planned,
        complete=complete,
        incomplete=tuple(
            measured.number
            for measured in incomplete
            if measured.state != "interrupted"
        ),
        interrupted=tuple(
            measured.number
            for measured in incomplete
            if measured.state == "interrupted"
        ),
        unreadable=unreadable,
        absent=max(0, absent - unreadable),
        warmups=max(
            0, _count_lost_warmups(repetitions, planned) - unidentified
        ),
        reasons=tuple(reasons),
    )


def _count_lost_warmups(
    repetitions: collections.abc.Sequence[repetition.Repetition], planned: int
) -> int:
    """Return the smallest number of warm-ups without a record.

    Repetitions are numbered from 1, warm-ups first. If more are counted than
    planned, the numbers of counted repetitions are ignored.
    """
    numbers: dict[bool, set[int]] = {True: set(), False: set()}
    for measured in repetitions:
        numbers[measured.counted].add(measured.number)
    counted, warm = numbers[True], numbers[False]
    before = max(counted, default=0) - max(planned, len(counted))
    return max(max(warm, default=0), before) - len(warm)


def _is_complete(measured: repetition.Repetition, silent: _Silent) -> bool:
    """Return whether a repetition has all its expected metrics."""
    return (
        measured.state == "complete"
        and measured.number not in silent
        and not measured.all_missing
        and not _unreported_metrics(measured)
    )


def _unreported_metrics(measured: repetition.Repetition) -> list[str]:
    """Return the names of expected metrics without observations."""
    reported = {
        metric
        for condition in measured.conditions
        for metric, samples in condition.by_metric.items()
        if samples.observations
    }
    return [
        metric.name
        for metric in measured.expected_metrics
        if metric not in reported
        and not any(
            condition.omits(metric.name) for condition in measured.conditions
        )
    ]


def _list_reasons(
    measured: repetition.Repetition, silent: _Silent
) -> list[str]:
    """Return why a repetition is incomplete, one text per reason."""
    gaps = [*measured.all_missing, *silent.get(measured.number, ())]
    if gaps:
        return [gap.sentence() for gap in gaps]
    return [f"{name}: not reported" for name in _unreported_metrics(measured)]
