# SPDX-License-Identifier: Apache-2.0
"""A run of repetitions, each of which is stored before it is reported."""

import collections
import collections.abc
import contextlib
import dataclasses
import datetime
import functools
import time
import typing as t

from rally_vmperf import documents
from rally_vmperf.baseline import document
from rally_vmperf.execution import requirements
from rally_vmperf.guests import errors
from rally_vmperf.guests import models
from rally_vmperf.machines import base as machines
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.samples import units
from rally_vmperf.records import files
from rally_vmperf.records import flows
from rally_vmperf.records import journal as journals
from rally_vmperf.records import model
from rally_vmperf.runs import attempt
from rally_vmperf.runs import calibration as calibrations
from rally_vmperf.runs import conditions
from rally_vmperf.runs import setting as setting_
from rally_vmperf.workloads import base as workloads

Progress = t.Callable[[str], None]
ConditionResults = collections.abc.Sequence[repetition.Condition]
_Condition = conditions.PlannedCondition
#: Returns why to stop after a condition, or "", from the counted repetitions.
Enough = t.Callable[[collections.abc.Sequence[ConditionResults]], str]
#: A context manager of a condition and of the session with its machines.
OpenedCondition = contextlib.AbstractContextManager[
    tuple[conditions.PlannedCondition, attempt.ReadySession]
]

#: The errors that can occur while machines are prepared, in one line each.
RECORDED_ERRORS = (
    document.BaselineError,
    errors.GuestError,
    machines.MachineError,
    requirements.SupplyError,
    workloads.WorkloadError,
)
#: Maximum number of characters of an error in a record.
_MAX_LENGTH = 500


def never_stop(repetitions: collections.abc.Sequence[ConditionResults]) -> str:
    """Return "", so that no condition is skipped."""
    return ""


