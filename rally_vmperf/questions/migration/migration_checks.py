"""Checks of a migration task that run before any guest boots."""

import typing as t

from rally_vmperf import json_schema
from rally_vmperf.execution import estimate
from rally_vmperf.questions.common import task

#: JSON Schema of the arguments of the scenario.
_ARGUMENTS = json_schema.mapping(
    {
        "host": json_schema.name(type=["string", "null"]),
        "block_migration": json_schema.choice(
            ("auto", True, False), "Whether Nova copies local disks."
        ),
        "phase_seconds": json_schema.number(minimum=20, maximum=3600),
        "deadline": json_schema.number(minimum=1, maximum=86400),
    }
)
#: The defaults of these arguments.
DEFAULTS: dict[str, t.Any] = {
    "host": None,
    "block_migration": "auto",
    "phase_seconds": 60.0,
    "deadline": 300.0,
}


def check_task(subtask: task.Task) -> list[str]:
    """Reject a task that cannot be run; return warnings as a list."""
    task.check_schema(subtask.arguments, _ARGUMENTS)
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


def _check_workload(subtask: task.Task) -> None:
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
    seconds = subtask.arguments["phase_seconds"]
    (command,) = commands
    if command.seconds < seconds:
        raise task.InvalidTask(
            f"workloads: {assigned.title} runs for {command.seconds:g} s: "
            f"must be >= phase_seconds={seconds:g}; raise its duration, or "
            "lower phase_seconds"
        )
