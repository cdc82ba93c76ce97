# SPDX-License-Identifier: Apache-2.0
"""Report the resources of killed runs to the next run."""

import collections.abc
import datetime
import shlex

from rally_vmperf.guests import cloud
from rally_vmperf.guests.cleanup import inventory
from rally_vmperf.guests.cleanup import ledger
from rally_vmperf.guests.cleanup import ownership
from rally_vmperf.guests.cleanup import removal


def report_killed_runs(
    run_ledger: ledger.Ledger,
    credential: cloud.Credential,
    *,
    admin: bool,
    config_files: collections.abc.Sequence[str] = (),
) -> collections.abc.Iterator[str]:
    """Yield a line for every killed run that left resources in this cloud.

    The entry of a run that left none is deleted.

    :param credential: The credential, which shows its own project; all
        projects with ``admin``.
    :param config_files: The paths of Rally's configuration files.
    """
    yield from run_ledger.list_damaged()
    for ledger_entry in run_ledger.entries():
        if ledger_entry.process.state() == "killed" and is_visible(
            ledger_entry, credential, admin=admin
        ):
            owner = ownership.Owner(ledger_entry.prefix)
            with cloud.convert_errors("list the resources of killed runs"):
                connection = cloud.connect(credential)
                projects = [ledger_entry.project] if admin else []
                resources = inventory.Inventory(
                    connection,
                    owner.owns,
                    (owner.prefix,),
                    admin=admin,
                    projects=find_project_ids(connection, projects),
                ).list_all()
            if resources:
                yield describe_resources(ledger_entry, resources, config_files)
            else:
                run_ledger.drop(ledger_entry.owner)


def find_project_ids(
    connection: cloud.Connection, names: collections.abc.Iterable[str]
) -> tuple[str, ...]:
    """Return the identifiers of the projects with these names.

    Deleted projects have none, and a name has several if it exists in several
    domains.

    :param connection: The connection of an administrator.
    """
    return tuple(
        project.id
        for name in dict.fromkeys(filter(None, names))
        for project in connection.identity.projects(name=name)
    )


def describe_killed_runs(
    run_ledger: ledger.Ledger,
    config_files: collections.abc.Sequence[str] = (),
) -> list[str]:
    """Return a line for every killed run, without requests to the cloud.

    :param config_files: The paths of Rally's configuration files.
    """
    command = format_cleanup_command(config_files, remove=False)
    return [
        f"an earlier run was killed ({_describe_run(ledger_entry)}); "
        f"to list its resources: {command}"
        for ledger_entry in run_ledger.entries()
        if ledger_entry.process.state() == "killed"
    ]


def is_visible(
    ledger_entry: ledger.Entry, credential: cloud.Credential, *, admin: bool
) -> bool:
    """Return whether a credential shows the resources of a run."""
    same_cloud = ledger_entry.auth_url == credential["auth_url"]
    return same_cloud and (
        admin or ledger_entry.project == credential.get("tenant_name")
    )


def describe_resources(
    ledger_entry: ledger.Entry,
    resources: list[inventory.Resource],
    config_files: collections.abc.Sequence[str] = (),
) -> str:
    """Return one line with a run, its resources and the clean-up command."""
    return (
        f"left by a run that was killed ({_describe_run(ledger_entry)}): "
        f"{removal.count_by_kind(resources)}; remove with: "
        f"{format_cleanup_command(config_files)}"
    )


def _describe_run(ledger_entry: ledger.Entry) -> str:
    """Return the task and the start of a killed run as text."""
    started = datetime.datetime.fromisoformat(ledger_entry.started_at)
    return f"task {ledger_entry.task}, started {started:%Y-%m-%d %H:%M} UTC"


def format_cleanup_command(
    config_files: collections.abc.Sequence[str],
    task: str = "",
    *,
    remove: bool = True,
) -> str:
    """Return the shell command that removes the remaining resources.

    :param config_files: The paths of Rally's configuration files; the last one
        is used.
    :param task: The UUID of the only task to clean up; empty for all tasks.
    :param remove: Whether to remove the resources; otherwise list them.
    """
    command = ["rally-vmperf", "cleanup"]
    if task:
        command += ["--task", task]
    if remove:
        command += ["--yes"]
    if config_files:
        command += ["--config-file", config_files[-1]]
    return shlex.join(command)


def create_views(
    admin: cloud.Credential | None,
    users: collections.abc.Sequence[cloud.Credential],
    entries: list[ledger.Entry],
    projects: list[str],
) -> list[inventory.Inventory]:
    """Return an inventory of the cloud for each credential of an environment.

    :param admin: The credential of the administrator; None if there is none.
    :param users: The credentials of the users.
    :param entries: The entries of the ledger, whose projects an admin
        searches.
    :param projects: The names or identifiers of additional projects.
    :raises ValueError: If projects are given and there is no admin.
    """
    user_views = [inventory.Inventory(cloud.connect(user)) for user in users]
    if not admin:
        if projects:
            raise ValueError(
                f"--project {projects[0]}: requires an environment with an "
                "admin; remove the option, or select such an environment with "
                "--env"
            )
        return user_views
    connection = cloud.connect(admin)
    recorded = [
        entry.project
        for entry in entries
        if entry.auth_url == admin["auth_url"]
    ]
    with cloud.convert_errors("look for the projects of runs"):
        searched = find_project_ids(connection, [*projects, *recorded])
    return [
        inventory.Inventory(
            connection,
            admin=True,
            # An unknown name may be the identifier of a deleted project.
            projects=(*searched, *projects),
        ),
        *user_views,
    ]


def drop_entries(
    run_ledger: ledger.Ledger,
    entries: list[ledger.Entry],
    admin: cloud.Credential | None,
    users: collections.abc.Sequence[cloud.Credential],
    names: set[str],
) -> None:
    """Drop the ledger entries of ended runs without remaining resources.

    :param run_ledger: The ledger.
    :param entries: The entries of the runs.
    :param admin: The credential of the administrator; None if there is none.
    :param users: The credentials of the users.
    :param names: The names of the remaining resources.
    """
    credentials = [admin] if admin else users
    for entry in entries:
        was_searched = any(
            is_visible(entry, credential, admin=bool(admin))
            for credential in credentials
        )
        remains = any(name.startswith(entry.prefix) for name in names)
        if was_searched and not remains:
            run_ledger.drop(entry.owner)
