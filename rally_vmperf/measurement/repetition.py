# SPDX-License-Identifier: Apache-2.0
"""The samples of one repetition of a run, for judges and reports."""

import collections.abc
import dataclasses
import functools
import typing as t

from rally_vmperf import documents
from rally_vmperf import formats
from rally_vmperf import sanitize
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import promises
from rally_vmperf.measurement.comparison import rate_caps
from rally_vmperf.measurement.event import phases
from rally_vmperf.measurement.samples import cpu_seconds
from rally_vmperf.measurement.samples import encoding
from rally_vmperf.measurement.samples import merged
from rally_vmperf.measurement.samples import sample

#: The descriptions of the properties of a flow; unknown ones are omitted.
_FLOW_TEXTS = {
    "peer": "to the peer",
    "partner": "to the partner guest",
    "same": "on the same host",
    "other": "on another host",
    "link": "in a network of its own",
    "router": "through a router",
}
State = t.Literal["complete", "incomplete", "interrupted", "skipped"]
Bound = t.Literal["time", "size"]
#: The parameters that differ between conditions: ``{"guests": 4}``.
Axes = collections.abc.Mapping[
    str,
    t.Annotated[
        int | str, formats.choice((int, str), "must be an integer or a text")
    ],
]
#: The axis of the number of guests of each host that are measured at once.
GUESTS = "guests"
#: The maximum number of machines, as the value of an axis.
_MAX_MACHINES = 100_000
#: The axis of the settings of guests, whose names are the values.
VARIANT = "variant"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Flow:
    """A flow between machines of a condition.

    :param target: The other end: ``peer`` or ``partner``.
    :param hosts: Whether both ends are on the ``same`` host or on ``other``
        hosts.
    :param path: Whether it uses a common ``link`` or a ``router``.
    :param machines: The number of machines with this flow.
    """

    target: t.Annotated[str, formats.one_of("peer", "partner")]
    hosts: t.Annotated[str, formats.one_of("same", "other", "unknown")]
    path: t.Annotated[str, formats.one_of("link", "router", "unknown")]
    floating_ip: bool
    machines: formats.Positive = 1

    def describe(self) -> str:
        """Return the flow as text, as far as it is known."""
        phrases = [
            _FLOW_TEXTS[text]
            for text in (self.target, self.hosts, self.path)
            if text in _FLOW_TEXTS
        ]
        if self.floating_ip:
            phrases.append("from a floating IP")
        return ", ".join(phrases)


class HasAxes(t.Protocol):
    """A condition, measured or not."""

    @property
    def axes(self) -> Axes:
        """The parameters that distinguish this condition, by name."""
        ...


ConditionT = t.TypeVar("ConditionT", bound=HasAxes)


