# SPDX-License-Identifier: Apache-2.0
"""The question of what an event, such as a migration, costs a guest."""

import collections.abc
import dataclasses
import types
import typing as t

from rally_vmperf import documents
from rally_vmperf.execution import estimate
from rally_vmperf.judging import axis
from rally_vmperf.judging import judge
from rally_vmperf.measurement.event import figures
from rally_vmperf.measurement.event import phases
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task
from rally_vmperf.runs import event_types

if t.TYPE_CHECKING:
    from rally_vmperf.report import reports
    from rally_vmperf.runs import run_request
    from rally_vmperf.runs import runs


@dataclasses.dataclass(frozen=True, kw_only=True)
class Arguments(task.Arguments):
    """The arguments of VMPerf.event.

    :param workloads: The workloads, a list of one {name, arguments, label}. It
        must report its rate over time (fio, iperf3, h2load) in one command,
        and run for phase_seconds or longer. All guests run it; the event
        happens to the first one.
    :param event: The event: {name, and its options}. Default: {name:
        live_migration}. If the guest stops, its workload runs again as soon
        as it answers.
    :param phase_seconds: The duration of a phase in seconds. The event is
        requested in the middle of the second phase.
    :param deadline: The time in seconds after which the event is aborted.
    :param peer: The other end of network workloads, which also pings the
        guest: {address, port, user, key_file, known_hosts, name, jump}.
    :param reboot: The time at which Nova stops and starts the guests: never,
        or between repetitions.
    :param shape: Not used, because the guests are not compared with bare
        metal.
    """

    event: t.Annotated[dict[str, t.Any] | None, event_types.SCHEMA] = None
    phase_seconds: t.Annotated[float, {"minimum": 20, "maximum": 3600}] = 60.0
    deadline: t.Annotated[float, {"minimum": 1, "maximum": 86400}] = 300.0
    reboot: t.Literal["never", "between_workloads", "between_repetitions"] = (
        "never"
    )


Task = task.Task[Arguments]


def _check_workload(subtask: Task) -> None:
    """Reject workloads without a time series, or of another duration."""
    if len(subtask.assignments) != 1:
        titles = ", ".join(assigned.title for assigned in subtask.assignments)
        raise task.InvalidTask(
            f"workloads: {titles}: a phase has one workload; run one task for "
            "each of them"
        )
    (assigned,) = subtask.assignments
    if not assigned.workload.has_time_series:
        raise task.InvalidTask(
            f"workloads: {assigned.title} reports no rate over time; use fio, "
            "iperf3 or h2load"
        )
    commands = estimate.planned_commands(assigned)
    if len(commands) != 1:
        names = ", ".join(command.name for command in commands)
        raise task.InvalidTask(
            f"workloads: {assigned.title} runs several commands ({names}), "
            "and a phase has one; set its arguments so that one remains, such "
            "as patterns: [randwrite] for fio"
        )
    seconds = subtask.arguments.phase_seconds
    (command,) = commands
    if command.seconds < seconds:
        raise task.InvalidTask(
            f"workloads: {assigned.title} runs for {command.seconds:g} s: "
            f"must be >= phase_seconds={seconds:g}; raise its duration, or "
            "lower phase_seconds"
        )


_Limit = t.Annotated[float | None, {"minimum": 0}]
_BY_PATTERN = {
    "minProperties": 1,
    "propertyNames": {"type": "string"},
    "additionalProperties": {"type": "number", "minimum": 0},
}
_ByPattern = t.Annotated[
    collections.abc.Mapping[str, float] | None, _BY_PATTERN
]
_NumberOrByPattern = t.Annotated[
    float | collections.abc.Mapping[str, float] | None,
    {**_BY_PATTERN, "minimum": 0},
]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Options(judge.GuestOptions):
    """The options of vmperf_disruption.

    :param max_downtime: Largest tolerated time in which the guest does not
        run, s.
    :param max_packet_gap: Largest tolerated time without a reply to a ping
        from the peer, s.
    :param max_dip_percent: Largest tolerated loss of the rate in the deepest
        dip, percent of the rate before.
    :param max_dip_duration: Largest tolerated duration of the deepest dip, s.
    :param max_recovery_time: Largest tolerated time from the request until the
        rate is within 5 % of the rate before, s.
    :param max_peak: Metric or glob -> largest tolerated response time of the
        guest of the event, in the unit of the metric, in its highest run of
        two reports. Metrics are response_time_mean and response_time_p95 of
        h2load and latency_mean of fio.
    :param max_spike_duration: Largest tolerated duration of the spike around
        this run, s: of all of these metrics, or by metric or glob.
    :param max_neighbour_loss_percent: Largest tolerated loss of another guest
        until the end of the event, percent.
    :param max_neighbour_slowdown_percent: Largest tolerated increase of the
        response time of another guest until the end of the event, percent.
    :param max_loss_during_percent: Largest tolerated loss of the guest of
        the event in the phase during, in percent of the result before: of all
        metrics but percentiles above p50, or by metric or glob.
    :param max_loss_after_percent: Largest tolerated loss of this guest after
        the event; as max_loss_during_percent.
    """

    max_downtime: _Limit = None
    max_packet_gap: _Limit = None
    max_dip_percent: _Limit = None
    max_dip_duration: _Limit = None
    max_recovery_time: _Limit = None
    max_peak: _ByPattern = None
    max_spike_duration: _NumberOrByPattern = None
    max_neighbour_loss_percent: _Limit = None
    max_neighbour_slowdown_percent: _Limit = None
    max_loss_during_percent: _NumberOrByPattern = None
    max_loss_after_percent: _NumberOrByPattern = None


