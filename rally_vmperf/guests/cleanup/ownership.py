# SPDX-License-Identifier: Apache-2.0
"""Owners of resources, by name, and the state of their runs."""

import collections.abc
import dataclasses
import re
import typing as t

from rally_vmperf.guests.cleanup import ledger

#: Names by Rally: contexts (c_), scenarios (s_), owner, random part.
_RALLY_NAME = re.compile(
    r"(?P<prefix>[cs]_rally_(?P<owner>[0-9a-zA-Z]{8}))_[0-9a-zA-Z]{8}(-\d+)?"
)
#: The prefixes of these names.
PREFIXES = ("c_rally_", "s_rally_")


@dataclasses.dataclass(frozen=True)
class Owner:
    """The owner of all resources with one prefix in their names.

    :param prefix: The prefix, such as ``c_rally_1b2c3d4e``.
    """

    prefix: str

    def owns(self, name: object) -> bool:
        """Return whether a resource of this name belongs to the owner.

        :param name: The name; None or another type in a damaged answer.
        """
        pattern = re.escape(self.prefix) + r"[^0-9a-zA-Z][0-9a-zA-Z]{3,}"
        return bool(re.fullmatch(pattern, _to_text(name)))


def of_names(
    identifier: str, new_name: collections.abc.Callable[[], str]
) -> Owner:
    """Return the owner of the names that Rally generates for a run.

    :param identifier: The UUID, a part of which Rally adds to each name.
    :param new_name: The function that returns such a name.
    :raises ValueError: If the names do not contain a part of the UUID.
    """
    name, digits = new_name(), identifier.replace("-", "")
    for length in range(len(digits), 2, -1):
        position = name.find(digits[:length])
        if position >= 0:
            return Owner(name[: position + length])
    raise ValueError(
        f"name {name!r}: must contain a part of {identifier}; reset "
        "context_resource_name_format to its default"
    )


def _to_text(name: object) -> str:
    """Return a name of an API, or "" for one that is not a text."""
    return name if isinstance(name, str) else ""


def parse_owner(name: object) -> str | None:
    """Return the owner's eight characters in a name of Rally, or None."""
    match = _RALLY_NAME.fullmatch(_to_text(name))
    return match["owner"] if match else None


def is_of_rally(name: object) -> bool:
    """Return whether a name is one of Rally's."""
    return parse_owner(name) is not None


State = t.Literal["ended", "killed", "unknown", "running"]
#: If several runs have the same name, the last of these states protects both.
_STATES = t.get_args(State)


@dataclasses.dataclass(frozen=True, kw_only=True)
class OwningRun:
    """A run that owns resources.

    :param task: The identifier of its task; of an unknown task, the part in
        the names.
    :param state: The state: ``running`` if its process exists, ``killed`` if
        it does not, ``ended`` according to Rally's database, else ``unknown``.
    :param age: The time since its start in seconds; None if it is not known.
    """

    task: str
    state: State
    age: float | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class OwningTask:
    """A task in Rally's database.

    :param ended: A flag that the task is neither running nor scheduled.
    :param workloads: The identifiers of its workloads.
    """

    uuid: str
    ended: bool
    workloads: tuple[str, ...] = ()


class RunIndex:
    """An index of runs by the eight characters of the owner in names.

    :param ledger_entries: The entries of the ledger. They override Rally's
        database, in which a killed task runs forever, unless the process is
        unknown here and the task has ended.
    :param tasks: The tasks in Rally's database.
    """

    def __init__(
        self,
        ledger_entries: collections.abc.Iterable[ledger.Entry],
        tasks: collections.abc.Collection[OwningTask],
    ) -> None:
        self._runs: dict[str, OwningRun] = {}
        ended = {task.uuid for task in tasks if task.ended}
        for ledger_entry in ledger_entries:
            state: State = ledger_entry.process.state()
            if state == "unknown" and ledger_entry.task in ended:
                state = "ended"
            run = OwningRun(
                task=ledger_entry.task, state=state, age=ledger_entry.age
            )
            self._add(ledger_entry.owner, run)
            self._add(ledger_entry.task, run)
        for task in tasks:
            task_run = self._runs.get(shorten_owner(task.uuid)) or OwningRun(
                task=task.uuid, state="ended" if task.ended else "unknown"
            )
            for identifier in (task.uuid, *task.workloads):
                self._add(identifier, task_run)

    def _add(self, identifier: str, run: OwningRun) -> None:
        """Add a run to the index, unless that protects less."""
        key = shorten_owner(identifier)
        indexed = self._runs.setdefault(key, run)
        if _STATES.index(indexed.state) < _STATES.index(run.state):
            self._runs[key] = run

    def run(self, owner: str) -> OwningRun:
        """Return the run behind eight characters of a name, or its stub."""
        return self._runs.get(owner) or OwningRun(task=owner, state="unknown")


def shorten_owner(identifier: str) -> str:
    """Return the part of an identifier that names contain."""
    return identifier.replace("-", "")[:8]
