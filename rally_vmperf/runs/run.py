"""A run of repetitions, each on disk before anyone else sees it."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.baseline import document
from rally_vmperf.execution import measured
from rally_vmperf.execution import session as sessions
from rally_vmperf.execution import supplying
from rally_vmperf.guests import errors
from rally_vmperf.machines import base as machines
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.records import build
from rally_vmperf.records import journal as journals
from rally_vmperf.runs import actions
from rally_vmperf.runs import conditions
from rally_vmperf.workloads import base as workloads

Progress = t.Callable[[str], None]
Taken = collections.abc.Sequence[build.Taken]

#: What can keep machines from being ready, each in one line.
EXPECTED = (
    document.BaselineError,
    errors.GuestError,
    machines.MachineError,
    supplying.Error,
    workloads.WorkloadError,
)
#: Characters of an error's own words that a record keeps.
_LONGEST = 500


@dataclasses.dataclass(frozen=True, kw_only=True)
class Ready:
    """What a run measures with, once its machines are ready.

    :param actions: around each condition, in this order
    """

    session: sessions.Session
    setting: build.Setting
    actions: tuple[actions.Action, ...] = ()


def never_enough(taken: Taken) -> str:
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
        nothing, given those of this repetition so far
    :param lost: names of machines that answer no more; where participants
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
    open: t.Callable[[], Ready]
    progress: Progress
    warn: Progress
    order: build.Order = build.Order()
    options: collections.abc.Mapping[str, t.Any] = dataclasses.field(
        default_factory=dict
    )
    enough: t.Callable[[Taken], str] = never_enough
    lost: set[str] = dataclasses.field(default_factory=set)
    failure: str = ""
    ready: Ready | None = None
    _starts: collections.Counter[str] = dataclasses.field(
        default_factory=collections.Counter
    )

    def prepare(self) -> None:
        """Make machines ready, once; what failed is not tried again."""
        if self.ready or self.failure:
            return
        try:
            self.ready = self.open()
        except EXPECTED as error:
            self.failure = str(error)
            self.warn(f"Not ready to measure: {error}")

    def close(self) -> None:
        """Give up the connections; harmless if there are none."""
        if self.ready is not None:
            self.ready.session.close()

    def repeat(
        self, number: int, counted: bool | None = None
    ) -> dict[str, t.Any]:
        """Measure all conditions once; return the record, on disk by then.

        A disk that is full costs no samples: the caller has the record.

        :param counted: as opposed to a warm-up; by its number by default
        """
        if counted is None:
            counted = number > self.warmup
        started_at = build.now()
        raw = self.journal.raw_outputs(number, self._no_raw_outputs)
        kind = "" if counted else " (warm-up, not counted)"
        self.progress(f"Repetition {number} of {self.times}{kind}")
        taken: list[build.Taken] = []
        missing: list[repetition.Missing] = []
        state: repetition.State = "complete"
        defect: BaseException | None = None
        try:
            self.prepare()
            if self.ready is not None:
                self._measure(self.ready, number, taken, raw)
            else:
                missing.append(_missing("machines", self.failure))
        except KeyboardInterrupt:
            state = "interrupted"
            missing.append(_missing("controller", "interrupted by its user"))
        except BaseException as error:
            # What was measured until then is worth as much as any other.
            defect = error
            reason = f"{type(error).__name__}: {error}"
            missing.append(_missing("controller", reason))
        if state == "complete" and (
            missing
            or any(one.state not in ("complete", "skipped") for one in taken)
        ):
            state = "incomplete"
        setting = self._setting()
        record = build.build(
            build.Identity(
                question=self.question,
                task=self.task,
                workload=self.workload,
                repetition=number,
                planned=max(0, self.times - self.warmup),
                counted=counted,
            ),
            setting,
            self._as_listed(taken),
            state=state,
            started_at=started_at,
            order=self.order,
            options=self.options,
            missing=missing,
            files={
                "raw": raw.close(),
                "machines": self.journal.machines(
                    setting.details, self._no_machines
                ),
            },
        )
        self._append(record)
        if defect is not None:
            raise defect
        return record

    def _setting(self) -> build.Setting:
        """Return the setting, with the guests' starts until now."""
        setting = self.ready.setting if self.ready else self.unready
        return dataclasses.replace(
            setting,
            machines=[
                dataclasses.replace(one, boot=self._boot(one))
                for one in setting.machines
            ],
        )

    def _boot(self, one: build.Machine) -> str:
        if not self._starts[one.name]:
            return one.boot
        server, _, count = one.boot.rpartition("#")
        return f"{server}#{int(count) + self._starts[one.name]}"

    def _as_listed(self, taken: Taken) -> list[build.Taken]:
        """Return conditions in the order of the task."""
        axes = [one.axes for one in self.conditions]
        return sorted(taken, key=lambda one: axes.index(one.axes))

    def _measure(
        self,
        ready: Ready,
        number: int,
        taken: list[build.Taken],
        raw: t.Any,
    ) -> None:
        """Measure all conditions; what each left goes into ``taken``."""
        why = ""
        chosen = conditions.in_order(self.conditions, self.order, number)
        for position, one in enumerate(chosen, 1):
            if why:
                taken.append(
                    build.Taken(
                        axes=one.axes,
                        position=position,
                        state="skipped",
                        skipped=why,
                    )
                )
                continue
            attempt = _Attempt(self, ready, one)
            try:
                attempt.measure(raw)
            finally:
                taken.append(attempt.taken(position))
            if taken[-1].state == "complete":
                why = self.enough(taken)
            if why:
                self.progress(f"No further condition is measured: {why}")

    def count_lost(self, names: collections.abc.Iterable[str]) -> None:
        """Have later conditions go on without machines."""
        new = set(names) - self.lost
        if new:
            self.warn(
                f"{', '.join(sorted(new))} answered no more; what follows "
                "goes on without"
            )
        self.lost |= new

    def _append(self, record: dict[str, t.Any]) -> None:
        try:
            self.journal.append(record)
        except journals.JournalError as error:
            self.warn(
                f"{error}; repetition {record['repetition']} is not in it"
            )

    def _no_raw_outputs(self, why: str) -> None:
        self.warn(f"{why}; the samples are kept all the same")


class _Attempt:
    """One condition of one repetition, while it is measured."""

    def __init__(
        self, run: Run, ready: Ready, condition: conditions.Condition
    ) -> None:
        self._run = run
        self._ready = ready
        self._condition = condition
        ...