def select(
    conditions: collections.abc.Iterable[ConditionT], **axes: int | str
) -> list[ConditionT]:
    """Return the conditions that have the given axes, as a list.

    :param axes: The value of each axis; True stands for any value except
        zero, False for zero or a condition without the axis.
    """
    return [
        condition
        for condition in conditions
        if all(
            bool(condition.axes.get(axis)) is expected
            if isinstance(expected, bool)
            else condition.axes.get(axis) == expected
            for axis, expected in axes.items()
        )
    ]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Missing:
    """A planned measurement that is missing, with the reason.

    :param name: The name of a metric or of a workload.
    """

    name: str
    machine: str
    reason: str

    def __post_init__(self) -> None:
        for field in ("name", "machine", "reason"):
            safe = sanitize.text(getattr(self, field))
            object.__setattr__(self, field, safe)

    def sentence(self) -> str:
        """Return what is missing and why as text, without a full stop."""
        return f"{self.name} of {self.machine}: {self.reason}"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Synchronisation:
    """The start skew and overlap of a command on several machines.

    :param bound: ``time`` for work of fixed duration, ``size`` for work of
        fixed amount.
    :param skew: The seconds between the first start and the last, corrected
        for the clocks; None if fewer than two machines ran it.
    :param uncertainty: The error of ``skew`` in seconds.
    :param overlap: The share of the run, 0 to 1, in which all machines
        worked: of the longest run for ``time``, of the worst counted run for
        ``size``; None as for ``skew``.
    :param metrics: The names of the metrics that the command reported.
    """

    workload: str
    command: str
    bound: Bound
    skew: formats.Number | None
    uncertainty: formats.Number | None
    overlap: formats.Share | None
    metrics: tuple[str, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Reference(formats.Stored):
    """The bare-metal samples that guests are compared with.

    :param repetitions: The observations of all copies, per repetition of the
        baseline; empty if the baseline does not have this number of copies.
    :param boots: The boot or the recording session of each repetition; empty
        if all are of one.
    :param command_usage: The CPU usage of each command, added up over copies
        and repetitions.
    :param percentiles: The percentiles of all copies together, per
        repetition.
    :param distributions: The distributions of all repetitions together.
    :param time_series: The time series of all repetitions together.
    :param others: The names of further metrics of the baseline.
    """

    name: str = dataclasses.field(default="", metadata=formats.DERIVED)
    machine: str = dataclasses.field(default="", metadata=formats.DERIVED)
    recorded_at: str = dataclasses.field(default="", metadata=formats.DERIVED)
    repetitions: encoding.Table
    boots: tuple[formats.Identifier, ...] = ()
    command_usage: tuple[cpu_seconds.Usage, ...] = ()
    percentiles: encoding.PercentileRows = ()
    distributions: tuple[merged.MergedDistribution, ...] = ()
    time_series: tuple[merged.TimeSeries, ...] = ()
    others: tuple[str, ...] = dataclasses.field(
        default=(), metadata=formats.DERIVED
    )

    @property
    def boot_count(self) -> int:
        """The number of boots or recording sessions."""
        return len(set(self.boots)) or 1

    @functools.cached_property
    def by_metric(self) -> tuple[sample.ByMetric, ...]:
        """The samples per baseline repetition, each a dict by metric."""
        return tuple(
            sample.group_by_metric(
                number,
                observations,
                {
                    metric: (percentile, 0)
                    for percentiles in self.percentiles[number - 1 : number]
                    for metric, percentile in percentiles.items()
                },
            )
            for number, observations in enumerate(self.repetitions, start=1)
        )


#: A placeholder for bare metal that was not measured.
NO_REFERENCE = Reference(repetitions=())


@dataclasses.dataclass(frozen=True, kw_only=True)
class Condition(formats.Stored):
    """The measurements of one repetition under one condition.

    The number and the properties of its repetition, and the reference, are
    known after the repetition was recorded.

    :param axes: The parameters that distinguish it from the other conditions
        of the repetition; empty if there is only one.
    :param position: The position in the order of execution, from 1.
    :param state: The state; complete only if nothing is missing.
    :param number: The number of its repetition.
    :param skip_reason: The reason why it was not run, or "".
    :param machines: The names of the guests that were planned.
    :param batches: The number of groups that ran one after another.
    :param flows: The flows of its network workloads.
    :param expected_metrics: The metrics of a complete condition.
    :param reference_copies: The number of bare-metal copies that it is
        compared with; None if the reference has no such number.
    :param command_usage: The CPU usage of each command, added up over the
        machines.
    :param distributions: The distributions of all machines together.
    :param time_series: The time series of all machines together.
    :param phase: The rates of each machine around an event, or None.
    """

    axes: Axes
    position: formats.Positive
    state: State
    number: int = dataclasses.field(default=0, metadata=formats.DERIVED)
    planned_repetitions: int = dataclasses.field(
        default=0, metadata=formats.DERIVED
    )
    counted: bool = dataclasses.field(default=True, metadata=formats.DERIVED)
    expected_metrics: tuple[sample.Metric, ...] = dataclasses.field(
        default=(), metadata=formats.DERIVED
    )
    skip_reason: str = ""
    machines: tuple[str, ...] = ()
    batches: formats.Positive = 1
    flows: tuple[Flow, ...] = ()
    observations: encoding.Row = ()
    missing: tuple[Missing, ...] = ()
    findings: tuple[finding.Finding, ...] = ()
    synchronisation: tuple[Synchronisation, ...] = ()
    reference_copies: formats.Positive | None = None
    reference: Reference = dataclasses.field(
        default=NO_REFERENCE, metadata=formats.DERIVED
    )
    command_usage: tuple[cpu_seconds.Usage, ...] = ()
    distributions: tuple[merged.MergedDistribution, ...] = ()
    time_series: tuple[merged.TimeSeries, ...] = ()
    phase: phases.Phase | None = None

    def __post_init__(self) -> None:
        guests = self.axes.get(GUESTS, 1)
        numbers = [one for one in self.axes.values() if isinstance(one, int)]
        if not isinstance(guests, int) or guests < 1:
            raise ValueError(f"{GUESTS} {guests!r:.80}: must be a number >= 1")
        if not all(0 <= number <= _MAX_MACHINES for number in numbers):
            raise ValueError(
                f"axes {numbers!r:.80}: numbers must be from 0 to "
                f"{_MAX_MACHINES}"
            )

    @functools.cached_property
    def by_metric(self) -> sample.ByMetric:
        """The samples as a dict by metric."""
        return sample.group_by_metric(
            self.number,
            self.observations,
            merged.list_percentiles(self.distributions),
            {
                name: start.overlap
                for start in self.synchronisation
                if start.overlap is not None
                for name in start.metrics
            },
        )

    @property
    def title(self) -> str:
        """The parameters as text; empty if there is only one condition."""
        return ", ".join(
            f"{axis} {position}" for axis, position in self.axes.items()
        )

    @property
    def guests(self) -> int | None:
        """The number of guests of each host; None if it never changes."""
        number = self.axes.get(GUESTS)
        return None if number is None else int(number)

    def omits(self, metric: str) -> bool:
        """Return whether a finding explains that a metric has no value.

        Times say nothing where the offered rate is not achieved.

        :param metric: The name of the metric.
        """
        return any(
            found.kind == "offered_rate_not_reached" and found.concerns(metric)
            for found in self.findings
        )

    @property
    def complete(self) -> bool:
        """Whether no measurement is missing."""
        return self.state == "complete" and not self.missing


@dataclasses.dataclass(frozen=True, kw_only=True)
class Repetition(formats.Stored):
    """The measurements of one repetition, by condition.

    :param number: The number of the repetition, from 1, including warm-ups.
    :param planned_repetitions: The number of counted repetitions of the task.
    :param counted: False for a warm-up, whose samples are not judged.
    :param state: The state; complete only if nothing is missing.
    :param expected_metrics: The metrics of a complete repetition.
    :param conditions: The conditions of the task, including skipped ones;
        fewer if the repetition was interrupted.
    :param unselected: The conditions that ``select`` left out.
    :param hosts: The host of each guest, as far as the cloud reports it: a
        name or an identifier.
    :param missing: The missing measurements that belong to no condition.
    :param findings: The findings of the whole repetition.
    :param run: The identifier of the run; identifies the repetition together
        with the number.
    :param question: The name of its question.
    :param rate_limits: The links and policies that may limit rates.
    :param sizes: The promised sizes of the guests, and those that they have.
    :param rebooted: Whether each repetition of the run is another boot of the
        guests.
    :param setting: The arguments and the shape that all repetitions of a run
        share, by name.
    """

    number: formats.Positive
    planned_repetitions: formats.Count
    counted: bool
    state: State
    expected_metrics: tuple[sample.Metric, ...]
    conditions: tuple[Condition, ...]
    unselected: tuple[Condition, ...] = dataclasses.field(
        default=(), metadata=formats.DERIVED
    )
    hosts: collections.abc.Mapping[str, str] = dataclasses.field(
        default_factory=dict, metadata=formats.DERIVED
    )
    missing: tuple[Missing, ...] = ()
    findings: tuple[finding.Finding, ...] = ()
    run: formats.Identifier = ""
    question: formats.Identifier = ""
    rate_limits: tuple[rate_caps.Cap, ...] = ()
    sizes: tuple[promises.Size, ...] = ()
    rebooted: bool = dataclasses.field(default=False, metadata=formats.DERIVED)
    setting: documents.Facts = dataclasses.field(
        default_factory=dict, metadata=formats.DERIVED
    )

    @property
    def condition(self) -> Condition:
        """The only condition, merged with the data of the repetition.

        The condition is empty if the repetition ended before it.

        :raises ValueError: If the repetition has several conditions.
        """
        if len(self.conditions) > 1:
            raise ValueError(
                f"repetition {self.number} has {len(self.conditions)} "
                "conditions, select one of them"
            )
        empty = Condition(
            axes={},
            number=self.number,
            planned_repetitions=self.planned_repetitions,
            counted=self.counted,
            position=1,
            state=self.state,
            expected_metrics=self.expected_metrics,
        )
        single = self.conditions[0] if self.conditions else empty
        return dataclasses.replace(
            single,
            state=single.state
            if self.unselected and not self.missing
            else self.state,
            missing=tuple(dict.fromkeys((*single.missing, *self.missing))),
            findings=(*self.findings, *single.findings),
        )

    def select(self, **axes: int | str) -> "Repetition":
        """Return a copy with only the conditions that have given axes.

        Measurements that the other conditions lack stay missing: the
        repetition is not complete.

        :param axes: See ``select``.
        """
        selected = tuple(select(self.conditions, **axes))
        if len(selected) == len(self.conditions):
            return self
        return dataclasses.replace(
            self,
            conditions=selected,
            unselected=(
                *self.unselected,
                *(
                    condition
                    for condition in self.conditions
                    if condition not in selected
                ),
            ),
        )

    def has_axis(self, axis: str) -> bool:
        """Return whether all conditions have an axis."""
        return all(axis in condition.axes for condition in self.conditions)

    def has_metrics(self, names: frozenset[str]) -> bool:
        """Return whether all machines of the first condition have metrics."""
        gaps = {gap.name for gap in self.all_missing}
        expected = {metric.name for metric in self.expected_metrics}
        if gaps & names or not names <= expected:
            return False
        # If it was interrupted, earlier metrics can be complete.
        return not self.missing or names <= {
            metric.name
            for condition in self.conditions[:1]
            for metric, samples in condition.by_metric.items()
            if set(condition.machines) <= samples.sources.keys()
        }

    @property
    def all_missing(self) -> tuple[Missing, ...]:
        """All missing measurements, a tuple, the conditions' ones first."""
        gaps = [
            gap
            for condition in (*self.conditions, *self.unselected)
            for gap in condition.missing
        ]
        return tuple(dict.fromkeys((*gaps, *self.missing)))


def list_conditions(
    repetitions: collections.abc.Iterable[Repetition],
) -> list[Condition]:
    """Return the conditions of all repetitions, in order."""
    return [
        condition
        for repetition in repetitions
        for condition in repetition.conditions
    ]
