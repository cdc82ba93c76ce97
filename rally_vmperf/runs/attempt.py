"""One condition of one repetition, while it is measured."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.execution import measured
from rally_vmperf.execution import session as sessions
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.samples import merged
from rally_vmperf.measurement.samples import sample
from rally_vmperf.records import build
from rally_vmperf.runs import actions
from rally_vmperf.runs import conditions
from rally_vmperf.runs import setting

Progress = t.Callable[[str], None]

#: Characters of a reason that a record keeps.
_LONGEST = 500


@dataclasses.dataclass(frozen=True, kw_only=True)
class Ready:
    """The session of a run whose machines are ready.

    :param actions: around each condition, in this order
    """

    session: sessions.Session
    setting: build.Setting
    actions: tuple[actions.Action, ...]


@dataclasses.dataclass
class Attempt:
    """Measures a condition, and keeps what was measured if it fails.

    :param number: of the repetition
    :param lost: names of machines that no longer answer; those that are lost
        now are added
    """

    ready: Ready
    condition: conditions.Condition
    lost: set[str]
    number: int
    _: dataclasses.KW_ONLY
    keep_raw: measured.KeepRaw
    progress: Progress
    warn: Progress

    def __post_init__(self) -> None:
        #: Guests that were started anew.
        self.started: list[str] = []
        self.result = measured.Measured(keep_raw=self._keep_raw)
        self._state: repetition.State = "complete"
        self._findings: list[finding.Finding] = []
        self._participants = conditions.Participants(
            names=tuple(one.name for one in self.ready.session.stations)
        )
        #: Those who run at this moment, of several groups in turn.
        self._running = self._participants.names
        if self.condition.choose is not None:
            chosen = self.condition.choose(frozenset(self.lost), self.number)
            self._participants = chosen

    def measure(self) -> None:
        """Measure, unless a machine is lacking or an action fails."""
        chosen = self._participants
        try:
            if chosen.lacking:
                self._miss(chosen.lacking, chosen.reason)
                return
            for self._running in chosen.turns or (chosen.names,):
                if self.condition.axes:
                    names = ", ".join(self._running)
                    self.progress(f"Condition {self.condition}: {names}")
                self._measure()
        except KeyboardInterrupt:
            self._state = "interrupted"
            raise
        except BaseException:
            self._state = "incomplete"
            raise

    def taken(self, position: int) -> build.Taken:
        """Return the results of the condition.

        :param position: in the order in which conditions are measured
        """
        state = self._state
        if state == "complete" and self.result.missing:
            state = "incomplete"
        return build.Taken(
            axes=self.condition.axes,
            position=position,
            state=state,
            machines=self._participants.names,
            batches=len(self._participants.turns) or 1,
            observations=tuple(self.result.observations),
            missing=tuple(self.result.missing),
            findings=tuple(self._findings),
            synchronisation=tuple(self.result.starts),
            reference_copies=self.condition.copies,
            command_usage=tuple(
                used
                for one in self.result.runs
                if (used := one.usage()) is not None
            ),
            distributions=merged.distributions(self.result.readings),
            time_series=merged.lines(self.result.readings),
        )

    def runs(self) -> list[dict[str, t.Any]]:
        """Return the commands that ran, by the clocks of their machines."""
        axes = dict(self.condition.axes)
        return [
            {"axes": axes, **dataclasses.asdict(one)}
            for one in self.result.runs
        ]

    def readings(self) -> list[dict[str, t.Any]]:
        """Return each machine's own distributions and series."""
        axes = dict(self.condition.axes)
        return [
            {
                "axes": axes,
                "machine": machine,
                "metric": one.metric.name,
                "unit": one.metric.unit,
                **(
                    {"histogram": one.histogram.plain()}
                    if isinstance(one, sample.Distribution)
                    else {"points": one.points}
                ),
            }
            for machine, one in self.result.readings
        ]

    def _measure(self) -> None:
        current = self._current()
        begun: list[actions.Action] = []
        try:
            for one in self.ready.actions:
                begun.append(one)
                if not self._prepared(one.before(current)):
                    return
            self._run_workloads(current)
        finally:
            for one in reversed(begun):
                self._note(one, one.after(current))

    def _current(self) -> conditions.Current:
        return conditions.Current(
            condition=self.condition,
            repetition=self.number,
            machines=self._running,
            lost=frozenset(self.lost),
        )

    def _prepared(
        self,
        effect: actions.Effect,
        left: collections.abc.Collection[str] | None = None,
    ) -> bool:
        """Record an action before workloads; return whether they may run.

        If one failed, nothing is measured: the condition would be another.

        :param left: the metrics that are still to be measured; all by default
        """
        self._count(effect)
        if not effect.trouble:
            return True
        names = self._running
        lacking = [name for name in names if name in effect.trouble]
        self._miss(lacking or names, "; ".join(effect.trouble.values()), left)
        return False

    def _run_workloads(self, current: conditions.Current) -> None:
        names = self._running
        middles = [
            (one, actions.Middle(one, current)) for one in self.ready.actions
        ]

        def on_measured() -> None:
            for _, middle in middles:
                middle.workloads_ended()

        try:
            if any(one.between_workloads for one in self.ready.actions):
                self._run_one_by_one(on_measured)
            else:
                self._run(on_measured)
            for action, middle in middles:
                self._note(action, middle.effect())
            for action in self.ready.actions:
                self._count(action.recover(self._current()))
        finally:
            for _, middle in middles:
                middle.cancel()
        if self.condition.choose is not None:
            self._lose(self.ready.session.silent(names))

    def _run(self, on_measured: t.Callable[[], None], **some: t.Any) -> None:
        names = self._running if self.condition.choose else None
        self._findings += self.ready.session.repeat(
            self.result, names, on_measured=on_measured, **some
        )

    def _run_one_by_one(self, on_measured: t.Callable[[], None]) -> None:
        """Run workloads with actions between two of them."""
        every = self.ready.session.assignments
        for number, one in enumerate(every):
            left = setting.expected(every[number:])
            if number and not all(
                self._prepared(each.between(self._current()), left)
                for each in self.ready.actions
            ):
                return
            last = number == len(every) - 1
            self._run(on_measured if last else _nothing, assignments=[one])

    def _note(self, action: actions.Action, effect: actions.Effect) -> None:
        """Record the result of an action in the middle."""
        self._count(effect)
        for machine, reason in effect.trouble.items():
            self.warn(f"{action.name}: {reason}")
            self.result.miss(action.name, machine, reason[:_LONGEST])

    def _count(self, effect: actions.Effect) -> None:
        self._findings += effect.findings
        self.lost |= effect.lost
        self.started += effect.started

    def _miss(
        self,
        lacking: collections.abc.Iterable[str],
        reason: str,
        metrics: collections.abc.Collection[str] | None = None,
    ) -> None:
        self.warn(f"The condition cannot be measured: {reason}")
        for metric in metrics or self.ready.setting.expected_metrics:
            for name in lacking:
                self.result.miss(metric, name, reason[:_LONGEST])

    def _lose(self, silent: frozenset[str]) -> None:
        """Have later conditions go on without machines."""
        if silent - self.lost:
            self.warn(
                f"{', '.join(sorted(silent))} stopped answering; later "
                "conditions go on without them"
            )
        self.lost |= silent

    def _keep_raw(self, output: dict[str, t.Any]) -> None:
        self.keep_raw({"axes": dict(self.condition.axes), **output})


def _nothing() -> None:
    """Do nothing."""
