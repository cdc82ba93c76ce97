"""The judges: from the curves of a run to its verdict.

Rally hands them over one by one, in any order and to several judges that are
merged; the verdict depends on neither.
"""

import abc
import collections.abc
import typing as t

from rally_vmperf.measurement import limits
from rally_vmperf.measurement import terms
from rally_vmperf.measurement.density import agreed
from rally_vmperf.measurement.density import beyond
from rally_vmperf.measurement.density import curve
from rally_vmperf.measurement.density import deciding
from rally_vmperf.measurement.density import judgement
from rally_vmperf.measurement.density import points

Limits = collections.abc.Mapping[str, float]


class Judge(abc.ABC):
    """Takes curves until it is asked."""

    def __init__(self) -> None:
        self._curves: list[curve.Curve] = []
        self._unreadable = 0

    def add(self, entry: curve.Curve | None) -> None:
        """Take one curve; None for one without a readable record."""
        if entry is None:
            self._unreadable += 1
        else:
            self._curves.append(entry)

    def merge(self, other: t.Self) -> None:
        """Take what another judge with the same terms was given."""
        self._curves += other._curves
        self._unreadable += other._unreadable

    def failed_beyond_return(self) -> bool:
        """Return whether the run has failed and cannot recover.

        A run that is merely undecided goes on.
        """
        current = self.judgement()
        return any(
            beyond.beyond_return(row, current.missing.planned)
            for row in current.judged
        )

    @abc.abstractmethod
    def judgement(self) -> judgement.Judgement:
        """Return the verdict on what was taken so far."""


class DegradationJudge(Judge):
    """Judges what guests lose as their number grows.

    :param max_percent: metric or glob -> largest tolerated loss of the rate;
        without any there are figures and no verdict
    :param at: numbers of guests at which the limits are held, or ``every``
    :param of: whether the mean guest or the worst is held to them
    :param against: what the loss is against
    :param confidence: of the intervals, between 0.5 and 1
    :param on_inconclusive: whether an undecided run passes
    :param tolerate: kinds of findings that do not void
    :raises ValueError: for an argument that cannot be meant
    """

    def __init__(
        self,
        max_percent: Limits,
        at: agreed.At = "every",
        of: points.Of = "mean",
        against: points.Against = "one_guest",
        confidence: float = 0.95,
        on_inconclusive: terms.OnInconclusive = "fail",
        tolerate: collections.abc.Iterable[str] = (),
    ) -> None:
        super().__init__()
        self._terms = agreed.Degradation(
            max_percent=limits.Limits(max_percent),
            at=at,
            of=of,
            against=against,
            confidence=confidence,
            on_inconclusive=on_inconclusive,
            tolerate=tuple(tolerate),
        )

    def judgement(self) -> judgement.Judgement:
        """Return the verdict on what was taken so far."""
        return deciding.degradation(
            self._curves, self._unreadable, self._terms
        )


class FairnessJudge(Judge):
    """Judges how evenly guests share what there is.

    :param min_index: metric or glob -> smallest tolerated index of Jain
    :param max_spread_percent: metric or glob -> largest tolerated spread
    :param at: numbers of guests at which the limits are held, or ``every``
    :param confidence: of the intervals, between 0.5 and 1
    :param on_inconclusive: whether an undecided run passes
    :param tolerate: kinds of findings that do not void
    :raises ValueError: for an argument that cannot be meant
    """

    def __init__(
        self,
        min_index: Limits | None = None,
        max_spread_percent: Limits | None = None,
        at: agreed.At = "every",
        confidence: float = 0.95,
        on_inconclusive: terms.OnInconclusive = "fail",
        tolerate: collections.abc.Iterable[str] = (),
    ) -> None:
        super().__init__()
        for pattern, limit in (min_index or {}).items():
            if not 0 < limit <= 1:
                raise ValueError(
                    f"min_index {pattern!r} is {limit}, but an index is "
                    "above 0 and at most 1"
                )
        self._terms = agreed.Fairness(
            min_index=limits.Limits(min_index or {}),
            max_spread_percent=limits.Limits(max_spread_percent or {}),
            at=at,
            confidence=confidence,
            on_inconclusive=on_inconclusive,
            tolerate=tuple(tolerate),
        )

    def judgement(self) -> judgement.Judgement:
        """Return the verdict on what was taken so far."""
        return deciding.fairness(self._curves, self._unreadable, self._terms)
