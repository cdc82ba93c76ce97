# SPDX-License-Identifier: Apache-2.0
"""Sources of records: journals and Rally's results."""

import collections.abc
import dataclasses
import pathlib
import typing as t

from rally_vmperf import documents
from rally_vmperf import errors
from rally_vmperf import formats
from rally_vmperf.records import journal
from rally_vmperf.records import model

#: The records of a run; None for an iteration without a valid one.
Records = collections.abc.Sequence[model.Record | None]

#: The maximum size in bytes of Rally's results with several runs.
_LARGEST = 512 << 20


class SourceError(errors.VMPerfError):
    """A file without records; the message is one line."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class RallySlaResult:
    """The result of another SLA in Rally's database."""

    criterion: str
    detail: str
    success: bool

    def sentence(self) -> str:
        """Return the result of Rally's SLA as one line of text."""
        word = "passed" if self.success else "failed"
        return f"{self.criterion} of Rally: {word}: {self.detail}"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Source:
    """The records of one Rally workload.

    :param question: The name of the question; empty if no record is readable.
    :param scenario: The name of the Rally scenario; empty for a journal.
    :param records: The records of the iterations; None if not readable.
    :param folder: The directory of the journal and its files; None if it is
        not known.
    :param criteria: The limits of the task by the name of the SLA; empty if
        they are not known.
    :param sla_results: The results of all SLAs in Rally's database.
    :param contexts: The options of our contexts by name, such as those of
        guests; empty if they are not known.
    :param damaged: The lines of the journal that are not readable.
    """

    question: str
    scenario: str
    records: Records
    criteria: collections.abc.Mapping[str, documents.Arguments]
    folder: pathlib.Path | None = None
    sla_results: tuple[RallySlaResult, ...] = ()
    contexts: collections.abc.Mapping[str, t.Any] = dataclasses.field(
        default_factory=dict
    )
    damaged: tuple[journal.DamagedLine, ...] = ()

    @property
    def damage_reasons(self) -> list[str]:
        """The reasons why lines of the journal are not readable, a list."""
        return [line.describe() for line in self.damaged]

    @property
    def readable(self) -> list[model.Record]:
        """The records that are readable, a list."""
        return [record for record in self.records if record is not None]


def read(
    path: str,
    scenarios: collections.abc.Container[str],
    folder: pathlib.Path | None = None,
) -> list[Source]:
    """Return the runs in a journal, record or Rally results, as a list.

    :param scenarios: The scenarios of the workloads to return.
    :param folder: The directory of the journals of Rally's results and of
        records that are not in a journal.
    :raises SourceError: If the file is not a valid source.
    :raises JournalError: If it is a damaged journal.
    """
    if path.endswith(".jsonl"):
        file = pathlib.Path(path)
        return [read_journal(journal.Journal(file.parent, file.stem))]
    try:
        content = documents.read_json(pathlib.Path(path), _LARGEST)
    except documents.DocumentError as error:
        raise SourceError(
            f"{error}; use a journal (*.jsonl) or the output of: rally task "
            "report --json"
        ) from error
    if isinstance(content, dict) and "conditions" in content:
        try:
            record = model.decode(content)
        except formats.FormatError as error:
            raise SourceError(f"{path}: {error}") from error
        return [_create_source([record], folder)]
    return of_results(content, path, scenarios, folder)


def of_results(
    content: t.Any,
    origin: str,
    scenarios: collections.abc.Container[str],
    folder: pathlib.Path | None = None,
) -> list[Source]:
    """Return the runs in Rally's results, one source per workload.

    :param origin: The name of the file, for messages.
    :param scenarios: The scenarios of the workloads to return.
    :param folder: The directory of the journals.
    :raises SourceError: If the document has no results of these scenarios.
    """
    try:
        workloads = [
            workload
            for task in content["tasks"]
            for subtask in task["subtasks"]
            for workload in subtask["workloads"]
        ]
        sources = [
            of_workload(workload, scenario, folder)
            for workload in workloads
            for scenario in workload["scenario"]
            if scenario in scenarios
        ]
    except (AttributeError, KeyError, TypeError) as error:
        raise SourceError(
            f"{origin}: is not a file of Rally's results ({error!r}); create "
            "it with: rally task report --json"
        ) from error
    if not sources:
        raise SourceError(f"{origin}: has no workload of rally_vmperf")
    try:
        # Results of other versions are rejected.
        for workload in workloads:
            for iteration in workload["data"]:
                for document in model.list_output_documents(iteration):
                    model.FORMAT.check_version(document)
    except formats.VersionError as error:
        raise SourceError(f"{origin}: {error}") from error
    return sources


