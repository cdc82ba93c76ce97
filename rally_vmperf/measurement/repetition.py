"""The samples of one repetition of a run, for judges and reports."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf import sanitize
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.comparison import rate_caps
from rally_vmperf.measurement.samples import cpu_seconds
from rally_vmperf.measurement.samples import merged
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units

State = t.Literal["complete", "incomplete", "interrupted", "skipped"]
Bound = t.Literal["time", "size"]
#: The parameters that differ between conditions: ``{"guests": 4}``.
Axes = collections.abc.Mapping[str, int | str]

#: The axis of the number of guests of each host that are measured at once.
GUESTS = "guests"
#: The axis of the number of guests that run another workload.
NEIGHBOURS = "neighbours"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Missing:
    """A planned measurement that is missing, with the reason."""

    name: str
    machine: str
    reason: str

    def __post_init__(self) -> None:
        for field in ("name", "machine", "reason"):
            safe = sanitize.text(getattr(self, field))
            object.__setattr__(self, field, safe)

    def sentence(self) -> str:
        """Return it as one line, without a full stop."""
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

    :param repetitions: The observations of all copies, per repetition of the
        baseline; empty if the baseline does not have this number of copies.
    :param command_usage: The CPU usage of each command, added up over copies
        and repetitions.
    :param percentiles: The percentiles of all copies together, per
        repetition.
    :param distributions: The distributions of all repetitions together.
    :param time_series: The time series of all repetitions together.
    :param others: The names of further metrics of the baseline.
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

    def describe_alternatives(self, metric: sample.Metric) -> list[str]:
        """Return other metrics of the metric's tool, or else all tools.

        A tool is shown as ``component.tool.*``.
        """
        present = {
            observation.sample.metric.name
            for observations in self.repetitions
            for observation in observations
        }
        names = present.union(self.others)
        tool = _tool_of(metric.name)
        same_tool = [name for name in names if _tool_of(name) == tool]
        return sorted(same_tool or {f"{_tool_of(name)}.*" for name in names})

    def explain_missing(self, metric: sample.Metric) -> str:
        """Return the reason why bare metal does not have a metric."""
        reference_metrics = {
            observation.sample.metric
            for observations in self.repetitions
            for observation in observations
        }
        for reference_metric in reference_metrics:
            if reference_metric.name == metric.name:
                return (
                    f"baseline {self.name!r} has it as "
                    f"{_describe_metric(reference_metric)}, "
                    f"the guests as {_describe_metric(metric)}, "
                    "record the baseline again"
                )
        for distribution in self.distributions:
            if metric in sample.percentiles(distribution.metric):
                return (
                    f"baseline {self.name!r} has too few values for it in "
                    "some or all repetitions, record it with a longer run"
                )
        names = ", ".join(self.describe_alternatives(metric)) or "nothing"
        return (
            f"baseline {self.name!r} has no such metric (it has: {names}), "
            "record the baseline with the workload that measures it"
        )


def _describe_metric(metric: sample.Metric) -> str:
    return f"{metric.scale} in {metric.unit!r}, {metric.better} is better"


def _tool_of(metric: str) -> str:
    """Return the component and the tool of a metric name."""
    return ".".join(metric.split(".")[:2])


@dataclasses.dataclass(frozen=True, kw_only=True)
class HostLimit:
    """The capacity of a resource of the host, without overcommitment.

    :param guests: The number of guests that fit.
    :param resource: A description of the resource, with its machine.
    """

    guests: int
    resource: str

    def sentence(self) -> str:
        """Return it as text."""
        return f"{self.resource} hold {units.number_of('guest', self.guests)}"


#: A placeholder for bare metal that was not measured.
NO_REFERENCE = Reference(name="", machine="", recorded_at="", repetitions=())


@dataclasses.dataclass(frozen=True, kw_only=True)
class Condition:
    """The measurements of one repetition under one condition.

    :param axes: The parameters that distinguish it from the other conditions
        of the repetition; empty if there is only one.
    :param number: The number of its repetition.
    :param position: The position in the order of execution, from 1.
    :param state: The state; complete only if nothing is missing.
    :param skip_reason: The reason why it was not run, or "".
    :param machines: The names of the guests that were planned.
    :param batches: The number of groups that ran one after another.
    :param expected_metrics: The metrics of a complete condition.
    :param command_usage: The CPU usage of each command, added up over the
        machines.
    :param distributions: The distributions of all machines together.
    :param time_series: The time series of all machines together.
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
        """Return the distribution of a percentile; None without one."""
        return next(
            (
                distribution
                for distribution in self.distributions
                if metric in distribution.values()
            ),
            None,
        )

    @property
    def complete(self) -> bool:
        """Whether no measurement is missing."""
        return self.state == "complete" and not self.missing


