"""One run as a report shows it: its records and the verdicts on them."""

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
#: What a reader must know before the figures: titles with their lines.
Facts = list[tuple[str, list[str]]]
#: What is judged, in a word, and its judge.
Judges = collections.abc.Mapping[str, judges_.Judge[t.Any]]

#: Title of a run that left none.
NO_RECORDS = "no records"

#: The gravest first.
_GRAVITY = ("failed", "void", "inconclusive", "passed", "none")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Other:
    """The verdict of another SLA, as Rally has stored it."""

    criterion: str
    detail: str
    success: bool

    def sentence(self) -> str:
        """Return it as one line."""
        word = "passed" if self.success else "failed"
        return f"{self.criterion} of Rally: {word}: {self.detail}"


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunReport:
    """The records of one Rally workload, with their judgements.

    :param section: how the question shows it
    :param title: tells it apart from the other runs on the page
    :param records: in the order of repetitions, unreadable ones left out
    :param repetitions: what these hold
    :param judgements: by what is judged, the main one first
    :param machines: of the last record, with what its file says of them
    :param lacking: why there is no such file, or nothing
    :param others: verdicts of Rally's own criteria
    :param conclusion: The first sentences of the verdict, one for each class
        of metrics; none for runs with records.
    :param facts: The setting of a run without records.
    """

    section: "Section[t.Any]"
    title: str
    records: tuple[Json, ...]
    repetitions: tuple[repetition.Repetition, ...]
    judgements: collections.abc.Mapping[str, summary.Summary[t.Any]]
    machines: tuple[Json, ...]
    lacking: str
    others: tuple[Other, ...] = ()
    conclusion: list[str] = dataclasses.field(default_factory=list)
    facts: Facts = dataclasses.field(default_factory=list)

    @property
    def last(self) -> Json:
        """The latest record; empty when there is none."""
        return self.records[-1] if self.records else {}

    @property
    def judgement(self) -> t.Any:
        """The main judgement."""
        return next(iter(self.judgements.values()))

    @property
    def verdicts(self) -> list[tuple[str, str, summary.Summary[t.Any]]]:
        """Judgements, each with the status to show."""
        return [
            (what, _status(one), one) for what, one in self.judgements.items()
        ]

    @property
    def status(self) -> str:
        """The gravest verdict; ``none`` for figures without any limit."""
        statuses = [status for _, status, _ in self.verdicts]
        held = [one for one in statuses if one != "none"]
        return min(held or statuses, key=_GRAVITY.index)

    @property
    def passed(self) -> bool:
        """Whether there are limits, and all are kept."""
        held = [one for _, status, one in self.verdicts if status != "none"]
        ours = bool(held) and all(one.passed for one in held)
        return ours and all(one.success for one in self.others)

    @property
    def headline(self) -> str:
        """The verdicts in one line."""
        return "; ".join(
            [
                one.headline()
                if status != "none"
                else "figures without limits"
                for _, status, one in self.verdicts
            ]
            + [one.sentence() for one in self.others if not one.success]
        )

    @property
    def findings(self) -> tuple[finding.RunFinding, ...]:
        """Findings, each once."""
        found = [x for _, _, one in self.verdicts for x in one.findings]
        return tuple(dict.fromkeys(found))

    @property
    def emulated(self) -> bool:
        """Whether any guest ran under emulation instead of KVM."""
        return self.found("emulated_guest")

    def found(self, kind: str) -> bool:
        """Whether a kind of finding was made."""
        return any(one.finding.kind == kind for one in self.findings)

    @property
    def size(self) -> str:
        """The size of a guest: its flavor, or how many CPUs it has."""
        for one in self.of_role("guest"):
            flavor = one.get("nova", {}).get("flavor")
            if isinstance(flavor, collections.abc.Mapping) and flavor:
                return text.flat(flavor.get("name", flavor.get("id", "")))
        return units.number_of("CPU", self.last["shape"]["vcpus"])

    def of_role(self, role: str) -> list[Json]:
        """Return the machines of a role."""
        return [one for one in self.machines if one["role"] == role]

    def named(self) -> str:
        """Return a title of what ran."""
        number = len(self.of_role("guest")) or self.last["shape"]["copies"]
        return f"{self.size}, {units.number_of('guest', number)}"


def _status(found: summary.Summary[t.Any]) -> str:
    """Return the verdict, ``none`` for figures without limits."""
    held = found.limited or found.unmatched
    measured = any(row.measured for row in found.rows)
    return found.status if held or not measured else "none"


#: Gives the templates of those who have none of their own.
NO_TEMPLATES = jinja2.DictLoader({})


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Section(t.Generic[RunT]):
    """The part of a page that is the question's own.

    :param title: of a page with runs of this question only
    :param subject: what is shown of guests, for the title of a mixed page
    :param make: makes a run of its fields
    :param compared: returns facts about what guests are compared with
    :param functions: for the templates, by their names there
    :param template: of one run, which extends ``section.html.j2``
    :param overview: template of several runs side by side, if there is one
    :param loader: of the templates that are not the report's own
    """

    title: str
    subject: str
    make: type[RunT]
    compared: t.Callable[[RunT], Facts] = lambda run: []
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

    :param section: how the question shows its runs
    :param records: one an iteration; None for one without a readable record
    :param judges: by what they judge, the main one first
    :param folder: of the journal, None where it is not known
    """
    main = next(iter(judges.values()))
    readable: dict[tuple[str, int], tuple[Json, repetition.Repetition]] = {}
    for record in records:
        entry = codec.readable(record)
        for one in judges.values():
            one.add(entry)
        if record is not None and entry and main.understands(entry):
            # As the judges do: each repetition once.
            readable.setdefault((entry.run, entry.number), (record, entry))
    shown = sorted(readable.values(), key=lambda pair: pair[1].number)
    last = shown[-1][0] if shown else None
    details, lacking = _details(last, folder)
    run = section.make(
        section=section,
        title=NO_RECORDS,
        records=tuple(record for record, _ in shown),
        repetitions=tuple(entry for _, entry in shown),
        judgements={what: one.judgement() for what, one in judges.items()},
        machines=tuple(
            {**details.get(one["name"], {}), **one}
            for one in (last or {}).get("machines", ())
        ),
        lacking=lacking,
    )
    return dataclasses.replace(run, title=run.named()) if last else run


def _details(
    record: Json | None, folder: pathlib.Path | None
) -> tuple[Json, str]:
    """Return the facts of each machine, or why they are not known."""
    if record is None:
        return {}, ""
    try:
        found = files.read(folder, record["files"]["machines"])
    except files.FileError as error:
        return {}, str(error)
    return found.get("machines", {}), ""


def told_apart(runs: collections.abc.Iterable[RunT]) -> list[RunT]:
    """Return the runs with numbers added to repeated titles."""
    seen: dict[str, int] = {}
    named = []
    for run in runs:
        number = seen[run.title] = seen.get(run.title, 0) + 1
        title = run.title if number == 1 else f"{run.title} ({number})"
        named.append(dataclasses.replace(run, title=title))
    return named
