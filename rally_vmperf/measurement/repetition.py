"""One repetition of a run, as everything that judges or reports sees it."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf import sanitize
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.comparison import caps as caps_
from rally_vmperf.measurement.samples import cpu_seconds
from rally_vmperf.measurement.samples import merged
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units

State = t.Literal["complete", "incomplete", "interrupted", "skipped"]
Bound = t.Literal["time", "size"]
#: What differs between the conditions of a repetition: ``{"guests": 4}``.
Axes = collections.abc.Mapping[str, int | str]

#: The axis of how many guests of each host are measured at once.
GUESTS = "guests"
#: The axis of how many guests run another workload beside the measured ones.
NEIGHBOURS = "neighbours"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Missing:
    """A measurement that was to be taken and was not, with the reason."""

    name: str
    machine: str
    reason: str

    def __post_init__(self) -> None:
        for field in ("name", "machine", "reason"):
            safe = sanitize.text(getattr(self, field))
            object.__setattr__(self, field, safe)

    def sentence(self) -> str:
        """Return it as one line, without an end."""
        return f"{self.name} of {self.machine}: {self.reason}"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Synchronisation:
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
    ``command_usage`` holds what each command took, added up over them.
    ``percentiles`` holds those of all copies together, per repetition;
    ``distributions`` and ``time_series`` are those of all repetitions.
    ``others`` names metrics that the baseline has besides these.
    """

    name: str
    machine: str
    recorded_at: str
    repetitions: tuple[tuple[sample.Observation, ...], ...]
    command_usage: tuple[cpu_seconds.Usage, ...] = ()
    percentiles: tuple[collections.abc.Mapping[sample.Metric, float], ...] = ()
    distributions: tuple[merged.Distribution, ...] = ()
    time_series: tuple[merged.TimeSeries, ...] = ()
    others: tuple[str, ...] = ()

    def has_instead_of(self, metric: sample.Metric) -> list[str]:
        """Return other metrics of a metric's tool, else the tools there are.

        A tool has dozens of metrics.
        """
        here = {one.sample.metric.name for x in self.repetitions for one in x}
        names = here.union(self.others)
        near = [x for x in names if _of_tool(x) == _of_tool(metric.name)]
        return sorted(near or {f"{_of_tool(x)}.*" for x in names})


def _of_tool(metric: str) -> str:
    """Return what the names of all metrics of a tool begin with."""
    return ".".join(metric.split(".")[:2])


@dataclasses.dataclass(frozen=True, kw_only=True)
class Room:
    """How many guests a part of the host holds, without overcommitment.

    :param what: the part in words, with its machine
    """

    guests: int
    what: str

    def sentence(self) -> str:
        """Return it in words."""
        return f"{self.what} hold {units.number_of('guest', self.guests)}"


#: Stands in the place of bare metal that was not measured.
NO_REFERENCE = Reference(name="", machine="", recorded_at="", repetitions=())


@dataclasses.dataclass(frozen=True, kw_only=True)
class Condition:
    """What one repetition measured under one condition.

    :param axes: in what it differs from the other conditions of the
        repetition; empty where there is no other
    :param number: The number of its repetition.
    :param position: place in the order in which the conditions ran, from 1
    :param state: complete only if nothing is missing
    :param skip_reason: why it was not run at all, or nothing
    :param machines: names of the guests that were to take part
    :param batches: in how many groups, one after another, they ran
    :param expected_metrics: every metric that a complete condition holds
    :param command_usage: what each command took, added up over the machines
    :param distributions: of all machines together
    :param time_series: likewise, values over time
    """

    axes: Axes
    number: int
    planned_repetitions: int
    counted: bool
    position: int
    state: State
    expected_metrics: tuple[sample.Metric, ...]
    skip_reason: str = ""
    machines: tuple[str, ...] = ()
    batches: int = 1
    observations: tuple[sample.Observation, ...] = ()
    missing: tuple[Missing, ...] = ()
    findings: tuple[finding.Finding, ...] = ()
    synchronisation: tuple[Synchronisation, ...] = ()
    reference: Reference = NO_REFERENCE
    command_usage: tuple[cpu_seconds.Usage, ...] = ()
    distributions: tuple[merged.Distribution, ...] = ()
    time_series: tuple[merged.TimeSeries, ...] = ()

    def distribution(
        self, metric: sample.Metric
    ) -> merged.Distribution | None:
        """Return the distribution that a metric is a percentile of."""
        return next(
            (one for one in self.distributions if metric in one.values()), None
        )

    @property
    def complete(self) -> bool:
        """Whether no measurement is missing."""
        return self.state == "complete" and not self.missing


