"""The measurement of one condition of one repetition."""

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

#: Maximum number of characters of a reason in a record.
_LONGEST = 500


@dataclasses.dataclass(frozen=True, kw_only=True)
class Ready:
    """A session whose machines are ready, with its setting and actions.

    :param actions: The actions around each condition, in this order.
    """

    session: sessions.Session
    setting: build.Setting
    actions: tuple[actions.Action, ...]


@dataclasses.dataclass
class Attempt:
    """A measurement of a condition; a failure keeps the results so far.

    :param number: The number of the repetition.
    :param lost: The names of machines that no longer answer, which the attempt
        extends.
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
        #: The guests that were restarted.
        self.started: list[str] = []
        self.result = measured.Measured(keep_raw=self._keep_raw)
        self._state: repetition.State = "complete"
        self._findings: list[finding.Finding] = []
        self._participants = conditions.Participants(
            names=tuple(
                station.name for station in self.ready.session.stations
            )
        )
        #: The names of the machines of the current group.
        self._running = self._participants.names
        if self.condition.choose is not None:
            chosen = self.condition.choose(frozenset(self.lost), self.number)
            self._participants = chosen

    def measure(self) -> None:
        """Measure, unless a machine is unavailable or an action fails."""
        chosen = self._participants
        try:
            if chosen.unavailable:
                self._miss(chosen.unavailable, chosen.reason)
                return
            for self._running in chosen.batches or (chosen.names,):
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

    def result_of_condition(self, position: int) -> build.ConditionResult:
        """Return the results of the condition.

        :param position: The position in the order of the conditions.
        """
        state = self._state
        if state == "complete" and self.result.missing:
            state = "incomplete"
        return build.ConditionResult(
            axes=self.condition.axes,
            position=position,
            state=state,
            machines=self._participants.names,
            batches=len(self._participants.batches) or 1,
            observations=tuple(self.result.observations),
            missing=tuple(self.result.missing),
            findings=tuple(self._findings),
            synchronisation=tuple(self.result.starts),
            reference_copies=self.condition.copies,
            command_usage=tuple(
                usage
                for run in self.result.runs
                if (usage := run.usage()) is not None
            ),
            distributions=merged.distributions(self.result.readings),
            time_series=merged.lines(self.result.readings),
        )

    def runs(self) -> list[dict[str, t.Any]]:
        """Return the commands that ran, with the times of their machines."""
        axes = dict(self.condition.axes)
        return [
            {"axes": axes, **dataclasses.asdict(run)}
            for run in self.result.runs
        ]

    def readings(self) -> list[dict[str, t.Any]]:
        """Return the distributions and series of each machine."""
        axes = dict(self.condition.axes)
        return [
            {
                "axes": axes,
                "machine": machine,
                "metric": reading.metric.name,
                "unit": reading.metric.unit,
                **(
                    {"histogram": reading.histogram.plain()}
                    if isinstance(reading, sample.Distribution)
                    else {"points": reading.points}
                ),
            }
            for machine, reading in self.result.readings
        ]

    def _measure(self) -> None:
        current = self._current()
        begun: list[actions.Action] = []
        try:
            for action in self.ready.actions:
                begun.append(action)
                if not self._prepared(action.before(current)):
                    return
            self._run_workloads(current)
        finally:
            for action in reversed(begun):
                self._note(action, action.after(current))

    def _current(self) -> conditions.Current:
        return conditions.Current(
            condition=self.condition,
            repetition=self.number,
            machines=self._running,
            lost=frozenset(self.lost),
        )

    def _prepared(
        self,
        effect: actions.ActionResult,
        left: collections.abc.Collection[str] | None = None,
    ) -> bool:
        """Record an action before workloads, and return whether they can run.

        If it failed, nothing is measured, because the condition would differ.

        :param left: The metrics that are still to be measured; all by default.
        """
        self._count(effect)
        if not effect.errors:
            return True
        names = self._running
        failed = [name for name in names if name in effect.errors]
        self._miss(failed or names, "; ".join(effect.errors.values()), left)
        return False

    def _run_workloads(self, current: conditions.Current) -> None:
        names = self._running
        middles = [
            (action, actions.BackgroundAction(action, current))
            for action in self.ready.actions
        ]

        def on_measured() -> None:
            for _, middle in middles:
                middle.workloads_ended()

        try:
            if any(action.between_workloads for action in self.ready.actions):
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

    def _run(
        self, on_measured: t.Callable[[], None], **options: t.Any
    ) -> None:
        names = self._running if self.condition.choose else None
        self._findings += self.ready.session.repeat(
            self.result, names, on_measured=on_measured, **options
        )

    def _run_one_by_one(self, on_measured: t.Callable[[], None]) -> None:
        """Run workloads with actions between two of them."""
        assignments = self.ready.session.assignments
        for number, assigned in enumerate(assignments):
            left = setting.expected(assignments[number:])
            if number and not all(
                self._prepared(action.between(self._current()), left)
                for action in self.ready.actions
            ):
                return
            last = number == len(assignments) - 1
            self._run(
                on_measured if last else _nothing, assignments=[assigned]
            )

    def _note(
        self, action: actions.Action, effect: actions.ActionResult
    ) -> None:
        """Record the result of an action in the middle."""
        self._count(effect)
        for machine, reason in effect.errors.items():
            self.warn(f"{action.name}: {reason}")
            self.result.miss(action.name, machine, reason[:_LONGEST])

    def _count(self, effect: actions.ActionResult) -> None:
        self._findings += effect.findings
        self.lost |= effect.lost
        self.started += effect.started

    def _miss(
        self,
        machines: collections.abc.Iterable[str],
        reason: str,
        metrics: collections.abc.Collection[str] | None = None,
    ) -> None:
        self.warn(f"The condition cannot be measured: {reason}")
        for metric in metrics or self.ready.setting.expected_metrics:
            for name in machines:
                self.result.miss(metric, name, reason[:_LONGEST])

    def _lose(self, silent: frozenset[str]) -> None:
        """Exclude machines from later conditions."""
        if silent - self.lost:
            self.warn(
                f"{', '.join(sorted(silent))} stopped answering; later "
                "conditions continue without them"
            )
        self.lost |= silent

    def _keep_raw(self, output: dict[str, t.Any]) -> None:
        self.keep_raw({"axes": dict(self.condition.axes), **output})


def _nothing() -> None:
    """Do nothing."""
