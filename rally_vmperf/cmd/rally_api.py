"""All that our commands ask of Rally: options, environments, tasks."""

import argparse
import typing as t

from rally_vmperf import opts
from rally_vmperf.baseline import store
from rally_vmperf.guests import ownership

_ENDED = ("finished", "crashed", "aborted", "sla_failed", "validation_failed")


def add_argument(parser: argparse.ArgumentParser) -> None:
    """Add the option that names Rally's configuration file."""
    parser.add_argument(
        "--config-file",
        metavar="FILE",
        help="rally.conf; default: where Rally itself looks for it",
    )


def load(config_file: str | None) -> t.Any:
    """Return Rally's API object; its options and ours are loaded."""
    from rally import api
    from rally.common import opts as rally_opts

    loaded = api.API(config_file=config_file, skip_db_check=True)
    rally_opts.register_options_from_path(f"{opts.__name__}:list_opts")
    return loaded


def option(name: str) -> str:
    """Return the value of an option of the [vmperf] group."""
    from rally.common import cfg

    return t.cast(str, cfg.CONF[opts.GROUP][name])


def registry(config_file: str | None) -> store.Store:
    """Return the registry of baselines that Rally's configuration names."""
    load(config_file)
    return store.Store(option("baseline_dir"))


def connection() -> t.Any:
    """Return a connection to the cloud of Rally's current environment.

    :raises ValueError: when there is none
    """
    from rally_vmperf.guests import cloud

    found = platform(None)
    return cloud.connect(found["admin"] or found["users"][0])


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


def subtasks(content: dict[str, t.Any]) -> list[dict[str, t.Any]]:
    """Return the subtasks of a rendered task, with their workloads.

    :raises ValueError: for a task that Rally would not take, in one line
    """
    from rally import exceptions
    from rally.task import task_cfg

    try:
        found = task_cfg.TaskConfig(content).subtasks
    except exceptions.InvalidTaskException as error:
        raise ValueError(str(error).partition("\n")[0]) from error
    return t.cast(list[dict[str, t.Any]], found)
