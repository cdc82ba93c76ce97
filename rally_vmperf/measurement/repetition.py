"""One repetition of a run, as everything that judges or reports sees it."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.measurement import cpu_seconds
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import sample

State = t.Literal["complete", "incomplete", "interrupted", "skipped"]
Bound = t.Literal["time", "size"]
#: What differs between the conditions of a repetition: ``{"guests": 4}``.
Axes = collections.abc.Mapping[str, int | str]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Missing:
    """A measurement that was to be taken and was not, with the reason."""

    what: str
    source: str
    reason: str

    def sentence(self) -> str:
        """Return it as one line, without an end."""
        return f"{self.what} of {self.source}: {self.reason}"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Start:
    """How well a command ran on all machines at once.

    :param bound: ``time`` for work of fixed duration, ``size`` for work that
        ends when it is done
    :param skew: seconds between the first start and the last, corrected for
        the clocks; None where fewer than two machines ran it
    :param uncertainty: seconds by which ``skew`` may be wrong
    :param overlap: share of the run, 0 to 1, in which all machines worked:
        of the longest run for ``time``, of the worst counted run for
        ``size``; None as for ``skew``
    """

    workload: str
    command: str
    bound: Bound
    skew: float | None
    uncertainty: float | None
    overlap: float | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Reference:
    """The bare-metal samples that guests are compared with.

    ``repetitions`` holds, per repetition of the baseline, the observations of
    all copies; there are none where the baseline has not as many copies.
    ``commands`` holds what each command took, added up over them.
    """

    name: str
    machine: str
    recorded_at: str
    repetitions: tuple[tuple[sample.Observation, ...], ...]
    commands: tuple[cpu_seconds.Usage, ...] = ()


#: Stands in the place of bare metal that was not measured.
NO_REFERENCE = Reference(name="", machine="", recorded_at="", repetitions=())


@dataclasses.dataclass(frozen=True, kw_only=True)
class Condition:
    """What one repetition measured under one condition.

    :param axes: in what it differs from the other conditions of the
        repetition; empty where there is no other
    :param number: of its repetition; so ``planned`` and ``counted``
    :param position: place in the order in which the conditions ran, from 1
    :param state: complete only if nothing is missing
    :param skipped: why it was not run at all, or nothing
    :param machines: names of the guests that were to take part
    :param expected: every metric that a complete condition holds
    :param commands: what each command took, added up over the machines
    """

    axes: Axes
    number: int
    planned: int
    counted: bool
    position: int
    state: State
    expected: tuple[sample.Metric, ...]
    skipped: str = ""
    machines: tuple[str, ...] = ()
    observations: tuple[sample.Observation, ...] = ()
    missing: tuple[Missing, ...] = ()
    findings: tuple[finding.Finding, ...] = ()
    starts: tuple[Start, ...] = ()
    reference: Reference = NO_REFERENCE
    commands: tuple[cpu_seconds.Usage, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether nothing of what was to be measured is missing."""
        return self.state == "complete" and not self.missing


@dataclasses.dataclass(frozen=True, kw_only=True)
class Repetition:
    """What one repetition measured, condition by condition.

    :param number: 1 for the first repetition, warm-up ones included
    :param planned: how many counted repetitions the task asks for
    :param counted: False for a warm-up, whose samples are kept, not judged
    :param state: complete only if nothing is missing
    :param expected: every metric that a complete repetition holds
    :param conditions: one for each that the task names, skipped ones
        included; fewer where the repetition was cut off
    :param hosts: guest -> host, as far as the cloud tells: a name, or what
        stands for one
    :param missing: what belongs to no condition
    :param findings: likewise, of the whole repetition
    """

    number: int
    planned: int
    counted: bool
    state: State
    expected: tuple[sample.Metric, ...]
    conditions: tuple[Condition, ...]
    hosts: collections.abc.Mapping[str, str]
    missing: tuple[Missing, ...]
    findings: tuple[finding.Finding, ...]

    @property
    def condition(self) -> Condition:
        """The only condition, with what belongs to the whole repetition.

        An empty one where the repetition did not come that far.

        :raises ValueError: for a repetition with several conditions
        """
        if len(self.conditions) > 1:
            raise ValueError(
                f"repetition {self.number} has {len(self.conditions)} "
                "conditions, name one of them"
            )
        nothing = Condition(
            axes={},
            number=self.number,
            planned=self.planned,
            counted=self.counted,
            position=1,
            state=self.state,
            expected=self.expected,
        )
        only = self.conditions[0] if self.conditions else nothing
        return dataclasses.replace(
            only,
            state=self.state,
            missing=self.all_missing,
            findings=(*self.findings, *only.findings),
        )

    def at(self, **axes: int | str) -> Condition | None:
        """Return the condition with these axes, if it is there."""
        return next((one for one in self.conditions if one.axes == axes), None)

    @property
    def all_missing(self) -> tuple[Missing, ...]:
        """Everything that is missing, that of the conditions first."""
        gaps = [gap for one in self.conditions for gap in one.missing]
        return tuple(dict.fromkeys((*gaps, *self.missing)))
