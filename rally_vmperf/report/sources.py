"""Where records come from: our journals and Rally's results."""

import dataclasses
import json
import pathlib
import typing as t

from rally_vmperf.records import journal
from rally_vmperf.records import output
from rally_vmperf.records import schema
from rally_vmperf.report import run as runs

Kind = t.Literal["overhead", "density"]

#: Name of the scenario that records curves.
DENSITY = "VMPerf.density"
#: The SLAs that judge records of a kind, the main one first.
SLAS: dict[Kind, tuple[str, ...]] = {
    "overhead": ("vmperf_overhead",),
    "density": ("vmperf_degradation", "vmperf_fairness"),
}


class SourceError(Exception):
    """A file holds no records; one line."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Source:
    """The records of one Rally workload.

    :param kind: the question that was asked
    :param records: None for an iteration without a readable one
    :param folder: of the journal, where files lie beside it; None where it
        is not known
    :param criteria: the limits of the task, by the name of the SLA; none
        where they are not known
    """

    kind: Kind
    records: runs.Records
    criteria: dict[str, dict[str, t.Any]]
    folder: pathlib.Path | None = None


def read(path: str, folder: pathlib.Path | None = None) -> list[Source]:
    """Return what a journal, or a file of Rally's results, holds.

    :param folder: where the journals of Rally's results are
    :raises SourceError: for a file that is neither
    """
    if path.endswith(".jsonl"):
        return [_journal(pathlib.Path(path))]
    try:
        content = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror or error}") from error
    except ValueError as error:
        raise SourceError(
            f"{path} is no JSON ({error}); give a journal (*.jsonl) or the "
            "output of: rally task report --json"
        ) from error
    try:
        found = [
            of_workload(workload, folder)
            for task in content["tasks"]
            for subtask in task["subtasks"]
            for workload in subtask["workloads"]
            if any(name.startswith("VMPerf.") for name in workload["scenario"])
        ]
    except (AttributeError, KeyError, TypeError) as error:
        raise SourceError(
            f"{path} holds no results of Rally's ({error!r}); make it with: "
            "rally task report --json"
        ) from error
    if not found:
        raise SourceError(f"{path} holds no workload of rally_vmperf")
    try:
        _refuse_old(content)
    except schema.OldRecordError as error:
        raise SourceError(f"{path}: {error}") from error
    return found


def _refuse_old(content: t.Any) -> None:
    """Refuse results of an earlier version, of which nothing can be read.

    :raises OldRecordError: for the first of its records
    """
    for task in content["tasks"]:
        for subtask in task["subtasks"]:
            for workload in subtask["workloads"]:
                for iteration in workload["data"]:
                    for record in output.carried(iteration):
                        schema.refuse_old(record)


def of_workload(
    workload: dict[str, t.Any], folder: pathlib.Path | None = None
) -> Source:
    """Return what a workload among Rally's results holds."""
    # A file of results names the scenario so, and a loaded one so.
    names = {*workload.get("scenario", ()), workload.get("name")}
    kind: Kind = "density" if DENSITY in names else "overhead"
    return Source(
        kind=kind,
        records=[output.find(iteration) for iteration in workload["data"]],
        criteria={
            name: criterion
            for name, criterion in workload["sla"].items()
            if name in SLAS[kind]
        },
        folder=folder,
    )


def _journal(path: pathlib.Path) -> Source:
    try:
        records = journal.Journal(path.parent, path.stem).read()
    except journal.JournalError as error:
        raise SourceError(str(error)) from error
    asked = {record["question"] for record in records}
    return Source(
        kind="density" if "density" in asked else "overhead",
        records=records,
        criteria={},
        folder=path.parent,
    )
