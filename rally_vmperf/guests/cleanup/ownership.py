"""Owners of resources, by name, and whether their runs have ended."""

import collections.abc
import dataclasses
import re
import typing as t

from rally_vmperf.guests.cleanup import ledger

#: Names that Rally gives: contexts (c_), scenarios (s_), owner, random part.
_RALLY_NAME = re.compile(
    r"(?P<prefix>[cs]_rally_(?P<owner>[0-9a-zA-Z]{8}))_[0-9a-zA-Z]{8}(-\d+)?"
)
#: How they begin.
PREFIXES = ("c_rally_", "s_rally_")


@dataclasses.dataclass(frozen=True)
class Owner:
    """The owner of all resources whose names have this prefix.

    :param prefix: such as ``c_rally_1b2c3d4e``
    """

    prefix: str

    def owns(self, name: str | None) -> bool:
        """Return whether a resource of this name belongs to the owner."""
        pattern = re.escape(self.prefix) + r"[^0-9a-zA-Z][0-9a-zA-Z]{3,}"
        return bool(re.fullmatch(pattern, name or ""))


def of_names(
    identifier: str, new_name: collections.abc.Callable[[], str]
) -> Owner:
    """Return the owner behind names that Rally generates.

    :param identifier: the UUID that Rally puts a part of into each name
    :param new_name: gives such a name
    """
    name, digits = new_name(), identifier.replace("-", "")
    for length in range(len(digits), 2, -1):
        position = name.find(digits[:length])
        if position >= 0:
            return Owner(name[: position + length])
    raise ValueError(
        f"name {name!r} holds no part of {identifier}; set "
        "context_resource_name_format back to its default"
    )


def rally_owner(name: str | None) -> str | None:
    """Return the eight characters of the owner in one of Rally's names."""
    match = _RALLY_NAME.fullmatch(name or "")
    return match["owner"] if match else None


State = t.Literal["running", "killed", "ended", "unknown"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class OwningRun:
    """A run by Rally.

    :param task: identifier of its task; of an unknown one, the part in names
    :param state: ``running`` by its process, ``killed`` by its lack of one,
        ``ended`` by Rally's database, else ``unknown``
    """

    task: str
    state: State


@dataclasses.dataclass(frozen=True, kw_only=True)
class Task:
    """What Rally's database says of a task.

    :param ended: it is neither running nor about to
    :param workloads: their identifiers
    """

    uuid: str
    ended: bool
    workloads: tuple[str, ...] = ()


class Register:
    """Runs by the eight characters that names hold.

    :param entries: of the ledger; they know better than Rally, for which a
        killed task runs forever
    :param tasks: of Rally's database
    """

    def __init__(
        self,
        entries: collections.abc.Iterable[ledger.Entry],
        tasks: collections.abc.Iterable[Task],
    ) -> None:
        states: dict[str, State] = {}
        self._runs: dict[str, OwningRun] = {}
        for entry in entries:
            state: State = entry.process.state()
            if states.get(entry.task) != "running":
                states[entry.task] = state
            self._add(entry.owner, entry.task, state)
            self._add(entry.task, entry.task, states[entry.task])
        for task in tasks:
            known: State = "ended" if task.ended else "unknown"
            told = states.get(task.uuid, known)
            for identifier in (task.uuid, *task.workloads):
                self._add(identifier, task.uuid, told)

    def _add(self, identifier: str, task: str, state: State) -> None:
        run = OwningRun(task=task, state=state)
        key = short(identifier)
        known = self._runs.get(key)
        if known is None or known.state != "running":
            self._runs[key] = run

    def run(self, owner: str) -> OwningRun:
        """Return the run behind the eight characters of a name."""
        return self._runs.get(owner) or OwningRun(task=owner, state="unknown")


def short(identifier: str) -> str:
    """Return the part of an identifier that names hold."""
    return identifier.replace("-", "")[:8]
