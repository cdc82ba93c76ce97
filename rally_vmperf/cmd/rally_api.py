"""All that our commands ask of Rally: environments and tasks."""

import argparse
import json
import logging
import pathlib
import typing as t

from rally_vmperf import opts
from rally_vmperf.baseline import store
from rally_vmperf.guests.cleanup import ownership

_ENDED = ("finished", "crashed", "aborted", "sla_failed", "validation_failed")


def add_argument(parser: argparse.ArgumentParser) -> None:
    """Add the option that names Rally's configuration file."""
    parser.add_argument(
        "--config-file",
        metavar="FILE",
        help="rally.conf; default: where Rally itself looks for it",
    )


def load(config_file: str | None) -> t.Any:
    """Return Rally's API object, with its configuration loaded."""
    from rally import api

    found = api.API(config_file=config_file, skip_db_check=True)
    # The error that ends several attempts says what the warnings say.
    logging.getLogger("keystoneauth").setLevel(logging.ERROR)
    return found


def registry(config_file: str | None) -> store.Store:
    """Return the registry of baselines that Rally's configuration names."""
    return store.Store(opts.read(config_file).baseline_dir)


def journal_dir(config_file: str | None) -> pathlib.Path:
    """Return the directory of journals that Rally's configuration names."""
    return pathlib.Path(opts.read(config_file).journal_dir)


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
    from rally import exceptions
    from rally.cli import envutils
    from rally.env import env_mgr

    chosen = env or envutils.get_global(envutils.ENV_ENV)
    if not chosen:
        raise ValueError(
            "no environment is in use; choose one with: rally env use, or "
            "name it in RALLY_ENV"
        )
    try:
        platforms = env_mgr.EnvManager.get(chosen).data["platforms"]
    except exceptions.DBRecordNotFound as error:
        raise ValueError(
            f"Rally has no environment {chosen!r}; list those there are with: "
            "rally env list"
        ) from error
    if "openstack" not in platforms:
        raise ValueError(
            f"environment {chosen} has no openstack platform (it has: "
            f"{', '.join(platforms) or 'none'}); choose another with: rally "
            "env use, or name it in RALLY_ENV"
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


def results(config_file: str | None, uuid: str | None) -> t.Any:
    """Return a task's results, as ``rally task report --json`` writes them.

    :param uuid: None for the task that is in use
    :raises ValueError: when there is none, or Rally does not know it
    """
    from rally import exceptions
    from rally import plugins
    from rally.cli import envutils

    rally = load(config_file)
    # What exports a task is a plugin, which only Rally's own commands load.
    plugins.load()
    chosen = uuid or envutils.get_global(envutils.ENV_TASK)
    if not chosen:
        raise ValueError(
            "no task is in use; name one, a journal or a file of results"
        )
    try:
        found = rally.task.export([chosen], "json")["print"]
    except exceptions.RallyException as error:
        raise ValueError(
            f"{chosen} is no file, and Rally says: {error}"
        ) from error
    return json.loads(found)


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
