# SPDX-License-Identifier: Apache-2.0
"""The runs in a directory of journals, without their samples.

The first record of a journal has all that identifies a run, so that a
directory with thousands of journals is listed within seconds.
"""

import collections.abc
import dataclasses
import json
import pathlib
import re
import typing as t

from rally_vmperf import documents
from rally_vmperf import errors

_RECENT = re.compile(r"last(?::([1-9][0-9]{0,5}))?(?!\n)$")
#: The largest record in bytes that is read.
_MAX_LINE_BYTES = 16 << 20


@dataclasses.dataclass(frozen=True, kw_only=True)
class IndexedRun:
    """A run in a directory of journals.

    :param run: The identifier of the run, the name of its journal.
    :param task: The identifier of the task.
    :param question: The name of its question.
    :param started_at: The start of its first repetition in UTC, ISO 8601.
    :param hosts: The hosts of its guests, as far as the cloud reports them.
    """

    path: pathlib.Path
    run: str
    task: str
    question: str
    started_at: str
    hosts: tuple[str, ...]


def list_runs(
    folder: pathlib.Path, questions: collections.abc.Container[str]
) -> list[IndexedRun]:
    """Return the runs in a directory, the newest task first.

    The runs of a task follow each other in their order. Files that are not
    readable are omitted; ``judge`` reports what is wrong with one.

    :param questions: The names of the questions whose runs are listed, which
        excludes recordings of bare metal.
    """
    runs = [
        run
        for path in folder.glob("*.jsonl")
        if (run := _read_first(path)) is not None and run.question in questions
    ]
    starts: dict[str, str] = {}
    for run in runs:
        starts[run.task] = max(starts.get(run.task, ""), run.started_at)
    runs.sort(key=lambda run: run.started_at)
    runs.sort(key=lambda run: (starts[run.task], run.task), reverse=True)
    return runs


def group_by_task(
    runs: collections.abc.Iterable[IndexedRun],
) -> list[list[IndexedRun]]:
    """Return the runs of each task as a list of lists in their order."""
    tasks: dict[str, list[IndexedRun]] = {}
    for run in runs:
        tasks.setdefault(run.task, []).append(run)
    return list(tasks.values())


def find_runs(
    name: str,
    folder: pathlib.Path,
    questions: collections.abc.Container[str],
) -> list[IndexedRun]:
    """Return the runs that a name stands for.

    :param name: ``last`` for the newest task, ``last:2`` for the one before
        it and so on, the identifier of a task or of a run, or a host, for the
        runs of the newest task that has a guest on it.
    :returns: The runs; an empty list if there are none of this name.
    :raises VMPerfError: If there are fewer tasks.
    """
    tasks = group_by_task(list_runs(folder, questions))
    match = _RECENT.match(name)
    if match is None and name.startswith("last:"):
        raise errors.VMPerfError(
            f"{name}: must be last, or last:N with an integer N from 1 to "
            "999999"
        )
    if match is None:
        named = (
            [run for run in runs if name in (run.task, run.run, *run.hosts)]
            for runs in tasks
        )
        return next(filter(None, named), [])
    number = int(match[1] or 1)
    if number > len(tasks):
        raise errors.VMPerfError(
            f"{name}: the directory {folder} has runs of {len(tasks)} tasks; "
            "to list them: rally-vmperf runs, or select another directory "
            "with --journal-dir"
        )
    return tasks[number - 1]


def _read_first(path: pathlib.Path) -> IndexedRun | None:
    """Return the run in a journal from its first record, or None."""
    try:
        with documents.open_file(path) as stream:
            document: t.Any = json.loads(stream.readline(_MAX_LINE_BYTES))
        if not documents.is_time(document["started_at"]):
            return None
        return IndexedRun(
            path=path,
            run=str(document.get("run") or path.stem),
            task=str(document["task"]),
            question=str(document["question"]),
            started_at=str(document["started_at"]),
            hosts=tuple(
                dict.fromkeys(
                    str(machine["host"])
                    for machine in document["machines"]
                    if machine["role"] == "guest" and machine.get("host")
                )
            ),
        )
    except (
        AttributeError,
        OSError,
        LookupError,
        RecursionError,
        TypeError,
        ValueError,
    ):
        return None
