"""The judge: from the repetitions of a run to its verdict.

Rally hands repetitions over one by one, in any order and to several judges
that are merged; the verdict depends on neither.
"""

import collections.abc

from rally_vmperf.measurement import beyond
from rally_vmperf.measurement import deciding
from rally_vmperf.measurement import judgement
from rally_vmperf.measurement import limits
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement import terms


class OverheadJudge:
    """Judges the overhead of guests over bare metal.

    :param max_percent: metric or glob -> largest tolerated overhead
    :param max_count: metric or glob -> largest tolerated count
    :param confidence: of the intervals, between 0.5 and 1
    :param on_inconclusive: whether an undecided run passes
    :param tolerate: kinds of findings that do not void
    :raises ValueError: for an argument that cannot be meant
    """

    def __init__(
        self,
        max_percent: collections.abc.Mapping[str, float],
        max_count: collections.abc.Mapping[str, float] | None = None,
        confidence: float = 0.95,
        on_inconclusive: terms.OnInconclusive = "fail",
        tolerate: collections.abc.Iterable[str] = (),
    ) -> None:
        self._terms = terms.Terms(
            max_percent=limits.Limits(max_percent),
            max_count=limits.Limits(max_count or {}),
            confidence=confidence,
            on_inconclusive=on_inconclusive,
            tolerate=tuple(tolerate),
        )
        self._repetitions: list[repetition.Repetition] = []
        self._unreadable = 0

    def add(self, entry: repetition.Repetition | None) -> None:
        """Take one repetition; None for one without a readable record."""
        if entry is None:
            self._unreadable += 1
        else:
            self._repetitions.append(entry)

    def merge(self, other: "OverheadJudge") -> None:
        """Take what another judge with the same terms was given."""
        self._repetitions += other._repetitions
        self._unreadable += other._unreadable

    def failed_beyond_return(self) -> bool:
        """Return whether the run has failed and cannot recover.

        A run that is merely undecided goes on; see ``beyond``.
        """
        current = self.judgement()
        return any(
            beyond.beyond_return(row, current.missing.planned)
            for row in current.judged
        )

    def judgement(self) -> judgement.Judgement:
        """Return the verdict on what was taken so far."""
        return deciding.decide(
            self._repetitions, self._unreadable, self._terms
        )