@dataclasses.dataclass(kw_only=True)
class Run:
    """The repetitions of one run.

    :param question: The name of the question.
    :param task: The identifier of the task.
    :param workload: The identifier of the run, for the name of its journal.
    :param times: The number of planned repetitions, warm-up included.
    :param conditions: The conditions in the order of the task.
    :param options: The options of the question, for the record.
    :param criteria: The limits of the subtask by the name of the SLA.
    :param fallback_setting: The setting before machines are ready.
    :param open: A function that prepares the machines.
    :param open_condition: A function that boots and prepares the machines of
        one condition, in place of ``open``; a context manager of the condition
        and of its session. None if all machines are prepared once.
    :param calibration: The workloads at full speed and at shares of it; None
        if all repetitions run the same workloads.
    :param enough: A function that returns the reason why no further condition
        is measured, or an empty string, from the results of the earlier
        counted repetitions and of this one so far.
    :param lost: The names of machines that no longer answer; if participants
        are chosen, the run does not wait for them again.
    :param failure: The error that prevented the machines from being ready.
    :param unwritten: The records that could not be written to the journal.
    """

    question: str
    task: str
    workload: str
    times: int
    warmup: int
    conditions: tuple[conditions.PlannedCondition, ...]
    journal: journals.Journal
    fallback_setting: setting_.Setting
    open: t.Callable[[], attempt.ReadySession]
    progress: Progress
    warn: Progress
    open_condition: t.Callable[[_Condition], OpenedCondition] | None = None
    order: model.Order = model.AS_LISTED
    options: collections.abc.Mapping[str, t.Any] = dataclasses.field(
        default_factory=dict
    )
    criteria: collections.abc.Mapping[str, documents.Arguments] = (
        dataclasses.field(default_factory=dict)
    )
    calibration: calibrations.Calibration | None = None
    enough: Enough = never_stop
    lost: set[str] = dataclasses.field(default_factory=set)
    failure: Exception | None = None
    unwritten: list[model.Record] = dataclasses.field(default_factory=list)
    ready: attempt.ReadySession | None = None
    _latest: float | None = None
    _earlier: list[ConditionResults] = dataclasses.field(default_factory=list)
    _starts: collections.Counter[str] = dataclasses.field(
        default_factory=collections.Counter
    )

    def prepare(self) -> None:
        """Prepare the machines once; store a failure, do not raise it."""
        if self.ready or self.failure or self.open_condition:
            return
        try:
            self.ready = self.open()
        except RECORDED_ERRORS as error:
            self.failure = error
            self.warn(f"Not ready to measure: {error}")

    def close(self) -> None:
        """Close the session, if there is one; it can be opened again."""
        if self.ready is not None:
            self.ready.session.close()
            self.ready = None

    def _forget_guests(self) -> None:
        """Close the session, because all guests are replaced by new ones."""
        self.close()
        self.lost.clear()
        self._starts.clear()

    def repeat(self, number: int) -> model.Record:
        """Measure all conditions once; store the record and return it.

        If the disk is full, no samples are lost, because the record is
        returned.
        """
        counted = number > self.warmup
        kind = "" if counted else " (warm-up, not counted)"
        left = self._estimate_remaining_time(number)
        self.progress(f"Repetition {number} of {self.times}{kind}{left}")
        started = time.monotonic()
        repetition_result = RepetitionResult(
            raw=self.journal.raw_outputs(
                number,
                lambda reason: self.warn(
                    f"{reason}; the samples are still recorded"
                ),
            )
        )
        defect: BaseException | None = None
        try:
            self.prepare()
            self._assign(is_warmup=not counted)
            if self.failure is not None:
                repetition_result.miss("machines", str(self.failure))
            else:
                self._measure(number, repetition_result)
        except KeyboardInterrupt:
            repetition_result.state = "interrupted"
            repetition_result.miss("controller", "interrupted by the user")
        except BaseException as error:
            # The results until then are valid.
            defect = error
            repetition_result.miss(
                "controller", f"{type(error).__name__}: {error}"
            )
        if self.calibration is not None and not counted:
            self.calibration.add(repetition_result.conditions)
        if counted and self.enough is not never_stop:
            self._earlier.append(repetition_result.conditions)
        # The result is what readers of the journal see.
        record = model.shorten(self._build(number, repetition_result))
        self._append(record)
        self._latest = time.monotonic() - started
        if repetition_result.is_unusable:
            self._forget_guests()
        if defect is not None:
            raise defect
        return record

    def _estimate_remaining_time(self, number: int) -> str:
        """Return the remaining time as text, or "" if it is unknown."""
        if self._latest is None:
            return ""
        left = sum(map(self._weigh, range(number, self.times + 1)))
        minutes = round(self._latest * left / self._weigh(number - 1) / 60)
        return f", about {units.number_of('minute', max(1, minutes))} left"

    def _weigh(self, number: int) -> float:
        """Return the duration of a repetition relative to that of others."""
        if self.calibration is None:
            return 1.0
        return self.calibration.estimate_seconds(
            self.conditions, is_warmup=number <= self.warmup
        )

    def _measure(
        self, number: int, repetition_result: "RepetitionResult"
    ) -> None:
        """Measure the conditions, and add their results to the repetition."""
        stop_reason = ""
        if self.open_condition:
            self._forget_guests()
        planned = self.conditions
        if self.calibration is not None and number <= self.warmup:
            planned = self.calibration.conditions
        # Blocks start with the first counted repetition.
        ordered = conditions.order_conditions(
            planned, self.order, number - self.warmup
        )
        for position, condition in enumerate(ordered, 1):
            if stop_reason:
                skipped = repetition.Condition(
                    axes=condition.axes,
                    position=position,
                    state="skipped",
                    skip_reason=stop_reason,
                )
                repetition_result.conditions.append(skipped)
                continue
            self._measure_condition(
                condition, position, number, repetition_result
            )
            if repetition_result.conditions[-1].state == "complete":
                stop_reason = self.enough(
                    [*self._earlier, repetition_result.conditions]
                )
            if stop_reason:
                self.progress(
                    f"No further condition is measured: {stop_reason}"
                )

    def _assign(self, *, is_warmup: bool) -> None:
        """Assign the workloads of a repetition; store a failure."""
        if self.calibration is None or self.ready is None:
            return
        try:
            self.ready = self.calibration.assign(
                self.ready, is_warmup=is_warmup
            )
        except workloads.WorkloadError as error:
            self.failure = error
            self.warn(f"Not ready to measure: {error}")
            self.close()

    def _measure_condition(
        self,
        condition: _Condition,
        position: int,
        number: int,
        repetition_result: "RepetitionResult",
    ) -> None:
        """Measure one condition, and add its results to the repetition.

        If its machines cannot be prepared, its metrics are missing.
        """
        with contextlib.ExitStack() as stack:
            try:
                condition, ready = stack.enter_context(self._open(condition))
            except RECORDED_ERRORS as error:
                self.warn(f"Condition {condition} cannot be measured: {error}")
                repetition_result.conditions.append(
                    attempt.create_unprepared_condition(
                        condition,
                        position,
                        str(error),
                        self.fallback_setting.expected_metrics,
                    )
                )
                return
            repetition_result.settings.append(ready.setting)
            current = attempt.Attempt(
                ready,
                condition,
                self.lost,
                number,
                keep_raw=functools.partial(
                    repetition_result.raw.add_output, condition.axes
                ),
                progress=self.progress,
                warn=self.warn,
            )
            try:
                current.measure()
            finally:
                repetition_result.conditions.append(
                    current.result_of_condition(position)
                )
                repetition_result.raw.add_results(
                    condition.axes,
                    current.result.runs,
                    current.result.readings,
                )
                self._starts.update(current.started)
                repetition_result.is_unusable |= current.is_unusable

    def _open(self, condition: _Condition) -> OpenedCondition:
        """Return a context manager of a condition and of its session."""
        if self.open_condition:
            return self.open_condition(condition)
        return contextlib.nullcontext(
            (condition, t.cast(attempt.ReadySession, self.ready))
        )

    def _build(
        self, number: int, repetition_result: "RepetitionResult"
    ) -> model.Record:
        """Return the record of a repetition."""
        setting = self.ready.setting if self.ready else self.fallback_setting
        if self.open_condition:
            setting = setting.merge(repetition_result.settings)
        calibrating = self.calibration.conditions if self.calibration else ()
        axes = [
            condition.axes for condition in (*self.conditions, *calibrating)
        ]
        conditions = sorted(
            repetition_result.conditions,
            key=lambda condition: axes.index(condition.axes),
        )
        return model.Record(
            repetition=repetition.Repetition(
                run=self.workload,
                question=self.question,
                number=number,
                planned_repetitions=max(0, self.times - self.warmup),
                counted=number > self.warmup,
                state=repetition_result.final_state(),
                expected_metrics=setting.expected_metrics,
                conditions=tuple(
                    _add_flows(condition, setting) for condition in conditions
                ),
                missing=tuple(repetition_result.missing),
                findings=setting.findings,
                rate_limits=setting.rate_limits,
                sizes=setting.sizes,
            ),
            task=self.task,
            started_at=repetition_result.started_at,
            finished_at=_now(),
            software=model.software(),
            shape=setting.shape,
            machines=tuple(
                dataclasses.replace(
                    machine, boot_id=self._get_boot_id(machine)
                )
                for machine in setting.machines
            ),
            workloads=setting.workloads,
            metrics=setting.metrics,
            order=self.order,
            options=self.options,
            bare_metal=setting.bare_metal,
            criteria=self.criteria,
            raw_file=repetition_result.raw.close(),
            machines_file=self.journal.machines(setting.details, self.warn),
        )

    def _get_boot_id(self, machine: model.RecordedMachine) -> str:
        """Return the identifier of a guest's current boot as text."""
        if starts := self._starts[machine.name]:
            return models.add_boots(machine.boot_id, starts)
        return machine.boot_id

    def _append(self, record: model.Record) -> None:
        """Append a record to the journal; warn if that fails."""
        try:
            self.journal.append(record)
        except journals.JournalError as error:
            self.unwritten.append(record)
            self.warn(
                f"{error}; repetition {record.repetition.number} is not in it"
            )


