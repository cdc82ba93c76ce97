"""A run of repetitions, each on disk before anyone else sees it."""

import collections
import collections.abc
import dataclasses
import time
import typing as t

from rally_vmperf.baseline import document
from rally_vmperf.execution import requirements
from rally_vmperf.guests import errors
from rally_vmperf.machines import base as machines
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.samples import units
from rally_vmperf.records import build
from rally_vmperf.records import files
from rally_vmperf.records import journal as journals
from rally_vmperf.runs import attempt
from rally_vmperf.runs import conditions
from rally_vmperf.workloads import base as workloads

Progress = t.Callable[[str], None]
Taken = collections.abc.Sequence[build.Taken]

#: What can keep machines from being ready, each in one line.
EXPECTED = (
    document.BaselineError,
    errors.GuestError,
    machines.MachineError,
    requirements.SupplyError,
    workloads.WorkloadError,
)
#: The order of a run that asks for none.
AS_LISTED = build.Order()
#: Characters of an error's own words that a record keeps.
_LONGEST = 500


def never_enough(repetitions: collections.abc.Sequence[Taken]) -> str:
    """Return nothing: all conditions are measured."""
    return ""


@dataclasses.dataclass(kw_only=True)
class Run:
    """The repetitions of one run.

    :param question: name of what is asked
    :param task: identifier of the task
    :param workload: identifier of the run, names its journal
    :param times: all repetitions that are planned, warm-up included
    :param conditions: in the order of the task
    :param options: of the question, for the record
    :param unready: what is known before machines are ready
    :param open: makes machines ready
    :param enough: returns why no further condition is to be measured, or
        nothing, given those of the counted repetitions before, and last those
        of this repetition so far
    :param lost: names of machines that no longer answer; where participants
        are chosen nobody waits for them again
    :param failure: why machines could not be made ready
    """

    question: str
    task: str
    workload: str
    times: int
    warmup: int
    conditions: tuple[conditions.Condition, ...]
    journal: journals.Journal
    unready: build.Setting
    open: t.Callable[[], attempt.Ready]
    progress: Progress
    warn: Progress
    order: build.Order = AS_LISTED
    options: collections.abc.Mapping[str, t.Any] = dataclasses.field(
        default_factory=dict
    )
    enough: t.Callable[[collections.abc.Sequence[Taken]], str] = never_enough
    lost: set[str] = dataclasses.field(default_factory=set)
    failure: Exception | None = None
    ready: attempt.Ready | None = None
    _latest: float | None = None
    _earlier: list[Taken] = dataclasses.field(default_factory=list)
    _starts: collections.Counter[str] = dataclasses.field(
        default_factory=collections.Counter
    )

    def prepare(self) -> None:
        """Prepare the machines once; a failure is not retried."""
        if self.ready or self.failure:
            return
        try:
            self.ready = self.open()
        except EXPECTED as error:
            self.failure = error
            self.warn(f"Not ready to measure: {error}")

    def close(self) -> None:
        """Close the connections, if there are any."""
        if self.ready is not None:
            self.ready.session.close()

    def repeat(self, number: int) -> dict[str, t.Any]:
        """Measure all conditions once; return the record, on disk by then.

        A disk that is full costs no samples: the caller has the record.
        """
        counted = number > self.warmup
        kind = "" if counted else " (warm-up, not counted)"
        self.progress(
            f"Repetition {number} of {self.times}{kind}{self._left(number)}"
        )
        begun = time.monotonic()
        started_at = build.now()
        take = _Take(raw=self.journal.raw_outputs(number, self._no_raw))
        defect: BaseException | None = None
        try:
            self.prepare()
            if self.ready is None:
                take.miss("machines", str(self.failure))
            else:
                self._measure(self.ready, number, take)
        except KeyboardInterrupt:
            take.state = "interrupted"
            take.miss("controller", "interrupted by its user")
        except BaseException as error:
            # What was measured until then is worth as much as any other.
            defect = error
            take.miss("controller", f"{type(error).__name__}: {error}")
        identity = build.Identity(
            question=self.question,
            task=self.task,
            rally_workload=self.workload,
            repetition=number,
            planned_repetitions=max(0, self.times - self.warmup),
            counted=counted,
        )
        if counted and self.enough is not never_enough:
            self._earlier.append(take.conditions)
        record = self._build(identity, take, started_at)
        self._append(record)
        self._latest = time.monotonic() - begun
        if defect is not None:
            raise defect
        return record

    def _left(self, number: int) -> str:
        """Return the time left in words, if repetitions stay as long."""
        if self._latest is None:
            return ""
        minutes = round(self._latest * (self.times - number + 1) / 60)
        return f", about {units.number_of('minute', max(1, minutes))} left"

    def _measure(
        self, ready: attempt.Ready, number: int, take: "_Take"
    ) -> None:
        """Measure the conditions; their results go into ``take``."""
        why = ""
        for position, one in enumerate(
            conditions.in_order(self.conditions, self.order, number), 1
        ):
            if why:
                skipped = build.Taken(
                    axes=one.axes,
                    position=position,
                    state="skipped",
                    skip_reason=why,
                )
                take.conditions.append(skipped)
                continue
            trial = attempt.Attempt(
                ready,
                one,
                self.lost,
                number,
                keep_raw=take.raw.add,
                progress=self.progress,
                warn=self.warn,
            )
            try:
                trial.measure()
            finally:
                take.conditions.append(trial.taken(position))
                take.runs += trial.runs()
                take.readings += trial.readings()
                self._starts.update(trial.started)
            if take.conditions[-1].state == "complete":
                why = self.enough([*self._earlier, take.conditions])
            if why:
                self.progress(f"No further condition is measured: {why}")

    def _build(
        self, identity: build.Identity, take: "_Take", started_at: str
    ) -> dict[str, t.Any]:
        setting = self.ready.setting if self.ready else self.unready
        setting = dataclasses.replace(
            setting,
            machines=[
                dataclasses.replace(one, boot_id=self._boot(one))
                for one in setting.machines
            ],
        )
        axes = [one.axes for one in self.conditions]
        return build.build(
            identity,
            setting,
            sorted(take.conditions, key=lambda one: axes.index(one.axes)),
            state=take.settled(),
            started_at=started_at,
            order=self.order,
            options=self.options,
            missing=take.missing,
            files={
                "raw": take.raw.close(take.runs, take.readings),
                "machines": self.journal.machines(setting.details, self.warn),
            },
        )

    def _boot(self, one: build.Machine) -> str:
        """Return the identifier of a guest's current boot."""
        if not self._starts[one.name]:
            return one.boot_id
        server, _, count = one.boot_id.rpartition("#")
        return f"{server}#{int(count) + self._starts[one.name]}"

    def _append(self, record: dict[str, t.Any]) -> None:
        try:
            self.journal.append(record)
        except journals.JournalError as error:
            self.warn(
                f"{error}; repetition {record['repetition']} is not in it"
            )

    def _no_raw(self, why: str) -> None:
        self.warn(f"{why}; the samples are kept all the same")


@dataclasses.dataclass(kw_only=True)
class _Take:
    """The results of one repetition.

    :param missing: what belongs to no condition
    """

    raw: files.RawOutputs
    state: repetition.State = "complete"
    conditions: list[build.Taken] = dataclasses.field(default_factory=list)
    runs: list[dict[str, t.Any]] = dataclasses.field(default_factory=list)
    readings: list[dict[str, t.Any]] = dataclasses.field(default_factory=list)
    missing: list[repetition.Missing] = dataclasses.field(default_factory=list)

    def miss(self, source: str, reason: str) -> None:
        """Note why the repetition was not measured, or not to its end."""
        self.missing.append(
            repetition.Missing(
                name="repetition", machine=source, reason=reason[:_LONGEST]
            )
        )

    def settled(self) -> repetition.State:
        """Return the state; incomplete when something is missing."""
        whole = all(
            one.state in ("complete", "skipped") for one in self.conditions
        )
        if self.state == "complete" and (self.missing or not whole):
            return "incomplete"
        return self.state
