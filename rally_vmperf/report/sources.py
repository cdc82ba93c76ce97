"""Where records come from: our journals and Rally's results."""

import collections.abc
import dataclasses
import json
import pathlib
import typing as t

from rally_vmperf.records import journal
from rally_vmperf.records import output
from rally_vmperf.records import schema
from rally_vmperf.report import run as runs


class SourceError(Exception):
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
    """

    question: str
    scenario: str
    records: runs.Records
    criteria: dict[str, dict[str, t.Any]]
    folder: pathlib.Path | None = None


def read(
    path: str,
    scenarios: collections.abc.Container[str],
    folder: pathlib.Path | None = None,
) -> list[Source]:
    """Return what a journal, or a file of Rally's results, holds.

    :param scenarios: whose workloads are of interest
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
            of_workload(workload, scenario, folder)
            for workload in _workloads(content)
            for scenario in workload["scenario"]
            if scenario in scenarios
        ]
    except (AttributeError, KeyError, TypeError) as error:
        raise SourceError(
            f"{path} holds no results of Rally's ({error!r}); make it with: "
            "rally task report --json"
        ) from error
    if not found:
        raise SourceError(f"{path} holds no workload of rally_vmperf")
    try:
        # Of results of an earlier version nothing can be read.
        for workload in _workloads(content):
            for iteration in workload["data"]:
                for record in output.carried(iteration):
                    schema.refuse_old(record)
    except schema.OldRecordError as error:
        raise SourceError(f"{path}: {error}") from error
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
    """Return what a workload among Rally's results holds."""
    records = [output.find(iteration) for iteration in workload["data"]]
    return Source(
        question=_question(records),
        scenario=scenario,
        records=records,
        criteria=workload["sla"],
        folder=folder,
    )


def _journal(path: pathlib.Path) -> Source:
    try:
        records = journal.Journal(path.parent, path.stem).read()
    except journal.JournalError as error:
        raise SourceError(str(error)) from error
    return Source(
        question=_question(records),
        scenario="",
        records=records,
        criteria={},
        folder=path.parent,
    )


def _question(records: runs.Records) -> str:
    named = (record["question"] for record in records if record is not None)
    return next(named, "")
