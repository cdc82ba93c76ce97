"""Whether anybody still needs what a run made."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.guests import ledger

State = t.Literal["running", "killed", "ended", "unknown"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Run:
    """A run by Rally.

    :param task: identifier of its task; of an unknown one what names tell
    :param state: ``running`` by its process, ``killed`` by its lack of one,
        ``ended`` as Rally says, ``unknown`` else
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
        self._runs: dict[str, Run] = {}
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
        run = Run(task=task, state=state)
        key = short(identifier)
        known = self._runs.get(key)
        if known is None or known.state != "running":
            self._runs[key] = run

    def run(self, owner: str) -> Run:
        """Return the run behind the eight characters of a name."""
        return self._runs.get(owner) or Run(task=owner, state="unknown")


def short(identifier: str) -> str:
    """Return the part of an identifier that names hold."""
    return identifier.replace("-", "")[:8]
