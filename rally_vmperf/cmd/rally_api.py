# SPDX-License-Identifier: Apache-2.0
"""Access to Rally's environments, tasks and configuration."""

import collections.abc
import contextlib
import copy
import json
import logging
import os
import pathlib
import tempfile
import typing as t
import urllib.parse

from rally_vmperf import documents
from rally_vmperf import opts
from rally_vmperf.baseline import store
from rally_vmperf.guests import credentials
from rally_vmperf.guests.cleanup import ownership

_ENDED = ("finished", "crashed", "aborted", "sla_failed", "validation_failed")


class Platform(t.TypedDict, total=False):
    """The OpenStack credentials of an environment."""

    admin: credentials.Credential | None
    users: list[credentials.Credential]


def load(config_file: str | None) -> t.Any:
    """Load Rally's configuration, and return its API object.

    :raises ValueError: If the configuration file cannot be read.
    """
    from rally import api

    # Rally waits for a pipe, and does not name a file that is not UTF-8.
    opts.read(config_file)
    rally = api.API(config_file=config_file, skip_db_check=True)
    # The final error contains the warnings of the attempts.
    logging.getLogger("keystoneauth").setLevel(logging.ERROR)
    return rally


def load_database(config_file: str | None) -> t.Any:
    """Load Rally's configuration, check its database, and return its API.

    :raises ValueError: If the database does not exist, or is that of another
        release of Rally.
    """
    from rally import exceptions

    rally = load(config_file)
    _check_database_file()
    try:
        rally.check_db_revision()
    except exceptions.RallyException as error:
        raise ValueError(f"Rally's database: {error}") from error
    return rally


def _check_database_file() -> None:
    """Reject an SQLite database that does not exist.

    SQLite would create an empty file, which every user can read.
    """
    path = _find_sqlite_path()
    if path is not None and not path.exists():
        raise ValueError(
            f"Rally's database {path} does not exist; to create it: "
            "rally-vmperf init"
        )


def _find_sqlite_path() -> pathlib.Path | None:
    """Return the path of Rally's SQLite database; None for others."""
    from rally.common import cfg

    address = urllib.parse.urlsplit(cfg.CONF.database.connection)
    path = urllib.parse.unquote(address.path.removeprefix("/"))
    if address.scheme.partition("+")[0] != "sqlite" or not path:
        return None
    return pathlib.Path(path)


def open_baseline_store(config_file: str | None) -> store.Store:
    """Return the registry of baselines from Rally's configuration."""
    return store.Store(opts.read(config_file).baseline_dir)


def get_journal_dir(config_file: str | None) -> pathlib.Path:
    """Return the directory of journals from Rally's configuration."""
    return pathlib.Path(opts.read(config_file).journal_dir)


def connect() -> t.Any:
    """Return a connection to the cloud of Rally's current environment.

    :raises ValueError: If no environment with OpenStack is in use.
    """
    from rally_vmperf.guests import cloud

    platform = get_platform(None)
    return cloud.connect(platform["admin"] or platform["users"][0])


def get_platform(env: str | None) -> Platform:
    """Return the OpenStack credentials of an environment as a dict.

    :param env: The name or UUID of the environment; None selects the current
        environment.
    :raises ValueError: If the environment does not exist or has no OpenStack.
    """
    from rally import exceptions
    from rally.cli import envutils
    from rally.env import env_mgr

    chosen = env or envutils.get_global(envutils.ENV_ENV)
    if not chosen:
        raise ValueError(
            "no environment is in use; create one with: rally-vmperf init; or "
            "select one with: rally env use, or set RALLY_ENV"
        )
    _check_database_file()
    try:
        platforms = env_mgr.EnvManager.get(chosen).data["platforms"]
    except exceptions.DBRecordNotFound as error:
        raise ValueError(
            f"environment {chosen!r} does not exist in Rally; to list the "
            "environments: rally env list"
        ) from error
    if "openstack" not in platforms:
        raise ValueError(
            f"environment {chosen} has no openstack platform (it has: "
            f"{', '.join(platforms) or 'none'}); select another with: rally "
            "env use, or set RALLY_ENV"
        )
    return t.cast(Platform, platforms["openstack"]["platform_data"])