@dataclasses.dataclass(frozen=True, kw_only=True)
class Repetition:
    """What one repetition measured, condition by condition.

    :param number: 1 for the first repetition, warm-up ones included
    :param planned_repetitions: how many counted repetitions the task asks for
    :param counted: False for a warm-up, whose samples are kept, not judged
    :param state: complete only if nothing is missing
    :param expected_metrics: every metric that a complete repetition holds
    :param conditions: one for each that the task names, skipped ones
        included; fewer where the repetition was cut off
    :param hosts: guest -> host, as far as the cloud tells: a name, or what
        stands for one
    :param missing: what belongs to no condition
    :param findings: likewise, of the whole repetition
    :param run: identifier of the run; with the number it names a repetition
    :param rate_limits: links and policies that may hold rates
    :param rooms: of the host, of its parts whose size is known
    """

    number: int
    planned_repetitions: int
    counted: bool
    state: State
    expected_metrics: tuple[sample.Metric, ...]
    conditions: tuple[Condition, ...]
    hosts: collections.abc.Mapping[str, str]
    missing: tuple[Missing, ...]
    findings: tuple[finding.Finding, ...]
    run: str = ""
    rate_limits: tuple[caps_.Cap, ...] = ()
    rooms: tuple[Room, ...] = ()

    @property
    def condition(self) -> Condition:
        """The one without neighbours, with what the whole repetition has.

        It is empty where the repetition ended before it.

        :raises ValueError: for a repetition with several conditions
        """
        if len(self.quiet) > 1:
            raise ValueError(
                f"repetition {self.number} has {len(self.conditions)} "
                "conditions, name one of them"
            )
        nothing = Condition(
            axes={},
            number=self.number,
            planned_repetitions=self.planned_repetitions,
            counted=self.counted,
            position=1,
            state=self.state,
            expected_metrics=self.expected_metrics,
        )
        only = self.quiet[0] if self.quiet else nothing
        alone = len(self.conditions) <= 1
        return dataclasses.replace(
            only,
            state=self.state if alone or self.missing else only.state,
            missing=tuple(dict.fromkeys((*only.missing, *self.missing))),
            findings=(*self.findings, *only.findings),
        )

    @property
    def quiet(self) -> tuple[Condition, ...]:
        """The conditions without neighbours."""
        return tuple(
            one for one in self.conditions if not one.axes.get(NEIGHBOURS)
        )

    def without_neighbours(self) -> "Repetition":
        """Return it as if only the conditions without neighbours were there.

        What the others lack is still missing: the repetition is not complete.
        """
        if all(NEIGHBOURS not in one.axes for one in self.conditions):
            return self
        loud = [one for one in self.conditions if one.axes.get(NEIGHBOURS)]
        gaps = [gap for one in loud for gap in one.missing]
        return dataclasses.replace(
            self,
            conditions=tuple(
                dataclasses.replace(
                    one,
                    axes={
                        x: y for x, y in one.axes.items() if x != NEIGHBOURS
                    },
                )
                for one in self.quiet
            ),
            missing=tuple(dict.fromkeys((*self.missing, *gaps))),
        )

    def at(self, **axes: int | str) -> Condition | None:
        """Return the condition with these axes, if it is there."""
        return next((one for one in self.conditions if one.axes == axes), None)

    @property
    def all_missing(self) -> tuple[Missing, ...]:
        """All missing measurements, those of the conditions first."""
        gaps = [gap for one in self.conditions for gap in one.missing]
        return tuple(dict.fromkeys((*gaps, *self.missing)))
