"""One run as a report shows it: its records and the judgement on them."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.measurement import judgement
from rally_vmperf.measurement import judging
from rally_vmperf.measurement import noted
from rally_vmperf.records import codec
from rally_vmperf.report import text

ShownT = t.TypeVar("ShownT", bound="Shown")
Json = collections.abc.Mapping[str, t.Any]
Records = collections.abc.Sequence[Json | None]


#: Title of a run that left none.
NO_RECORDS = "no records"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Shown:
    """What all runs have, whatever was asked.

    :param title: tells it apart from the other runs on the page
    :param records: in the order of repetitions, unreadable ones left out
    """

    title: str
    records: tuple[Json, ...]

    @property
    def last(self) -> Json:
        """The latest record; empty when there is none."""
        return self.records[-1] if self.records else {}

    @property
    def findings(self) -> tuple[noted.Noted, ...]:
        """What was seen beside the figures."""
        raise NotImplementedError

    @property
    def emulated(self) -> bool:
        """Whether any guest ran under emulation instead of KVM."""
        return self.found("emulated_guest")

    def found(self, kind: str) -> bool:
        """Whether a kind of finding was made."""
        return any(one.finding.kind == kind for one in self.findings)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Run(Shown):
    """The records of one Rally workload, and what they amount to."""

    judgement: judgement.Judgement

    kind: t.ClassVar[str] = "overhead"

    @property
    def headline(self) -> str:
        """The verdict in one line."""
        if self.status == "none":
            return "figures without limits"
        return self.judgement.headline()

    @property
    def status(self) -> str:
        """The verdict, or ``none`` for figures that no limit was put to."""
        held = self.judgement.judged or self.judgement.unmatched
        measured = any(row.measured for row in self.judgement.every)
        return self.judgement.status if held or not measured else "none"

    @property
    def findings(self) -> tuple[noted.Noted, ...]:
        """What was seen beside the figures."""
        return self.judgement.findings


def make(records: Records, judge: judging.OverheadJudge | None = None) -> Run:
    """Judge records and return them as a run.

    :param records: one an iteration; None for one without a readable record
    :param judge: holds the limits; without it there are figures only
    """
    judge = judge or judging.OverheadJudge({})
    readable = []
    for record in records:
        entry = codec.readable(record)
        judge.add(entry)
        if record is not None and entry is not None:
            readable.append(record)
    readable.sort(key=lambda record: record["repetition"])
    return Run(
        title=_title(readable[-1]) if readable else NO_RECORDS,
        records=tuple(readable),
        judgement=judge.judgement(),
    )


def told_apart(runs: collections.abc.Iterable[ShownT]) -> list[ShownT]:
    """Return the runs with a number behind titles that occur twice."""
    seen: dict[str, int] = {}
    named = []
    for run in runs:
        number = seen[run.title] = seen.get(run.title, 0) + 1
        title = run.title if number == 1 else f"{run.title} ({number})"
        named.append(dataclasses.replace(run, title=title))
    return named


def size(record: Json) -> str:
    """Return the size of a guest: its flavor, or how many CPUs it has."""
    for guest in _guests(record):
        flavor = guest.get("nova", {}).get("flavor")
        if isinstance(flavor, collections.abc.Mapping) and "name" in flavor:
            return text.flat(flavor["name"])
    return f"{record['shape']['vcpus']} CPUs"


def _title(record: Json) -> str:
    number = len(_guests(record)) or record["shape"]["copies"]
    return f"{size(record)}, {number} {'guest' if number == 1 else 'guests'}"


def _guests(record: Json) -> list[Json]:
    return [one for one in record["machines"] if one["role"] == "guest"]