def list_tasks() -> list[ownership.OwningTask]:
    """Return all tasks with their workloads, without results."""
    from rally.common.db import api
    from rally.common.db import models

    def query(session: t.Any) -> tuple[list[t.Any], list[t.Any]]:
        """Return the rows of tasks and of workloads as two lists.

        Rally serialises the result, which may not contain SQLAlchemy's rows.
        """
        task, workload = models.Task, models.Workload
        return (
            [*map(list, session.query(task.uuid, task.status))],
            [*map(list, session.query(workload.task_uuid, workload.uuid))],
        )

    task_rows, workload_rows = api.with_session(query)()
    workloads: dict[str, list[str]] = {}
    for task, workload in workload_rows:
        workloads.setdefault(task, []).append(workload)
    return [
        ownership.OwningTask(
            uuid=uuid,
            ended=status in _ENDED,
            workloads=tuple(workloads.get(uuid, ())),
        )
        for uuid, status in task_rows
    ]


def list_failed_hosts(
    config_file: str | None, tasks: collections.abc.Collection[str]
) -> dict[str, dict[str, str]]:
    """Return the hosts on which no guest booted, with the reason, by task.

    A subtask whose context failed has no repetition, and no journal.

    :param tasks: The UUIDs of the tasks; those that Rally does not know are
        omitted.
    """
    from rally.common.db import api
    from rally.common.db import models

    load_database(config_file)

    def query(session: t.Any) -> list[t.Any]:
        """Return the contexts of workloads with their results, as a list."""
        workload = models.Workload
        rows = session.query(
            workload.task_uuid, workload.contexts, workload.contexts_results
        ).filter(workload.task_uuid.in_(tasks))
        return [*map(list, rows)]

    failed: dict[str, dict[str, str]] = {}
    for task, contexts, results in api.with_session(query)():
        errors = [
            result["setup"]["error"][1]
            for result in results
            if (result.get("setup") or {}).get("error")
        ]
        for name, options in contexts.items():
            if errors and name.startswith("vmperf_guests"):
                hosts = options.get("hosts") or ()
                for host in [options.get("host"), *hosts]:
                    if host:
                        failed.setdefault(task, {})[host] = errors[0]
    return failed


def load_results(config_file: str | None, uuid: str | None) -> t.Any:
    """Return the results of a task in the format of ``rally task report``.

    :param config_file: The path of Rally's configuration file, or None.
    :param uuid: The UUID of the task; None selects the current task.
    :raises ValueError: If the task does not exist in Rally.
    """
    from rally import exceptions
    from rally import plugins
    from rally.cli import envutils

    chosen = uuid or envutils.get_global(envutils.ENV_TASK)
    if not chosen:
        raise ValueError(
            "no task is in use; give a task, a journal or a file of results"
        )
    try:
        rally = load_database(config_file)
        # The exporter of tasks is a plugin, which only Rally's commands load.
        plugins.load()
        content = rally.task.export([chosen], "json")["print"]
    except (exceptions.RallyException, ValueError) as error:
        raise ValueError(
            f"file {chosen} does not exist, no journal has a run, a task or "
            f"a host of this name, and Rally reports: {error}"
        ) from error
    return json.loads(content)


def mark_crashed(uuid: str) -> None:
    """Set the status of a task to crashed."""
    from rally.common import objects

    objects.Task.get(uuid).update_status("crashed")


def list_subtasks(content: documents.Arguments) -> list[documents.Arguments]:
    """Return the subtasks of a rendered task as a list.

    :param content: The rendered task.
    :raises ValueError: If Rally rejects the task; the message is one line.
    """
    from rally import exceptions
    from rally.task import task_cfg

    try:
        subtask_list = task_cfg.TaskConfig(content).subtasks
    except exceptions.InvalidTaskException as error:
        raise ValueError(str(error).partition("\n")[0]) from error
    return t.cast(list[documents.Arguments], subtask_list)


def list_slas() -> set[str]:
    """Return the names of all SLAs that Rally knows, with those of plugins."""
    from rally import plugins
    from rally.task import sla

    plugins.load()
    return {plugin.get_name() for plugin in sla.SLA.get_all()}


def create_database(config_file: str) -> pathlib.Path | None:
    """Create Rally's database if it does not exist.

    :returns: The path of an SQLite database; None for others.
    :raises ValueError: If other users can read the SQLite database, which
        contains passwords.
    """
    from rally.common import db

    load(config_file)
    path = _find_sqlite_path()
    if path is not None:
        _create_private_file(path, config_file)
    if not db.schema.schema_revision():
        db.schema.schema_create()
    return path


