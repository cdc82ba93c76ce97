"""Actions on machines before, during and after a condition."""

import asyncio
import collections.abc
import concurrent.futures
import dataclasses
import threading
import time
import typing as t

from rally_vmperf.execution import neighbours
from rally_vmperf.execution import session as sessions
from rally_vmperf.guests import guest as guests_
from rally_vmperf.machines import background_load
from rally_vmperf.machines import base
from rally_vmperf.measurement import finding
from rally_vmperf.runs import conditions

#: Seconds for which a silent guest is waited for before Nova is asked again.
_PATIENCE = 30.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class Effect:
    """The result of an action.

    :param trouble: machine -> why the action failed there; before a condition
        nothing is measured then, later the condition is incomplete
    :param lost: those of them that take no further part
    :param started: guests that were started again, in a new QEMU process
    """

    trouble: collections.abc.Mapping[str, str] = dataclasses.field(
        default_factory=dict
    )
    lost: frozenset[str] = frozenset()
    started: frozenset[str] = frozenset()
    findings: tuple[finding.Finding, ...] = ()


class Action:
    """An action that does nothing; each kind overrides what it needs.

    :cvar name: what messages call it
    :cvar moment: seconds after the condition began at which ``during`` is
        called; None once all workloads have run
    :cvar between_workloads: whether ``between`` is to be called, for which
        workloads are run one by one
    """

    name: str = ""
    moment: float | None = None
    between_workloads: bool = False

    def before(self, current: conditions.Current) -> Effect:
        """Act before the workloads run."""
        return Effect()

    def between(self, current: conditions.Current) -> Effect:
        """Act after a workload, before the next one runs."""
        return Effect()

    def during(self, current: conditions.Current) -> Effect:
        """Act in a thread of its own, while others go on."""
        return Effect()

    def recover(self, current: conditions.Current) -> Effect:
        """Act when machines were looked at once more, before some are lost."""
        return Effect()

    def after(self, current: conditions.Current) -> Effect:
        """Act when the workloads have ended or failed."""
        return Effect()


@dataclasses.dataclass
class Watch(Action):
    """Asks Nova whether the guests are still on their hosts, and active.

    :param connection: to the cloud, with the guests' own credential
    :param timeout: seconds within which a guest that boots again has to answer
    """

    connection: t.Any
    guests: collections.abc.Sequence[guests_.Guest]
    session: sessions.Session
    timeout: float
    progress: t.Callable[[str], None]
    #: Server -> when Nova last changed it.
    updated: dict[str, str] = dataclasses.field(default_factory=dict)
    name = "watch"

    def during(self, current: conditions.Current) -> Effect:
        """Ask, while the health of the machines is read once more."""
        from rally_vmperf.guests.booting import placement

        asked = [g for g in self.guests if g.name in current.working]
        found = placement.changes(self.connection, asked, self.updated)
        return Effect(findings=tuple(found))

    def recover(self, current: conditions.Current) -> Effect:
        """Wait for guests that boot again: the next repetition has them.

        Nova says of a guest that died meanwhile that it runs, for a while.
        """
        from rally_vmperf.execution.stations import arrival
        from rally_vmperf.guests.booting import placement

        silent = self.session.silent(current.machines) - set(current.lost)
        gone = [one for one in self.guests if one.name in silent]
        deadline = time.monotonic() + self.timeout
        while gone and (left := deadline - (begin := time.monotonic())) > 0:
            gone = [x for x in gone if placement.runs(self.connection, x)]
            patience = min(left, _PATIENCE)
            arrivals = self.session.runner.run(
                arrival.wait_all(
                    gone,
                    self.session.stations,
                    patience,
                    self.progress,
                )
            )
            gone = [
                one
                for one, arrived in zip(gone, arrivals, strict=True)
                if arrived.trouble or arrived.busy
            ]
            if time.monotonic() - begin < patience:
                break  # it answers, and is not what it was
        if not silent:
            return Effect()
        return Effect(findings=tuple(self.session.look_again(silent)))


