"""The report of a run: its records and their verdicts."""

import collections.abc
import dataclasses
import pathlib
import typing as t

import jinja2

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import judge as judges_
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement import summary
from rally_vmperf.measurement.samples import units
from rally_vmperf.records import codec
from rally_vmperf.records import files
from rally_vmperf.report import text

RunT = t.TypeVar("RunT", bound="RunReport")
Json = collections.abc.Mapping[str, t.Any]
Records = collections.abc.Sequence[Json | None]
#: The facts about a run that precede the figures: titles and lines.
Facts = list[tuple[str, list[str]]]
#: The judges by the heading of their verdict.
Judges = collections.abc.Mapping[str, judges_.Judge[t.Any]]

#: The title of a run without records.
NO_RECORDS = "no records"

#: The statuses, the gravest first.
_GRAVITY = ("failed", "void", "inconclusive", "passed", "none")


@dataclasses.dataclass(frozen=True, kw_only=True)
class RallySlaResult:
    """The result of another SLA in Rally's database."""

    criterion: str
    detail: str
    success: bool

    def sentence(self) -> str:
        """Return the result as one line."""
        word = "passed" if self.success else "failed"
        return f"{self.criterion} of Rally: {word}: {self.detail}"


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunReport:
    """The records of one Rally workload, with their judgements.

    :param section: The section of its question.
    :param title: The title, which is unique on the page.
    :param records: The readable records in the order of repetitions.
    :param repetitions: The decoded repetitions of the records.
    :param judgements: The verdicts by heading, the main one first.
    :param machines: The machines of the last record, with the facts from the
        file of machines.
    :param machines_error: The reason why that file is missing, or empty.
    :param sla_results: The results of Rally's own SLAs.
    :param conclusion: The first sentences of the verdict, one for each class
        of metrics; none for runs with records.
    :param facts: The setting of a run without records.
    """

    section: "Section[t.Any]"
    title: str
    records: tuple[Json, ...]
    repetitions: tuple[repetition.Repetition, ...]
    judgements: collections.abc.Mapping[str, summary.Judgement[t.Any]]
    machines: tuple[Json, ...]
    machines_error: str
    sla_results: tuple[RallySlaResult, ...] = ()
    conclusion: list[str] = dataclasses.field(default_factory=list)
    facts: Facts = dataclasses.field(default_factory=list)

    @property
    def last(self) -> Json:
        """The latest record; empty if there is none."""
        return self.records[-1] if self.records else {}

    @property
    def judgement(self) -> t.Any:
        """The main judgement."""
        return next(iter(self.judgements.values()))

    @property
    def verdicts(self) -> list[tuple[str, str, summary.Judgement[t.Any]]]:
        """The heading, the displayed status and the judgement of each."""
        return [
            (heading, _status(judgement), judgement)
            for heading, judgement in self.judgements.items()
        ]

    @property
    def status(self) -> str:
        """The gravest verdict; ``none`` without limits."""
        statuses = [status for _, status, _ in self.verdicts]
        limited = [status for status in statuses if status != "none"]
        return min(limited or statuses, key=_GRAVITY.index)

    @property
    def passed(self) -> bool:
        """Whether there are limits and all pass."""
        limited = [
            judgement
            for _, status, judgement in self.verdicts
            if status != "none"
        ]
        return (
            bool(limited)
            and all(judgement.passed for judgement in limited)
            and all(result.success for result in self.sla_results)
        )

    @property
    def headline(self) -> str:
        """The verdicts in one line."""
        return "; ".join(
            [
                judgement.headline()
                if status != "none"
                else "figures without limits"
                for _, status, judgement in self.verdicts
            ]
            + [
                result.sentence()
                for result in self.sla_results
                if not result.success
            ]
        )

    @property
    def findings(self) -> tuple[finding.RunFinding, ...]:
        """The findings without duplicates."""
        findings = [
            run_finding
            for _, _, judgement in self.verdicts
            for run_finding in judgement.findings
        ]
        return tuple(dict.fromkeys(findings))

    @property
    def emulated(self) -> bool:
        """Whether any guest ran under emulation instead of KVM."""
        return self.has_finding("emulated_guest")

    def has_finding(self, kind: str) -> bool:
        """Return whether the run has a finding of a kind."""
        return any(
            run_finding.finding.kind == kind for run_finding in self.findings
        )

    @property
    def size(self) -> str:
        """The size of a guest: its flavor or its number of CPUs."""
        for guest in self.of_role("guest"):
            flavor = guest.get("nova", {}).get("flavor")
            if isinstance(flavor, collections.abc.Mapping) and flavor:
                return text.flatten(flavor.get("name", flavor.get("id", "")))
        return units.number_of("CPU", self.last["shape"]["vcpus"])

    def of_role(self, role: str) -> list[Json]:
        """Return the machines with a role."""
        return [
            machine for machine in self.machines if machine["role"] == role
        ]

    def describe(self) -> str:
        """Return the title of the run."""
        number = len(self.of_role("guest")) or self.last["shape"]["copies"]
        return f"{self.size}, {units.number_of('guest', number)}"


