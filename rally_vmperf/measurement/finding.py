"""What was seen beside the figures, why it matters and what to do."""

import collections.abc
import dataclasses
import importlib.resources
import tomllib
import typing as t

Severity = t.Literal["note", "warning", "void"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Kind:
    """One entry of the closed list of findings.

    :param severity: a note informs, a warning casts doubt, void means that
        the samples do not mean what they claim
    :param title: what is the case, in one line
    :param why: why it matters to the figures
    :param remedy: what the reader can do about it
    :param raised_by: which part of the tool sees it
    """

    severity: Severity
    title: str
    why: str
    remedy: str
    raised_by: str


_LIST = importlib.resources.files("rally_vmperf.measurement") / "findings.toml"
#: The closed list of findings, in the order in which reports show them.
KINDS = {
    name: Kind(**entry)
    for name, entry in tomllib.loads(_LIST.read_text("utf-8")).items()
}
_WEIGHT = {"void": 0, "warning": 1, "note": 2}
_ORDER = {kind: place for place, kind in enumerate(KINDS)}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Finding:
    """A kind of finding, and what exactly was seen on whom or what.

    :param kind: a key of ``KINDS``
    :param subject: the guest, machine or metric it concerns
    :param seen: what was seen, with the values
    :param metrics: names of those that it concerns; none for one that is
        about its subject, or about all metrics where that is no metric
    :raises ValueError: for a kind that is not on the closed list
    """

    kind: str
    subject: str
    seen: str
    metrics: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check(self.kind)
        # Documents have a list.
        object.__setattr__(self, "metrics", tuple(self.metrics))

    @property
    def severity(self) -> Severity:
        """How much it weighs: note, warning or void."""
        return KINDS[self.kind].severity

    def names(self, metric: str) -> bool:
        """Return whether it is about this metric and not about all."""
        return metric == self.subject or metric in self.metrics

    def concerns_all(self, known: collections.abc.Container[str]) -> bool:
        """Return whether it is about no metric in particular.

        :param known: names of all metrics
        """
        return not self.metrics and self.subject not in known


def check(kind: str) -> None:
    """Refuse a kind that is not on the closed list.

    :raises ValueError: naming the kinds there are
    """
    if kind not in KINDS:
        raise ValueError(
            f"Unknown kind of finding {kind!r}, "
            f"use one of: {', '.join(sorted(KINDS))}"
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunFinding:
    """A finding, where it was seen, and whether the task tolerates it.

    :param repetitions: their numbers; none for what the whole run shows
    :param left_out: whether none of these repetitions is judged
    """

    finding: Finding
    repetitions: tuple[int, ...] = ()
    tolerated: bool = False
    left_out: bool = False

    @property
    def voids(self) -> bool:
        """Whether it takes the meaning from the figures it concerns."""
        return (
            self.finding.severity == "void"
            and not self.tolerated
            and not self.left_out
        )

    def sentence(self) -> str:
        """Return title, subject and what was seen."""
        title = KINDS[self.finding.kind].title
        words = f"{title} ({self.finding.subject}: {self.finding.seen})"
        return f"{words}, tolerated" if self.tolerated else words


#: Findings with the number of the repetition that shows them, None for what
#: the whole run shows.
Seen = collections.abc.Iterable[tuple[Finding, int | None]]


def collect(
    seen: Seen,
    tolerate: collections.abc.Collection[str],
    unjudged: collections.abc.Set[int] = frozenset(),
) -> tuple[RunFinding, ...]:
    """Return each finding once, the gravest first.

    :param tolerate: kinds of findings that do not void
    :param unjudged: numbers of repetitions that are not judged
    """
    numbers: dict[Finding, set[int]] = {}
    for one, number in seen:
        entry = numbers.setdefault(one, set())
        if number is not None:
            entry.add(number)
    return tuple(
        RunFinding(
            finding=one,
            repetitions=tuple(sorted(numbers[one])),
            tolerated=one.kind in tolerate,
            left_out=bool(numbers[one]) and numbers[one] <= unjudged,
        )
        for one in sorted(numbers, key=_place)
    )


def _place(one: Finding) -> tuple[int, int, str, str]:
    weight = _WEIGHT[one.severity]
    return weight, _ORDER[one.kind], one.subject, one.seen
