# SPDX-License-Identifier: Apache-2.0
"""The measurement of one condition of one repetition."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.execution import measured
from rally_vmperf.execution import sessions
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import guest_metrics
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.samples import cpu_seconds
from rally_vmperf.measurement.samples import merged
from rally_vmperf.measurement.samples import sample
from rally_vmperf.runs import actions
from rally_vmperf.runs import conditions
from rally_vmperf.runs import setting

Progress = t.Callable[[str], None]

#: Maximum number of characters of a reason in a record.
_MAX_LENGTH = 500


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReadySession:
    """A session whose machines are ready, with its setting and actions.

    :param actions: The actions around each condition, in this order.
    :param guest_findings: The findings that concern only the conditions in
        which a guest participates, by its name.
    """

    session: sessions.Session
    setting: setting.Setting
    actions: tuple[actions.Action, ...]
    guest_findings: collections.abc.Mapping[
        str, tuple[finding.Finding, ...]
    ] = dataclasses.field(default_factory=dict)


def create_unprepared_condition(
    condition: conditions.PlannedCondition,
    position: int,
    reason: str,
    metrics: collections.abc.Iterable[sample.Metric],
) -> repetition.Condition:
    """Return a condition without results, whose machines are unavailable.

    :param reason: The reason why they could not be prepared.
    :param metrics: The metrics that are missing.
    """
    names = condition.choose(frozenset(), 1).names if condition.choose else ()
    return repetition.Condition(
        axes=condition.axes,
        position=position,
        state="incomplete",
        missing=tuple(
            repetition.Missing(
                name=metric.name, machine=name, reason=reason[:_MAX_LENGTH]
            )
            for metric in metrics
            for name in names
        ),
        findings=tuple(
            finding.Finding("guest_unavailable", name, reason)
            for name in names
        ),
    )


@dataclasses.dataclass
class Attempt:
    """One measurement of a condition; a failure keeps the results so far.

    :param number: The number of the repetition.
    :param lost: The names of machines that no longer answer, which the attempt
        extends.
    """

    ready: ReadySession
    condition: conditions.PlannedCondition
    lost: set[str]
    number: int
    _: dataclasses.KW_ONLY
    keep_raw: measured.KeepRaw
    progress: Progress
    warn: Progress

    def __post_init__(self) -> None:
        #: The guests that were restarted.
        self.started: list[str] = []
        #: Whether guests must be booted again before the next repetition.
        self.is_unusable = False
        self.result = measured.Measured(keep_raw=self.keep_raw)
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
            participants = self.condition.choose(
                frozenset(self.lost), self.number
            )
            self._participants = participants
        self._findings += [
            guest_finding
            for name in (
                *self._participants.names,
                *self._participants.unavailable,
            )
            for guest_finding in self.ready.guest_findings.get(name, ())
        ]

    def measure(self) -> None:
        """Measure the condition, unless a machine or an action fails."""
        participants = self._participants
        try:
            if participants.unavailable:
                self._add_missing(
                    participants.unavailable, participants.reason
                )
                return
            for self._running in participants.batches or (participants.names,):
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

    def result_of_condition(self, position: int) -> repetition.Condition:
        """Return the results of the condition.

        :param position: The position in the order of the conditions.
        """
        state = self._state
        if state == "complete" and self.result.missing:
            state = "incomplete"
        return repetition.Condition(
            axes=self.condition.axes,
            position=position,
            state=state,
            machines=self._participants.names,
            batches=len(self._participants.batches) or 1,
            observations=(
                *self.result.observations,
                *guest_metrics.list_cpu_shares(self.result.cpu_times),
            ),
            missing=tuple(self.result.missing),
            findings=tuple(
                dict.fromkeys((*self._findings, *self._list_shortfalls()))
            ),
            synchronisation=tuple(self.result.starts),
            reference_copies=self.condition.copies,
            command_usage=cpu_seconds.total(
                usage
                for run in self.result.runs
                if (usage := run.usage()) is not None
            ),
            distributions=merged.distributions(self.result.readings),
            time_series=merged.time_series(self.result.readings),
            phase=self.result.phase,
        )

    def _list_shortfalls(self) -> list[finding.Finding]:
        """Return the offered rates that were not achieved.

        What is not a reference has a loss, and nothing is void.
        """
        if self.condition.is_reference:
            return self.result.shortfalls
        return [
            dataclasses.replace(shortfall, severity_override="note")
            for shortfall in self.result.shortfalls
        ]

    def _measure(self) -> None:
        """Run the workloads between the actions before and after them."""
        current = self._create_current_condition()
        started: list[actions.Action] = []
        try:
            for action in self.ready.actions:
                started.append(action)
                if not self._record_preparation(action.before(current)):
                    return
            self._run_workloads(current)
        finally:
            for action in reversed(started):
                self._record_result(action, action.after(current))

    def _create_current_condition(self) -> conditions.CurrentCondition:
        """Return the condition with its running and its lost machines."""
        return conditions.CurrentCondition(
            condition=self.condition,
            repetition=self.number,
            machines=self._running,
            lost=frozenset(self.lost),
        )

    def _record_preparation(
        self,
        effect: actions.ActionResult,
        left: collections.abc.Collection[sample.Metric] | None = None,
    ) -> bool:
        """Record an action before a workload; return whether it succeeded.

        If it failed, nothing is measured, because the condition would differ.

        :param left: The metrics that are still to be measured; all by default.
        """
        self._merge_result(effect)
        if not effect.errors:
            return True
        names = self._running
        failed = [name for name in names if name in effect.errors]
        self._add_missing(
            failed or names, "; ".join(effect.errors.values()), left
        )
        return False

    def _run_workloads(self, current: conditions.CurrentCondition) -> None:
        """Run the workloads, and at the same time the background actions."""
        names = self._running
        background_actions = [
            (action, actions.BackgroundAction(action, current))
            for action in self.ready.actions
        ]

        def on_measured() -> None:
            """Tell each background action that the workloads have ended."""
            for _, background_action in background_actions:
                background_action.on_workloads_ended()

        try:
            if any(action.between_workloads for action in self.ready.actions):
                self._run_one_by_one(on_measured)
            else:
                self._run(on_measured)
            for action, background_action in background_actions:
                self._record_result(action, background_action.result())
            for action in self.ready.actions:
                recovery = action.recover(self._create_current_condition())
                self._merge_result(recovery)
                self.result.explain_unreached(recovery.errors)
            for action in self.ready.actions:
                if action.is_evaluated:
                    self._merge_result(action.evaluate(current, self.result))
        finally:
            for _, background_action in background_actions:
                background_action.cancel()
        if self.condition.choose is not None:
            self._exclude_silent(self.ready.session.silent(names))

    def _run(
        self, on_measured: t.Callable[[], None], **options: t.Any
    ) -> None:
        """Run workloads on the machines, and add results and findings."""
        names = self._running if self.condition.choose else None
        self._findings += self.ready.session.repeat(
            self.result, names, on_measured=on_measured, **options
        )

    def _run_one_by_one(self, on_measured: t.Callable[[], None]) -> None:
        """Run workloads with actions between two of them."""
        assignments = self.ready.session.assignments
        for number, assigned in enumerate(assignments):
            left = setting.list_expected_metrics(assignments[number:])
            if number and not all(
                self._record_preparation(
                    action.between(self._create_current_condition()), left
                )
                for action in self.ready.actions
            ):
                return
            last = number == len(assignments) - 1
            self._run(
                on_measured if last else lambda: None, assignments=[assigned]
            )

    def _record_result(
        self, action: actions.Action, effect: actions.ActionResult
    ) -> None:
        """Record the result of an action that ran during the workloads."""
        self._merge_result(effect)
        for machine, reason in effect.errors.items():
            self.warn(f"{action.name}: {reason}")
            self.result.miss(action.name, machine, reason[:_MAX_LENGTH])

    def _merge_result(self, effect: actions.ActionResult) -> None:
        """Add the results of an action to those of the condition."""
        self.result.observations += effect.observations
        self._findings = [
            found
            for found in (*self._findings, *effect.findings)
            if (found.kind, found.subject) not in effect.explained
        ]
        self.lost |= effect.lost
        self.started += effect.started
        self.is_unusable |= effect.is_unusable

    def _add_missing(
        self,
        machines: collections.abc.Iterable[str],
        reason: str,
        metrics: collections.abc.Collection[sample.Metric] | None = None,
    ) -> None:
        """Note missing metrics of machines with the reason, and warn."""
        self.warn(f"The condition cannot be measured: {reason}")
        for metric in metrics or self.ready.setting.expected_metrics:
            for name in machines:
                self.result.miss(metric.name, name, reason[:_MAX_LENGTH])

    def _exclude_silent(self, silent: frozenset[str]) -> None:
        """Add silent machines to the lost ones for later conditions."""
        if silent - self.lost:
            self.warn(
                f"{', '.join(sorted(silent))} stopped answering; later "
                "conditions continue without them"
            )
        self.lost |= silent
