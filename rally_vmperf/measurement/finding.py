"""Findings: what was observed beside the figures, and why it matters."""

import collections.abc
import dataclasses
import importlib.resources
import tomllib
import typing as t

from rally_vmperf import sanitize

Severity = t.Literal["note", "warning", "void"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Kind:
    """One entry of the closed list of findings.

    :param severity: a note informs, a warning casts doubt, void means that
        the samples do not mean what they claim
    :param title: the finding, in one line
    :param why: why it matters to the figures
    :param remedy: what the reader can do about it
    :param raised_by: which part of the tool raises it
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
#: Kinds that void comparisons with bare metal, and no others.
ABOUT_BARE_METAL = (
    "bare_metal_is_guest",
    "bare_metal_busy",
    "data_differ",
    "host_cpu_differs",
    "guests_not_on_one_host",
    "machine_unknown",
    "shape_not_enforced",
    "tool_version_differs",
)
#: Kinds that void metrics: their subject is a metric, and no machine.
ABOUT_METRICS = (
    "above_physical_limit",
    "guest_faster",
    "solo_guest_slow",
    "partial_overlap",
)
#: Kinds that void the samples of a command in a repetition, and no others.
ABOUT_SAMPLES = ("partial_overlap",)
#: Kinds that tell of the baseline that guests were compared with.
FROM_BASELINE = frozenset(
    name
    for name, kind in KINDS.items()
    if kind.raised_by
    in (
        "comparing the fingerprints of bare metal and guest",
        "matching the baseline with the run",
        "taking the baseline on bare metal",
        "importing raw outputs",
    )
) | {"host_cpu_differs", "host_differs", "peer_on_host"}
_WEIGHT = {"void": 0, "warning": 1, "note": 2}
_ORDER = {kind: index for index, kind in enumerate(KINDS)}


@dataclasses.dataclass(frozen=True)
class Finding:
    """A kind of finding, its subject and its detail.

    :param kind: a key of ``KINDS``
    :param subject: the guest, machine or metric it concerns
    :param detail: the detail, with the values
    :param metrics: names of those that it concerns; none for one that is
        about its subject, or about all metrics where that is no metric
    :raises ValueError: for a kind that is not on the closed list
    """

    kind: str
    subject: str
    detail: str
    _: dataclasses.KW_ONLY
    metrics: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check(self.kind)
        object.__setattr__(self, "subject", sanitize.text(self.subject))
        object.__setattr__(self, "detail", sanitize.text(self.detail))
        # Documents have a list.
        object.__setattr__(self, "metrics", tuple(self.metrics))

    @property
    def severity(self) -> Severity:
        """How much it weighs: note, warning or void."""
        return KINDS[self.kind].severity

    def names(self, metric: str) -> bool:
        """Return whether it is about this metric and not about all."""
        return metric == self.subject or metric in self.metrics

    @property
    def concerns_all(self) -> bool:
        """Whether it is about a machine or a repetition, not about metrics.

        A metric that it names may be none of the run, such as a percentile
        for which all guests together have too few values.
        """
        return not self.metrics and self.kind not in ABOUT_METRICS


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
    :param left_out: whether no sample that it concerns is judged
    """

    finding: Finding
    repetitions: tuple[int, ...] = ()
    tolerated: bool = False
    left_out: bool = False

    @property
    def voids(self) -> bool:
        """Whether it voids the figures that it concerns."""
        return (
            self.finding.severity == "void"
            and not self.tolerated
            and not self.left_out
        )

    def sentence(self) -> str:
        """Return title, subject and detail."""
        title = KINDS[self.finding.kind].title
        text = f"{title} ({self.finding.subject}: {self.finding.detail})"
        return f"{text}, tolerated" if self.tolerated else text


#: How many subjects and details of a kind are told; the record has them all.
DETAILS_SHOWN = 3


def sentences(findings: collections.abc.Iterable[RunFinding]) -> list[str]:
    """Return a sentence for each kind, with its subjects and details.

    Subjects of which the same was seen are named together.
    """
    kinds: dict[str, dict[str, dict[str, None]]] = {}
    for one in findings:
        details = kinds.setdefault(one.finding.kind, {})
        details.setdefault(one.finding.detail, {})[one.finding.subject] = None
    found = []
    for kind, details in kinds.items():
        told = [
            f"{_first(subjects, ', ')}: {seen}"
            for seen, subjects in details.items()
        ]
        found.append(f"{KINDS[kind].title} ({_first(told, '; ')})")
    return found


def _first(names: collections.abc.Iterable[str], between: str) -> str:
    """Return the first few names, and the number of the others."""
    every = list(names)
    more = len(every) - DETAILS_SHOWN
    if more > 0:
        every[DETAILS_SHOWN:] = [f"and {more} more"]
    return between.join(every)


#: Findings with the number of the repetition that shows them, None for what
#: the whole run shows.
Occurrences = collections.abc.Iterable[tuple[Finding, int | None]]


def collect(
    occurrences: Occurrences,
    tolerate: collections.abc.Collection[str],
    unjudged: collections.abc.Set[int] = frozenset(),
) -> tuple[RunFinding, ...]:
    """Return each finding once, the gravest first.

    :param tolerate: kinds of findings that do not void
    :param unjudged: numbers of repetitions that are not judged
    """
    numbers: dict[Finding, set[int]] = {}
    for one, number in occurrences:
        entry = numbers.setdefault(one, set())
        if number is not None:
            entry.add(number)
    return tuple(
        RunFinding(
            finding=one,
            repetitions=tuple(sorted(numbers[one])),
            tolerated=one.kind in tolerate,
            left_out=bool(numbers[one])
            and (
                numbers[one] <= unjudged
                or (one.kind in ABOUT_SAMPLES and one.kind not in tolerate)
            ),
        )
        for one in sorted(numbers, key=_sort_key)
    )


def _sort_key(one: Finding) -> tuple[int, int, str, str]:
    weight = _WEIGHT[one.severity]
    return weight, _ORDER[one.kind], one.subject, one.detail
