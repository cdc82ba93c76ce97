# SPDX-License-Identifier: Apache-2.0
"""Findings: observations that affect the meaning of figures."""

import collections
import collections.abc
import dataclasses
import importlib.resources
import tomllib
import typing as t

from rally_vmperf import sanitize
from rally_vmperf.measurement.samples import units

Severity = t.Literal["note", "warning", "void"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of finding from the closed list.

    :param severity: The severity: a note informs, a warning casts doubt, void
        invalidates the samples.
    :param title: The finding in one line.
    :param why: The effect on the figures.
    :param remedy: The actions that resolve it.
    :param raised_by: The part of the tool that raises it.
    :param about: The samples that it voids: all of them, only comparisons
        with ``bare_metal``, or those of the ``metric`` that is its subject.
    """

    severity: Severity
    title: str
    why: str
    remedy: str
    raised_by: str
    about: t.Literal["all", "bare_metal", "metric"] = "all"


_LIST = importlib.resources.files("rally_vmperf.measurement") / "findings.toml"
#: The closed list of findings, in the order in which reports show them.
KINDS = {
    name: Kind(**fields)
    for name, fields in tomllib.loads(_LIST.read_text("utf-8")).items()
}
#: Kinds that only void comparisons with bare metal.
ABOUT_BARE_METAL = tuple(
    name for name, kind in KINDS.items() if kind.about == "bare_metal"
)
#: Kinds about the records of repetitions, not about their content.
ABOUT_RECORDS = ("repetition_duplicated", "records_contradict")
#: Kinds that only void the samples of a command in a repetition.
ABOUT_SAMPLES = ("partial_overlap",)
#: Kinds about the baseline that guests were compared with.
FROM_BASELINE = frozenset(
    name
    for name, kind in KINDS.items()
    if kind.raised_by
    in (
        "comparing the fingerprints of bare metal and guest",
        "matching the baseline with the run",
        "recording the baseline on bare metal",
        "importing raw outputs",
    )
) | {"host_cpu_differs", "host_differs", "peer_on_host"}
_WEIGHT = {"void": 0, "warning": 1, "note": 2}
_ORDER = {kind: index for index, kind in enumerate(KINDS)}


@dataclasses.dataclass(frozen=True)
class Finding:
    """A kind of finding, its subject and its detail.

    :param kind: A key of ``KINDS``.
    :param subject: The guest, machine or metric that it concerns.
    :param detail: The detail, with the values.
    :param metrics: The names of the metrics that it concerns. If empty, it
        concerns its subject, or all metrics if the subject is not a metric.
    :param severity_override: The severity in this case; None for that of the
        kind.
    :raises ValueError: If the kind is not on the closed list.
    """

    kind: str
    subject: str
    detail: str
    _: dataclasses.KW_ONLY
    metrics: tuple[str, ...] = ()
    severity_override: Severity | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(
                f"Unknown kind of finding {self.kind!r}, "
                f"use one of: {', '.join(sorted(KINDS))}"
            )
        object.__setattr__(self, "subject", sanitize.text(self.subject))
        object.__setattr__(self, "detail", sanitize.text(self.detail))

    @property
    def severity(self) -> Severity:
        """The severity of the finding: note, warning or void."""
        return self.severity_override or KINDS[self.kind].severity

    def names(self, metric: str) -> bool:
        """Return whether the finding's subject includes a metric."""
        return metric == self.subject or metric in self.metrics

    def concerns(self, metric: str) -> bool:
        """Return whether the finding is about a metric or the whole run."""
        return self.names(metric) or self.is_run_wide

    @property
    def is_run_wide(self) -> bool:
        """Whether the finding is about a machine or a whole repetition.

        The run may lack a metric that it names, such as a percentile for
        which all guests together have too few values.
        """
        return not self.metrics and KINDS[self.kind].about != "metric"

    def with_prefix(self, prefix: str) -> "Finding":
        """Return a copy whose detail has a prefix."""
        return dataclasses.replace(self, detail=f"{prefix}{self.detail}")


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunFinding:
    """A finding of a run, with its repetitions and its effect.

    :param repetitions: The numbers of its repetitions; empty for a finding of
        the whole run.
    :param tolerated: True if the task tolerates it.
    :param omitted: True if no sample that it concerns is judged.
    """

    finding: Finding
    repetitions: tuple[int, ...] = ()
    tolerated: bool = False
    omitted: bool = False

    @property
    def voids(self) -> bool:
        """Whether the finding voids its figures."""
        return (
            self.finding.severity == "void"
            and not self.tolerated
            and not self.omitted
        )

    @property
    def is_about_bare_metal(self) -> bool:
        """Whether the finding only voids comparisons with bare metal."""
        return self.finding.kind in ABOUT_BARE_METAL

    def sentence(self) -> str:
        """Return title, subject and detail of the finding as text."""
        title = KINDS[self.finding.kind].title
        text = f"{title} ({self.finding.subject}: {self.finding.detail})"
        return f"{text}, tolerated" if self.tolerated else text


#: Warnings about the guest's system, which almost every cloud has, with the
#: property; a headline shows them as one.
_OF_SYSTEM = {
    "kernel_differs": "kernel",
    "mitigations_differ": "mitigations",
    "instructions_differ": "instructions",
}


def count_warnings(
    findings: collections.abc.Iterable[RunFinding],
) -> collections.Counter[str]:
    """Return the number of warnings by kind.

    Those about the guest's system together are one, with their properties.
    """
    number = collections.Counter(
        run_finding.finding.kind
        for run_finding in findings
        if run_finding.finding.severity == "warning"
        if not (run_finding.tolerated or run_finding.omitted)
    )
    differing = [
        noun for kind, noun in _OF_SYSTEM.items() if number.pop(kind, 0)
    ]
    if differing:
        *first, last = differing
        subject = f"{', '.join(first)} and {last}" if first else last
        verb = "differs" if differing == ["kernel"] else "differ"
        number[f"guest's {subject} {verb}"] = 1
    return number


def describe_warnings(
    findings: collections.abc.Iterable[RunFinding],
) -> str:
    """Return the number and the kinds of warnings as a clause, or ""."""
    number = count_warnings(findings)
    kinds = [
        kind if times == 1 else f"{kind} ({times})"
        for kind, times in number.items()
    ]
    total = units.number_of("warning", number.total())
    return f"with {total}: {', '.join(kinds)}" if kinds else ""


def describe_tolerated(
    findings: collections.abc.Iterable[RunFinding],
) -> str:
    """Return the kinds that would void figures if not tolerated, or ""."""
    kinds = dict.fromkeys(
        run_finding.finding.kind
        for run_finding in findings
        if run_finding.finding.severity == "void" and run_finding.tolerated
    )
    return f"tolerated, void otherwise: {', '.join(kinds)}" if kinds else ""


#: Number of subjects and details that are shown; the record has all.
DETAILS_SHOWN = 3


def sentences(findings: collections.abc.Iterable[RunFinding]) -> list[str]:
    """Return one sentence per kind of finding, as a list.

    Subjects with the same detail are grouped.
    """
    kinds: dict[str, dict[str, dict[str, None]]] = {}
    for run_finding in findings:
        details = kinds.setdefault(run_finding.finding.kind, {})
        details.setdefault(run_finding.finding.detail, {})[
            run_finding.finding.subject
        ] = None
    sentence_list = []
    for kind, details in kinds.items():
        occurrences = [
            f"{join_first(subjects, ', ')}: {detail}"
            for detail, subjects in details.items()
        ]
        sentence_list.append(
            f"{KINDS[kind].title} ({join_first(occurrences, '; ')})"
        )
    return sentence_list


def join_first(texts: collections.abc.Iterable[str], separator: str) -> str:
    """Return the first few texts joined, with the number of the others."""
    shown = list(texts)
    omitted = len(shown) - DETAILS_SHOWN
    if omitted > 0:
        shown[DETAILS_SHOWN:] = [f"and {omitted} more"]
    return separator.join(shown)


#: Findings with the number of their repetition; None for the whole run.
Occurrences = collections.abc.Iterable[tuple[Finding, int | None]]


def collect(
    occurrences: Occurrences,
    tolerate: collections.abc.Collection[str],
    unjudged: collections.abc.Set[int] = frozenset(),
) -> tuple[RunFinding, ...]:
    """Return each finding once as a tuple, the most severe ones first.

    :param tolerate: The kinds of findings that do not void.
    :param unjudged: The numbers of repetitions that are not judged.
    """
    numbers: dict[Finding, set[int]] = {}
    for finding, number in occurrences:
        repetition_numbers = numbers.setdefault(finding, set())
        if number is not None:
            repetition_numbers.add(number)
    return tuple(
        RunFinding(
            finding=finding,
            repetitions=tuple(sorted(numbers[finding])),
            tolerated=finding.kind in tolerate,
            omitted=bool(numbers[finding])
            and (
                numbers[finding] <= unjudged
                or (
                    finding.kind in ABOUT_SAMPLES
                    and finding.kind not in tolerate
                )
            ),
        )
        for finding in sorted(numbers, key=_sort_key)
    )


def _sort_key(finding: Finding) -> tuple[int, int, str, str]:
    """Return the sort key of a finding; the most severe are first."""
    weight = _WEIGHT[finding.severity]
    return weight, _ORDER[finding.kind], finding.subject, finding.detail


def sort_key(run_finding: RunFinding) -> tuple[int, int, str, str]:
    """Return the sort key of a run's finding; the most severe are first."""
    return _sort_key(run_finding.finding)
