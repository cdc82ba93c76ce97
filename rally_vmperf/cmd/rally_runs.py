"""What Rally's database knows of environments and tasks."""

import typing as t

from rally_vmperf.guests import ownership

_ENDED = ("finished", "crashed", "aborted", "sla_failed", "validation_failed")


def platform(env: str | None) -> dict[str, t.Any]:
    """Return the OpenStack credentials of an environment.

    :param env: its name or UUID; None for the one that is in use
    :raises ValueError: when there is none, or it has no OpenStack
    """
    from rally.cli import envutils
    from rally.env import env_mgr

    chosen = env or envutils.get_global(envutils.ENV_ENV)
    if not chosen:
        raise ValueError(
            "no environment is in use; name one with --env or choose one "
            "with: rally env use"
        )
    platforms = env_mgr.EnvManager.get(chosen).data["platforms"]
    if "openstack" not in platforms:
        raise ValueError(
            f"environment {chosen} has no openstack platform (it has: "
            f"{', '.join(platforms) or 'none'}); name another with --env"
        )
    return platforms["openstack"]["platform_data"]


def tasks() -> list[ownership.Task]:
    """Return all tasks with their workloads, without any results."""
    from rally.common.db import api
    from rally.common.db import models

    def ask(session: t.Any) -> dict[str, t.Any]:
        task, workload = models.Task, models.Workload
        return {
            "tasks": [
                list(row) for row in session.query(task.uuid, task.status)
            ],
            "workloads": [
                list(row)
                for row in session.query(workload.task_uuid, workload.uuid)
            ],
        }

    rows = api.with_session(ask)()
    workloads: dict[str, list[str]] = {}
    for task, workload in rows["workloads"]:
        workloads.setdefault(task, []).append(workload)
    return [
        ownership.Task(
            uuid=uuid,
            ended=status in _ENDED,
            workloads=tuple(workloads.get(uuid, ())),
        )
        for uuid, status in rows["tasks"]
    ]


def crash(uuid: str) -> None:
    """Mark a task as crashed that runs by its status only."""
    from rally.common import objects

    objects.Task.get(uuid).update_status("crashed")