@dataclasses.dataclass(frozen=True, kw_only=True)
class Repetition:
    """The measurements of one repetition, by condition.

    :param number: The number of the repetition, from 1, including warm-ups.
    :param planned_repetitions: The number of counted repetitions of the task.
    :param counted: False for a warm-up, whose samples are not judged.
    :param state: The state; complete only if nothing is missing.
    :param expected_metrics: The metrics of a complete repetition.
    :param conditions: The conditions of the task, including skipped ones;
        fewer if the repetition was interrupted.
    :param hosts: The host of each guest, as far as the cloud reports it: a
        name or an identifier.
    :param missing: The missing measurements that belong to no condition.
    :param findings: The findings of the whole repetition.
    :param run: The identifier of the run; identifies the repetition together
        with the number.
    :param rate_limits: The links and policies that may limit rates.
    :param host_limits: The capacities of the resources of the host whose
        size is known.
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
    rate_limits: tuple[rate_caps.Cap, ...] = ()
    host_limits: tuple[HostLimit, ...] = ()

    @property
    def condition(self) -> Condition:
        """The condition without neighbours, merged with the repetition.

        The condition is empty if the repetition ended before it.

        :raises ValueError: If the repetition has several conditions.
        """
        if len(self.quiet_conditions) > 1:
            raise ValueError(
                f"repetition {self.number} has {len(self.conditions)} "
                "conditions, name one of them"
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
        single = self.quiet_conditions[0] if self.quiet_conditions else empty
        is_only = len(self.conditions) <= 1
        return dataclasses.replace(
            single,
            state=self.state if is_only or self.missing else single.state,
            missing=tuple(dict.fromkeys((*single.missing, *self.missing))),
            findings=(*self.findings, *single.findings),
        )

    @property
    def quiet_conditions(self) -> tuple[Condition, ...]:
        """The conditions without neighbours."""
        return tuple(
            condition
            for condition in self.conditions
            if not condition.axes.get(NEIGHBOURS)
        )

    def without_neighbours(self) -> "Repetition":
        """Return a copy with the conditions without neighbours only.

        Measurements that the other conditions lack stay missing: the
        repetition is not complete.
        """
        if all(
            NEIGHBOURS not in condition.axes for condition in self.conditions
        ):
            return self
        with_neighbours = [
            condition
            for condition in self.conditions
            if condition.axes.get(NEIGHBOURS)
        ]
        gaps = [
            gap for condition in with_neighbours for gap in condition.missing
        ]
        return dataclasses.replace(
            self,
            conditions=tuple(
                dataclasses.replace(
                    condition,
                    axes={
                        axis: setting
                        for axis, setting in condition.axes.items()
                        if axis != NEIGHBOURS
                    },
                )
                for condition in self.quiet_conditions
            ),
            missing=tuple(dict.fromkeys((*self.missing, *gaps))),
        )

    def at(self, **axes: int | str) -> Condition | None:
        """Return the condition with these axes; None without one."""
        return next(
            (
                condition
                for condition in self.conditions
                if condition.axes == axes
            ),
            None,
        )

    @property
    def all_missing(self) -> tuple[Missing, ...]:
        """All missing measurements, those of the conditions first."""
        gaps = [
            gap for condition in self.conditions for gap in condition.missing
        ]
        return tuple(dict.fromkeys((*gaps, *self.missing)))