def of_workload(
    workload: dict[str, t.Any],
    scenario: str,
    folder: pathlib.Path | None = None,
) -> Source:
    """Return the run of a workload in Rally's results, as a source.

    Rally stores the iterations when a workload has ended. The journal
    has those of a killed process, and of a run that goes on.
    """
    records: list[model.Record | None] = [
        model.find_record(iteration) for iteration in workload["data"]
    ]
    damaged: list[journal.DamagedLine] = []
    if not records and folder is not None:
        # Results of others can have a path in place of an identifier.
        name = pathlib.PurePath(str(workload.get("uuid"))).name
        run_journal = journal.Journal(folder, name)
        if run_journal.path.exists():
            readable, damaged = run_journal.read_readable()
            records = _add_damaged(readable, damaged)
    return Source(
        question=_find_question(records),
        scenario=scenario,
        records=records,
        criteria=workload["sla"],
        folder=folder,
        sla_results=tuple(
            RallySlaResult(
                criterion=str(result["criterion"]),
                detail=str(result["detail"]),
                success=bool(result["success"]),
            )
            for result in workload.get("sla_results", {}).get("sla", ())
        ),
        contexts={
            name: options
            for name, options in workload.get("contexts", {}).items()
            if name.startswith("vmperf_")
        },
        damaged=tuple(damaged),
    )


def read_journal(
    run_journal: journal.Journal,
    unwritten: collections.abc.Collection[model.Record] = (),
) -> Source:
    """Return the source with the records of a journal; reject an empty one.

    :param unwritten: The records of the run that the journal lacks.
    :raises SourceError: If there is no record.
    :raises JournalError: If the journal has damaged lines only.
    """
    damaged: list[journal.DamagedLine] = []
    # As the journal would contain them, such as with lists for tuples.
    records = [model.shorten(record) for record in unwritten]
    if run_journal.path.exists() or not unwritten:
        readable, damaged = run_journal.read_readable()
        records += readable
    if not records:
        reasons = "".join(f"; {line.describe()}" for line in damaged)
        raise SourceError(
            f"journal {run_journal.path}: has no record yet; each repetition "
            f"adds one{reasons}"
        )
    records.sort(key=lambda record: record.repetition.number)
    return _create_source(records, run_journal.folder, damaged)


def _create_source(
    readable: collections.abc.Sequence[model.Record],
    folder: pathlib.Path | None,
    damaged: collections.abc.Sequence[journal.DamagedLine] = (),
) -> Source:
    """Return the source that consists of these records.

    :param damaged: The lines of the journal that are not readable.
    """
    records = _add_damaged(readable, damaged)
    criteria: collections.abc.Mapping[str, documents.Arguments] = {}
    for record in filter(None, records):
        criteria = record.criteria
    return Source(
        question=_find_question(records),
        scenario="",
        records=records,
        criteria=criteria,
        folder=folder,
        damaged=tuple(damaged),
    )


def _add_damaged(
    readable: collections.abc.Sequence[model.Record],
    damaged: collections.abc.Sequence[journal.DamagedLine],
) -> list[model.Record | None]:
    """Return the records of a journal, with None for each damaged line."""
    return [*readable, *[None] * len(damaged)]


def _find_question(records: Records) -> str:
    """Return the question of the first valid record, or ""."""
    questions = (record.repetition.question for record in records if record)
    return next(questions, "")