def _now() -> str:
    """Return the current UTC time as ISO 8601 text."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def _add_flows(
    condition: repetition.Condition, setting: setting_.Setting
) -> repetition.Condition:
    """Return a condition with the flows of its network workloads."""
    condition_flows = flows.of_condition(
        () if condition.skip_reason else condition.machines,
        condition.batches,
        setting.ends,
        setting.details,
    )
    return dataclasses.replace(condition, flows=tuple(condition_flows))


@dataclasses.dataclass(kw_only=True)
class RepetitionResult:
    """The results of one repetition.

    :param settings: The settings in which the conditions were measured.
    :param is_unusable: Whether guests must be booted again.
    :param missing: The missing metrics that belong to no condition.
    """

    raw: files.RawOutputs
    started_at: str = dataclasses.field(default_factory=_now)
    state: repetition.State = "complete"
    conditions: list[repetition.Condition] = dataclasses.field(
        default_factory=list
    )
    settings: list[setting_.Setting] = dataclasses.field(default_factory=list)
    is_unusable: bool = False
    missing: list[repetition.Missing] = dataclasses.field(default_factory=list)

    def miss(self, source: str, reason: str) -> None:
        """Add the reason why the repetition is incomplete."""
        self.missing.append(
            repetition.Missing(
                name="repetition", machine=source, reason=reason[:_MAX_LENGTH]
            )
        )

    def final_state(self) -> repetition.State:
        """Return the state; ``incomplete`` if results are missing."""
        whole = all(
            condition_result.state in ("complete", "skipped")
            for condition_result in self.conditions
        )
        if self.state == "complete" and (self.missing or not whole):
            return "incomplete"
        return self.state
