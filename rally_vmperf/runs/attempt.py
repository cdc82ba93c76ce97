"""One condition of one repetition, while it is measured."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.execution import measured
from rally_vmperf.execution import session as sessions
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.records import build
from rally_vmperf.runs import actions
from rally_vmperf.runs import conditions

Progress = t.Callable[[str], None]

#: Characters of a reason that a record keeps.
_LONGEST = 500


@dataclasses.dataclass(frozen=True, kw_only=True)
class Ready:
    """What a run measures with, once its machines are ready.

    :param actions: around each condition, in this order
    """

    session: sessions.Session
    setting: build.Setting
    actions: tuple[actions.Action, ...]


class Attempt:
    """Measures a condition; what was measured is kept in any case.

    :param lost: names of machines that answer no more; those that are lost
        now are added
    """

    def __init__(
        self,
        ready: Ready,
        condition: conditions.Condition,
        lost: set[str],
        *,
        keep_raw: measured.KeepRaw,
        progress: Progress,
        warn: Progress,
    ) -> None:
        #: Guests that were started anew.
        self.started: list[str] = []
        self.result = measured.Measured(keep_raw=self._keep_raw)
        self._ready = ready
        self._condition = condition
        self._lost = lost
        self._keep = keep_raw
        self._progress = progress
        self._warn = warn
        self._state: repetition.State = "complete"
        self._findings: list[finding.Finding] = []
        self._participants = conditions.Participants(
            names=tuple(one.name for one in ready.session.places)
        )
        if condition.choose is not None:
            self._participants = condition.choose(frozenset(lost))

    def measure(self) -> None:
        """Measure, unless a machine is lacking or an action fails."""
        chosen = self._participants
        if self._condition.axes:
            names = ", ".join(chosen.names)
            self._progress(f"Condition {self._condition}: {names}")
        try:
            if chosen.lacking:
                self._miss(chosen.lacking, chosen.reason)
            else:
                self._measure()
        except KeyboardInterrupt:
            self._state = "interrupted"
            raise
        except BaseException:
            self._state = "incomplete"
            raise

    def taken(self, position: int) -> build.Taken:
        """Return what the condition left.

        :param position: in the order in which conditions are measured
        """
        state = self._state
        if state == "complete" and self.result.missing:
            state = "incomplete"
        return build.Taken(
            axes=self._condition.axes,
            position=position,
            state=state,
            machines=self._participants.names,
            observations=tuple(self.result.observations),
            missing=tuple(self.result.missing),
            findings=tuple(self._findings),
            starts=tuple(self.result.starts),
            copies=self._condition.copies,
            commands=tuple(
                used
                for one in self.result.runs
                if (used := one.usage()) is not None
            ),
        )

    def runs(self) -> list[dict[str, t.Any]]:
        """Return the commands that ran, by the clocks of their machines."""
        axes = dict(self._condition.axes)
        return [
            {"axes": axes, **dataclasses.asdict(one)}
            for one in self.result.runs
        ]

    def _measure(self) -> None:
        current = conditions.Current(
            condition=self._condition,
            machines=self._participants.names,
            lost=frozenset(self._lost),
        )
        begun: list[actions.Action] = []
        try:
            for one in self._ready.actions:
                begun.append(one)
                if not self._prepared(one, current):
                    return
            self._run_workloads(current)
        finally:
            for one in reversed(begun):
                self._note(one, one.after(current))

    def _prepared(
        self, action: actions.Action, current: conditions.Current
    ) -> bool:
        """Act before the workloads run; tell whether they may.

        Nobody measures otherwise: it would be another condition.
        """
        effect = action.before(current)
        self._count(effect)
        if not effect.trouble:
            return True
        names = self._participants.names
        lacking = [name for name in names if name in effect.trouble]
        self._miss(lacking or names, "; ".join(effect.trouble.values()))
        return False

    def _run_workloads(self, current: conditions.Current) -> None:
        names = self._participants.names
        middles = [
            (one, actions.Middle(one, current)) for one in self._ready.actions
        ]

        def on_measured() -> None:
            for _, middle in middles:
                middle.workloads_ended()

        try:
            self._findings += self._ready.session.repeat(
                self.result,
                names if self._condition.choose else None,
                on_measured=on_measured,
            )
            for action, middle in middles:
                self._note(action, middle.effect())
        finally:
            for _, middle in middles:
                middle.cancel()
        if self._condition.choose is not None:
            self._lose(self._ready.session.silent(names))

    def _note(self, action: actions.Action, effect: actions.Effect) -> None:
        """Note what an action did once the workloads were under way."""
        self._count(effect)
        for machine, reason in effect.trouble.items():
            self._warn(f"{action.name}: {reason}")
            self.result.miss(action.name, machine, reason[:_LONGEST])

    def _count(self, effect: actions.Effect) -> None:
        self._findings += effect.findings
        self._lost |= effect.lost
        self.started += effect.started

    def _miss(
        self, lacking: collections.abc.Iterable[str], reason: str
    ) -> None:
        self._warn(f"The condition cannot be measured: {reason}")
        for metric in self._ready.setting.expected:
            for name in lacking:
                self.result.miss(metric, name, reason[:_LONGEST])

    def _lose(self, silent: frozenset[str]) -> None:
        """Have later conditions go on without machines."""
        if silent - self._lost:
            self._warn(
                f"{', '.join(sorted(silent))} answered no more; what follows "
                "goes on without"
            )
        self._lost |= silent

    def _keep_raw(self, output: dict[str, t.Any]) -> None:
        self._keep({"axes": dict(self._condition.axes), **output})