#: The options with limits of response times, and the prefix of their figures.
_OF_TIMES = {
    "max_peak": figures.PEAK_PREFIX,
    "max_spike_duration": figures.SPIKE_PREFIX,
}
#: The options with limits of the loss in a phase, and their option in a judge.
_LOSSES = {
    "max_loss_during_percent": "max_percent_during",
    "max_loss_after_percent": "max_percent",
}
#: The options with a limit of one metric.
_METRICS = {
    "max_downtime": figures.DOWNTIME,
    "max_packet_gap": figures.PACKET_GAP,
    "max_dip_percent": figures.DIP,
    "max_dip_duration": figures.DIP_DURATION,
    "max_recovery_time": figures.RECOVERY_TIME,
    "max_neighbour_loss_percent": figures.OTHERS_LOSS,
    "max_neighbour_slowdown_percent": figures.OTHERS_SLOWDOWN,
}


class Criterion(question.Criterion):
    """Limits on what an event, such as a migration, costs the guests."""

    name = "vmperf_disruption"
    heading = "Disruption"
    rules = axis.PHASES.rules
    options = Options
    limits = types.MappingProxyType(
        {
            "max_percent_during": ("ratio",),
            "max_percent": ("ratio",),
            "max": ("count",),
        }
    )

    def list_figures(self, metrics: task.Metrics) -> task.Metrics:
        """Return the figures that a run has beside the metrics of its task."""
        return (
            *figures.METRICS,
            figures.NOT_RECOVERED,
            *figures.list_time_figures(metrics),
        )

    def list_limit_options(self) -> list[str]:
        """Return the options of which the configuration needs one."""
        return [*_METRICS, *_OF_TIMES, *_LOSSES]

    def convert(self, options: documents.Arguments) -> documents.Arguments:
        """Return the options, with limits by metric in place of others."""
        limits = {
            metric.name: options[key]
            for key, metric in _METRICS.items()
            if key in options
        }
        if "max_recovery_time" in options:
            # A rate that does not recover has no recovery time.
            limits[figures.NOT_RECOVERED.name] = options["max_recovery_time"]
        for option, prefix in _OF_TIMES.items():
            by_pattern = options.get(option, {})
            if not isinstance(by_pattern, collections.abc.Mapping):
                by_pattern = {"*": by_pattern}
            for pattern, limit in by_pattern.items():
                limits[f"{prefix}{pattern}"] = limit
        losses = {
            converted: options.get(option, {})
            for option, converted in _LOSSES.items()
        }
        return {**options, **losses, "max": limits}

    def check(
        self,
        subtask: task.AnyTask,
        parsed: question.ParsedCriterion,
        baseline: t.Any,
    ) -> None:
        """Reject limits on figures that the task does not measure."""
        options = parsed.options
        if options.max_packet_gap is not None and not subtask.peer:
            raise task.InvalidTask(
                "sla vmperf_disruption max_packet_gap: the peer pings the "
                "guest, but the task has no peer; add peer: {address: ..., "
                "user: ...}"
            )
        for option in (
            "max_neighbour_loss_percent",
            "max_neighbour_slowdown_percent",
        ):
            if getattr(options, option) is not None and subtask.count < 2:
                raise task.InvalidTask(
                    f"sla vmperf_disruption {option}: the task has one guest; "
                    "set count of vmperf_guests to 2 or more"
                )


DISRUPTION = Criterion()
CRITERIA = (DISRUPTION,)


def _parse_event(subtask: Task) -> event_types.EventType:
    """Return the event of a task.

    :raises InvalidTask: If it is not valid.
    """
    try:
        return event_types.parse(subtask.arguments.event)
    except event_types.InvalidEvent as error:
        raise task.InvalidTask(str(error)) from None


class Event(question.Question[Arguments]):
    """Cost of an event; an iteration has three phases."""

    name = "event"
    scenario = "VMPerf.event"
    title = "Cost of an event"
    arguments = Arguments
    criteria = CRITERIA

    def check(self, subtask: Task) -> list[str]:
        """Reject a task that cannot be run; return warnings as a list."""
        _check_workload(subtask)
        happening = _parse_event(subtask)
        group = subtask.guests.get("server_group") or ""
        moves = "migrate_to" in happening.list_request_options()
        if group == "affinity" and subtask.count > 1 and moves:
            raise task.InvalidTask(
                "server_group=affinity: Nova does not move one guest of the "
                "group to another host; use soft-affinity, or remove it"
            )
        if "groups" in subtask.guests:
            raise task.InvalidTask(
                "groups: a task with an event has one group of guests; remove "
                "groups"
            )
        return []

    def estimate_minutes(self, subtask: Task) -> int:
        """Return the estimated duration of a task in minutes."""
        number = len(phases.PHASES)
        happening = _parse_event(subtask)
        stops = int(happening.stops_guest) + int(happening.is_undone)
        return estimate.estimate_minutes(
            subtask.assignments,
            subtask.times,
            # A workload that runs again is as long as a phase.
            levels=number + int(happening.stops_guest),
            boots=subtask.count_reboots(number) + stops * subtask.times,
        )

    def list_request_options(self, subtask: Task) -> dict[str, t.Any]:
        """Return the options of the request for guests."""
        return {
            **_parse_event(subtask).list_request_options(),
            "pinged_from": (subtask.peer or {}).get("address", ""),
        }

    def start(
        self,
        request: "run_request.RunRequest",
        arguments: Arguments,
    ) -> "runs.Run":
        """Return the run of a task, ready to start."""
        from rally_vmperf.questions.event import run

        return run.create_run(request, arguments)

    def get_section(self) -> "reports.Section[t.Any]":
        """Return the section of the HTML report for runs with an event."""
        from rally_vmperf.questions.event import section

        return section.SECTION


QUESTION = Event()
