"""Sources of records: journals and Rally's results."""

import collections.abc
import dataclasses
import pathlib
import typing as t

from rally_vmperf import documents
from rally_vmperf import errors
from rally_vmperf.records import journal
from rally_vmperf.records import output
from rally_vmperf.records import schema
from rally_vmperf.report import run as runs

#: Bytes of Rally's results, which hold the records of several runs.
_LARGEST = 512 << 20


class SourceError(errors.VMPerfError):
    """A file holds no records; one line."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Source:
    """The records of one Rally workload.

    :param question: that was asked, as records call it; empty where none is
        readable
    :param scenario: of Rally, that asked it; empty for a journal
    :param records: None for an iteration without a readable one
    :param folder: of the journal, where files lie beside it; None where it
        is not known
    :param criteria: the limits of the task, by the name of the SLA; none
        where they are not known
    :param others: the verdicts of all SLAs, as Rally has stored them
    """

    question: str
    scenario: str
    records: runs.Records
    criteria: dict[str, dict[str, t.Any]]
    folder: pathlib.Path | None = None
    others: tuple[runs.Other, ...] = ()


def read(
    path: str,
    scenarios: collections.abc.Container[str],
    folder: pathlib.Path | None = None,
) -> list[Source]:
    """Return the sources in a journal, a record, or a file of Rally's results.

    :param scenarios: whose workloads are of interest
    :param folder: The directory of the journals of Rally's results and of
        records that are not in a journal.
    :raises SourceError: for a file that is neither
    """
    if path.endswith(".jsonl"):
        return [_journal(pathlib.Path(path))]
    try:
        content = documents.read_json(pathlib.Path(path), _LARGEST)
    except documents.DocumentError as error:
        raise SourceError(
            f"{error}; give a journal (*.jsonl) or the output of: rally task "
            "report --json"
        ) from error
    if isinstance(content, dict) and "conditions" in content:
        return [_of_records([content], folder)]
    return of_results(content, path, scenarios, folder)


def of_results(
    content: t.Any,
    origin: str,
    scenarios: collections.abc.Container[str],
    folder: pathlib.Path | None = None,
) -> list[Source]:
    """Return the sources in Rally's results.

    :param origin: of the results, for messages
    :param scenarios: whose workloads are of interest
    :param folder: where the journals are
    :raises SourceError: for other documents, and other plugins' results
    """
    try:
        found = [
            of_workload(workload, scenario, folder)
            for workload in _workloads(content)
            for scenario in workload["scenario"]
            if scenario in scenarios
        ]
    except (AttributeError, KeyError, TypeError) as error:
        raise SourceError(
            f"{origin} has no results of Rally ({error!r}); make it with: "
            "rally task report --json"
        ) from error
    if not found:
        raise SourceError(f"{origin} has no workload of rally_vmperf")
    try:
        # Results of an earlier version cannot be read.
        for workload in _workloads(content):
            for iteration in workload["data"]:
                for record in output.carried(iteration):
                    schema.refuse_old(record)
    except schema.OldRecordError as error:
        raise SourceError(f"{origin}: {error}") from error
    return found


def _workloads(content: t.Any) -> list[t.Any]:
    return [
        workload
        for task in content["tasks"]
        for subtask in task["subtasks"]
        for workload in subtask["workloads"]
    ]


def of_workload(
    workload: dict[str, t.Any],
    scenario: str,
    folder: pathlib.Path | None = None,
) -> Source:
    """Return the source of a workload in Rally's results."""
    records = [output.find(iteration) for iteration in workload["data"]]
    return Source(
        question=_question(records),
        scenario=scenario,
        records=records,
        criteria=workload["sla"],
        folder=folder,
        others=tuple(
            runs.Other(
                criterion=str(one["criterion"]),
                detail=str(one["detail"]),
                success=bool(one["success"]),
            )
            for one in workload.get("sla_results", {}).get("sla", ())
        ),
    )


def _journal(path: pathlib.Path) -> Source:
    try:
        records = journal.Journal(path.parent, path.stem).read()
    except journal.JournalError as error:
        raise SourceError(str(error)) from error
    if not records:
        raise SourceError(
            f"journal {path} has no record yet; each repetition adds one"
        )
    return _of_records(records, path.parent)


def _of_records(records: runs.Records, folder: pathlib.Path | None) -> Source:
    return Source(
        question=_question(records),
        scenario="",
        records=records,
        criteria={},
        folder=folder,
    )


def _question(records: runs.Records) -> str:
    named = (one.get("question", "") for one in records if one is not None)
    return next(named, "")