@dataclasses.dataclass
class Neighbours(Action):
    """Has neighbours at work throughout the conditions that have some."""

    load: neighbours.Load
    runner: asyncio.Runner
    name = "neighbours"

    def before(self, current: conditions.Current) -> Effect:
        """Start their jobs, and give them time to get to work."""
        if not current.condition.neighbours:
            return Effect()
        return Effect(trouble=self.runner.run(self.load.begin()))

    def after(self, current: conditions.Current) -> Effect:
        """End their jobs; one that had ended before is trouble."""
        return Effect(trouble=self.runner.run(self.load.end()))


class Alone(Action):
    """Checks whether other processes use bare metal: before, and each time.

    A machine that cannot be asked is taken to be idle.

    :ivar findings: of the time before anything of ours ran
    """

    name = "watch over bare metal"

    def __init__(
        self,
        machine: base.Machine,
        runner: asyncio.Runner,
        warn: t.Callable[[str], None],
    ) -> None:
        self.findings: tuple[finding.Finding, ...] = ()
        self._machine = machine
        self._runner = runner
        self._warn = warn
        self._before: background_load.Look | None = None

    def watch_quiet(self) -> None:
        """Watch the machine while nothing of ours runs."""
        seen = self._look(background_load.QUIET)
        if seen is not None:
            self.findings = self._found(background_load.while_quiet(seen))

    def before(self, current: conditions.Current) -> Effect:
        """Read the CPU times of all processes."""
        self._before = self._look()
        return Effect()

    def after(self, current: conditions.Current) -> Effect:
        """Read them again; the CPU time of others is a finding."""
        after = self._look()
        if self._before is None or after is None:
            return Effect()
        found = background_load.between(self._before, after)
        return Effect(findings=self._found(found))

    def _look(self, quiet: int = 0) -> background_load.Look | None:
        try:
            return self._runner.run(background_load.look(self._machine, quiet))
        except base.MachineError as error:
            self._warn(
                f"nobody knows whether other processes use bare metal: {error}"
            )
            return None

    def _found(self, found: list[str]) -> tuple[finding.Finding, ...]:
        if not found:
            return ()
        seen = "; ".join(found)
        self._warn(f"other processes use bare metal: {seen}")
        one = finding.Finding(
            kind="bare_metal_busy", subject="baseline", detail=seen
        )
        return (one,)


class Middle:
    """The middle part of an action, in a thread of its own.

    An interrupted run does not wait for its end.
    """

    def __init__(self, action: Action, current: conditions.Current) -> None:
        self._action = action
        self._current = current
        self._lock = threading.Lock()
        self._begun = False
        self._effect = concurrent.futures.Future[Effect]()
        self._timer: threading.Timer | None = None
        if action.moment is not None:
            self._timer = threading.Timer(action.moment, self._begin)
            self._timer.daemon = True
            self._timer.start()

    def workloads_ended(self) -> None:
        """Start actions that wait for the workloads' end; skip later ones."""
        if self._timer is None:
            self._begin()
            return
        self._timer.cancel()
        with self._lock:
            if self._begun:
                return
            self._begun = True
        late = (
            f"{self._action.name} was to happen {self._action.moment:g} s "
            "after the condition began, and the workloads had ended by then; "
            "give an earlier moment, or workloads that last longer"
        )
        self._effect.set_result(Effect(trouble={self._action.name: late}))

    def effect(self) -> Effect:
        """Wait for the action; return its result or raise its error."""
        self.workloads_ended()
        return self._effect.result()

    def cancel(self) -> None:
        """Keep the action from starting."""
        if self._timer is not None:
            self._timer.cancel()

    def _begin(self) -> None:
        with self._lock:
            if self._begun:
                return
            self._begun = True
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        try:
            self._effect.set_result(self._action.during(self._current))
        except BaseException as error:
            self._effect.set_exception(error)
