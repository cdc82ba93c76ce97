"""Checks of a migration task that run before any guest boots."""

import dataclasses
import typing as t

from rally_vmperf.execution import estimate
from rally_vmperf.questions.common import task


@dataclasses.dataclass(frozen=True, kw_only=True)
class Arguments(task.Arguments):
    """The arguments of VMPerf.migration.

    :param workloads: The workloads, a list of one {name, arguments, label}. It
        must report its rate over time (fio, iperf3, h2load) in one command,
        and run for phase_seconds or longer. All guests run it; the first one
        is migrated, and in the next repetition back.
    :param host: The compute host to which the guest is migrated. Default:
        Nova chooses.
    :param block_migration: Whether Nova copies local disks: true, false, or
        auto, with which Nova decides.
    :param phase_seconds: The duration of a phase in seconds. The migration is
        requested in the middle of the second phase.
    :param deadline: The time in seconds after which the migration is aborted.
    :param peer: The other end of network workloads, which also pings the
        guest: {address, port, user, key_file, known_hosts, name, jump}.
    :param reboot: The time at which Nova stops and starts the guests: never,
        or between repetitions.
    :param shape: Not used, because the guests are not compared with bare
        metal.
    """

    host: t.Annotated[str | None, {"minLength": 1}] = None
    block_migration: t.Literal["auto", True, False] = "auto"
    phase_seconds: t.Annotated[float, {"minimum": 20, "maximum": 3600}] = 60.0
    deadline: t.Annotated[float, {"minimum": 1, "maximum": 86400}] = 300.0
    reboot: t.Literal["never", "between_workloads", "between_repetitions"] = (
        "never"
    )


Task = task.Task[Arguments]


def check_task(subtask: Task) -> list[str]:
    """Reject a task that cannot be run; return warnings as a list."""
    _check_workload(subtask)
    group = subtask.guests.get("server_group") or ""
    if group == "affinity" and subtask.count > 1:
        raise task.InvalidTask(
            "server_group=affinity: Nova does not move one guest of the group "
            "to another host; use soft-affinity, or remove it"
        )
    if "groups" in subtask.guests:
        raise task.InvalidTask(
            "groups: a migration task has one group of guests; remove groups"
        )
    return []


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
