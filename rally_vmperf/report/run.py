"""One run as a report shows it: its records and the judgement on them."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.measurement import judgement
from rally_vmperf.measurement import judging
from rally_vmperf.records import codec

Json = collections.abc.Mapping[str, t.Any]
Records = collections.abc.Sequence[Json | None]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Run:
    """The records of one Rally workload, and what they amount to.

    :param title: tells it apart from the other runs on the page
    :param records: in the order of repetitions, unreadable ones left out
    """

    title: str
    records: tuple[Json, ...]
    judgement: judgement.Judgement

    @property
    def last(self) -> Json:
        """The latest record; empty when there is none."""
        return self.records[-1] if self.records else {}

    @property
    def status(self) -> str:
        """The verdict, or ``none`` for figures that no limit was put to."""
        held = self.judgement.judged or self.judgement.unmatched
        measured = any(row.measured for row in self.judgement.every)
        return self.judgement.status if held or not measured else "none"

    @property
    def emulated(self) -> bool:
        """Whether any guest ran under emulation instead of KVM."""
        return self.found("emulated_guest")

    def found(self, kind: str) -> bool:
        """Whether a kind of finding was made."""
        return any(one.finding.kind == kind for one in self.judgement.findings)


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
        title=_title(readable[-1]) if readable else "no records",
        records=tuple(readable),
        judgement=judge.judgement(),
    )


def told_apart(runs: collections.abc.Iterable[Run]) -> list[Run]:
    """Return the runs with a number behind titles that occur twice."""
    seen: dict[str, int] = {}
    named = []
    for run in runs:
        number = seen[run.title] = seen.get(run.title, 0) + 1
        title = run.title if number == 1 else f"{run.title} ({number})"
        named.append(dataclasses.replace(run, title=title))
    return named


def _title(record: Json) -> str:
    guests = [one for one in record["machines"] if one["role"] == "guest"]
    number = len(guests) or record["shape"]["copies"]
    for guest in guests:
        flavor = guest.get("nova", {}).get("flavor")
        if isinstance(flavor, collections.abc.Mapping) and "name" in flavor:
            size = str(flavor["name"])
            break
    else:
        size = f"{record['shape']['vcpus']} CPUs"
    return f"{size}, {number} {'guest' if number == 1 else 'guests'}"