def _status(judgement: summary.Judgement[t.Any]) -> str:
    """Return the status of a judgement; ``none`` without limits."""
    has_limits = judgement.limited or judgement.unmatched
    measured = any(row.measured for row in judgement.rows)
    return judgement.status if has_limits or not measured else "none"


#: The loader of questions without templates.
NO_TEMPLATES = jinja2.DictLoader({})


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Section(t.Generic[RunT]):
    """The section of a page for the runs of a question.

    :param title: The title of a page with runs of this question only.
    :param subject: The measured property, for the title of mixed pages.
    :param report_class: The class of the runs.
    :param comparison_facts: A function that returns the facts about the
        reference of a run.
    :param functions: The functions for templates by name.
    :param template: The template of a run; extends ``section.html.j2``.
    :param overview: The template of several runs; empty without one.
    :param loader: The loader of the question's templates.
    """

    title: str
    subject: str
    report_class: type[RunT]
    comparison_facts: t.Callable[[RunT], Facts] = lambda run: []
    functions: collections.abc.Mapping[str, t.Any] = dataclasses.field(
        default_factory=dict
    )
    template: str = "section.html.j2"
    overview: str = ""
    loader: jinja2.BaseLoader = NO_TEMPLATES


def judge_records(
    section: Section[RunT],
    records: Records,
    judges: Judges,
    folder: pathlib.Path | None,
) -> RunT:
    """Judge records and return them as a run.

    :param section: The section of the question.
    :param records: The records of the iterations; None if not readable.
    :param judges: The judges by the heading of their verdict, the main one
        first.
    :param folder: The directory of the journal; None if it is not known.
    """
    main = next(iter(judges.values()))
    readable: dict[tuple[str, int], tuple[Json, repetition.Repetition]] = {}
    for record in records:
        repetition_ = codec.decode_or_none(record)
        for judge in judges.values():
            judge.add(repetition_)
        if record is None or not repetition_:
            continue
        if main.accepts(repetition_):
            # Each repetition is counted once, as in the judges.
            key = (repetition_.run, repetition_.number)
            readable.setdefault(key, (record, repetition_))
    shown = sorted(readable.values(), key=lambda pair: pair[1].number)
    last = shown[-1][0] if shown else None
    details, machines_error = _details(last, folder)
    run = section.report_class(
        section=section,
        title=NO_RECORDS,
        records=tuple(record for record, _ in shown),
        repetitions=tuple(repetition_ for _, repetition_ in shown),
        judgements={
            heading: judge.judgement() for heading, judge in judges.items()
        },
        machines=tuple(
            {**details.get(machine["name"], {}), **machine}
            for machine in (last or {}).get("machines", ())
        ),
        machines_error=machines_error,
    )
    return dataclasses.replace(run, title=run.describe()) if last else run


def _details(
    record: Json | None, folder: pathlib.Path | None
) -> tuple[Json, str]:
    """Return the facts of each machine, or the error."""
    if record is None:
        return {}, ""
    try:
        document = files.read(folder, record["files"]["machines"])
    except files.FileError as error:
        return {}, str(error)
    return document.get("machines", {}), ""


def with_unique_titles(runs: collections.abc.Iterable[RunT]) -> list[RunT]:
    """Return the runs with numbers added to repeated titles."""
    counts: dict[str, int] = {}
    renamed = []
    for run in runs:
        number = counts[run.title] = counts.get(run.title, 0) + 1
        title = run.title if number == 1 else f"{run.title} ({number})"
        renamed.append(dataclasses.replace(run, title=title))
    return renamed