def _create_private_file(path: pathlib.Path, config_file: str) -> None:
    """Create an SQLite database for its owner; reject a readable one."""
    if str(path.parent) == tempfile.gettempdir():
        raise ValueError(
            f"{config_file}: the database {path} is in a directory for "
            "temporary files; set [database] connection to "
            f"sqlite:///{pathlib.Path('~/.rally/rally.sqlite').expanduser()}"
        )
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    if path.stat().st_mode & 0o077:
        raise ValueError(
            f"other users can read {path}, in which Rally stores passwords; "
            f"run: chmod 600 {path}"
        )


def register_environment(name: str, spec: documents.Arguments) -> str:
    """Create an environment, or renew its login, and use it.

    :param name: The name of the environment.
    :param spec: The options of the platform ``existing@openstack``.
    :returns: The state of the environment, a verb phrase.
    :raises ValueError: If an environment with this name has another login.
    """
    from rally import exceptions
    from rally import plugins
    from rally.cli import envutils
    from rally.env import env_mgr

    plugins.load()
    state = "exists"
    try:
        env = env_mgr.EnvManager.get(name)
    except exceptions.DBRecordNotFound:
        env = env_mgr.EnvManager.create(
            name, {"existing@openstack": copy.deepcopy(spec)}
        )
        state = "created"
    user, requested = get_platform(name)["users"][0], spec["users"][0]
    pairs = [
        (user["auth_url"], spec["auth_url"]),
        (user["username"], requested["username"]),
        (user["tenant_name"], requested["project_name"]),
    ]
    if any(stored != wanted for stored, wanted in pairs):
        raise ValueError(
            f"environment {name!r} exists in Rally with another login; remove "
            f"it with: rally env destroy {name}; rally env delete {name}; "
            "then repeat the command"
        )
    if _renew_login(env.uuid, spec):
        state = "has a new login"
    envutils.update_globals_file(envutils.ENV_ENV, env.uuid)
    return state


def _renew_login(env_uuid: str, spec: documents.Arguments) -> bool:
    """Store a changed login of the same user, such as a new password.

    Rally does not update environments, and deletes their tasks with them.

    :param env_uuid: The UUID of the environment.
    :param spec: The options of the platform ``existing@openstack``.
    :returns: Whether the login has changed.
    """
    from rally.common import db
    from rally.env import platform

    for stored in db.platforms_list(env_uuid):
        if stored["plugin_name"] == "existing@openstack":
            plugin = platform.Platform.get("existing@openstack")
            content, _ = plugin(copy.deepcopy(spec)).create()
            if stored["platform_data"] != content:
                db.platform_set_data(stored["uuid"], platform_data=content)
                return True
    return False


def run_task(
    config_file: str | None,
    env: str | None,
    content: documents.Arguments,
    show_progress: t.Callable[[], contextlib.AbstractContextManager[None]],
) -> tuple[str, str]:
    """Run a rendered task as ``rally task start`` does.

    :param env: The name of the environment; None for the current one.
    :param show_progress: A function that returns a context manager, in which
        messages of Rally are shown as progress.
    :returns: The UUID of the task, and the outcome: passed, failed or error.
    :raises ValueError: If Rally rejects the task.
    """
    from rally import exceptions
    from rally import plugins
    from rally.cli import envutils

    rally = load_database(config_file)
    plugins.load()
    chosen = env or envutils.get_global(envutils.ENV_ENV)
    uuid = str(rally.task.create(deployment=chosen)["uuid"])
    envutils.update_globals_file(envutils.ENV_TASK, uuid)
    try:
        # Rally replaces the handlers of logs when its configuration is read.
        with show_progress():
            rally.task.start(deployment=chosen, config=content, task=uuid)
    except exceptions.InvalidTaskException as error:
        raise ValueError(" ".join(str(error).split())) from error
    # Rally announces each report, and the verdicts are read from one.
    logging.getLogger("rally.api").setLevel(logging.WARNING)
    task = rally.task.get(task_id=uuid, detailed=True)
    if task["status"] in ("crashed", "validation_failed"):
        return uuid, "error"
    return uuid, "passed" if task["pass_sla"] else "failed"
