"""What happens to machines around the measuring of a condition."""

import collections.abc
import concurrent.futures
import dataclasses
import threading
import typing as t

from rally_vmperf.guests import guest as guests_
from rally_vmperf.measurement import finding
from rally_vmperf.runs import conditions


@dataclasses.dataclass(frozen=True, kw_only=True)
class Effect:
    """What came of an action.

    :param trouble: machine -> why it does not do what it is to do; before a
        condition it keeps all from being measured, later it makes the
        condition incomplete
    :param lost: those of them that will not do it again
    :param started: guests that were started anew, in a QEMU of their own
    """

    trouble: collections.abc.Mapping[str, str] = dataclasses.field(
        default_factory=dict
    )
    lost: frozenset[str] = frozenset()
    started: frozenset[str] = frozenset()
    findings: tuple[finding.Finding, ...] = ()


class Action:
    """Does nothing; each kind of action overrides the parts that it has.

    :cvar name: what messages call it
    :cvar moment: seconds after the condition began at which ``during`` is
        called; None once all workloads have run
    """

    name: str = ""
    moment: float | None = None

    def before(self, current: conditions.Current) -> Effect:
        """Act before the workloads run."""
        return Effect()

    def during(self, current: conditions.Current) -> Effect:
        """Act in a thread of its own, while others go on."""
        return Effect()

    def after(self, current: conditions.Current) -> Effect:
        """Act when all is measured, also where it failed."""
        return Effect()


class Watch(Action):
    """Asks Nova whether the guests are still where they were.

    :param connection: to the cloud, with the guests' own credential
    """

    name = "watch"

    def __init__(
        self,
        connection: t.Any,
        guests: collections.abc.Sequence[guests_.Guest],
    ) -> None:
        self._connection = connection
        self._guests = guests

    def during(self, current: conditions.Current) -> Effect:
        """Ask, while the machines are looked at once more."""
        from rally_vmperf.guests import placement

        asked = [g for g in self._guests if g.name in current.machines]
        return Effect(
            findings=tuple(placement.changes(self._connection, asked))
        )


class Middle:
    """The middle part of an action, in a thread of its own.

    Whoever is interrupted does not wait for its end.
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
        """Begin what was to wait for that; what is later is too late."""
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
        """Wait for what came of it; raise what it raised."""
        self.workloads_ended()
        return self._effect.result()

    def cancel(self) -> None:
        """Do not begin any more."""
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
