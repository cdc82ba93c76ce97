"""The findings of a run, each said once."""

import collections.abc
import dataclasses

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import terms

_WEIGHT = {"void": 0, "warning": 1, "note": 2}
_ORDER = {kind: place for place, kind in enumerate(finding.KINDS)}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Noted:
    """A finding, where it was seen, and whether the task tolerates it.

    :param repetitions: their numbers; none for what the whole run shows
    """

    finding: finding.Finding
    repetitions: tuple[int, ...] = ()
    tolerated: bool = False

    @property
    def voids(self) -> bool:
        """Whether it takes the meaning from the figures it concerns."""
        return self.finding.severity == "void" and not self.tolerated

    def sentence(self) -> str:
        """Return title, subject and what was seen."""
        title = finding.KINDS[self.finding.kind].title
        words = f"{title} ({self.finding.subject}: {self.finding.seen})"
        return f"{words}, tolerated" if self.tolerated else words


def collect(
    seen: collections.abc.Iterable[tuple[finding.Finding, int | None]],
    agreed: terms.Strictness,
) -> tuple[Noted, ...]:
    """Return each finding once, the gravest first.

    :param seen: findings with the number of the repetition, None for what
        the whole run shows
    :param agreed: says which kinds are tolerated
    """
    numbers: dict[finding.Finding, set[int]] = {}
    for one, number in seen:
        entry = numbers.setdefault(one, set())
        if number is not None:
            entry.add(number)
    return tuple(
        Noted(
            finding=one,
            repetitions=tuple(sorted(numbers[one])),
            tolerated=one.kind in agreed.tolerate,
        )
        for one in sorted(numbers, key=_place)
    )


def _place(one: finding.Finding) -> tuple[int, int, str, str]:
    weight = _WEIGHT[one.severity]
    return weight, _ORDER[one.kind], one.subject, one.seen
