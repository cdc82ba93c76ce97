"""Report resources that killed runs left, to the next run."""

import collections.abc
import datetime
import shlex

from openstack import connection as sdk

from rally_vmperf.guests import cloud
from rally_vmperf.guests.cleanup import inventory
from rally_vmperf.guests.cleanup import ledger
from rally_vmperf.guests.cleanup import ownership


def report(
    entries: ledger.Ledger,
    credential: cloud.Credential,
    *,
    admin: bool,
    config_files: collections.abc.Sequence[str] = (),
) -> collections.abc.Iterator[str]:
    """Yield a line for every killed run that left something in this cloud.

    An entry whose run left nothing is dropped.

    :param credential: looks into its own project; into all as ``admin``
    :param config_files: Rally's configuration in use
    """
    yield from entries.damaged()
    for entry in entries.entries():
        if entry.process.state() == "killed" and visible(
            entry, credential, admin=admin
        ):
            whose = ownership.Owner(entry.prefix)
            with cloud.asking("look for what killed runs left"):
                connection = cloud.connect(credential)
                found = inventory.Inventory(
                    connection,
                    whose.owns,
                    (whose.prefix,),
                    admin=admin,
                    projects=projects(connection, [entry.project])
                    if admin
                    else (),
                ).everything()
            if found:
                yield line(entry, found, config_files)
            else:
                entries.drop(entry.owner)


def projects(
    connection: sdk.Connection, names: collections.abc.Iterable[str]
) -> tuple[str, ...]:
    """Return the identifiers of the projects with these names.

    There are none of those that are gone, and more than one where several
    domains have one of a name.

    :param connection: of an administrator
    """
    return tuple(
        one.id
        for name in dict.fromkeys(names)
        for one in (connection.identity.projects(name=name) if name else ())
    )


def known(
    entries: ledger.Ledger,
    config_files: collections.abc.Sequence[str] = (),
) -> list[str]:
    """Return a line for every killed run, without asking any cloud.

    :param config_files: Rally's configuration in use
    """
    command = shlex.join(
        ["rally-vmperf", "cleanup", *_config_options(config_files)]
    )
    return [
        f"an earlier run was killed ({_run(entry)}); see what it left with: "
        f"{command}"
        for entry in entries.entries()
        if entry.process.state() == "killed"
    ]


def visible(
    entry: ledger.Entry, credential: cloud.Credential, *, admin: bool
) -> bool:
    """Tell whether a credential shows what a run left."""
    same_cloud = entry.auth_url == credential["auth_url"]
    return same_cloud and (
        admin or entry.project == credential.get("tenant_name")
    )


def line(
    entry: ledger.Entry,
    found: list[inventory.Resource],
    config_files: collections.abc.Sequence[str] = (),
) -> str:
    """Return a line: which run left how much, and how to remove it."""
    return (
        f"left by a run that was killed ({_run(entry)}): "
        f"{inventory.count(found)}; remove with: {remedy(config_files)}"
    )


def _run(entry: ledger.Entry) -> str:
    started = datetime.datetime.fromisoformat(entry.started_at)
    return f"task {entry.task}, started {started:%Y-%m-%d %H:%M} UTC"


def remedy(config_files: collections.abc.Sequence[str], task: str = "") -> str:
    """Return the command that removes what is left, ready for a shell.

    :param config_files: Rally's configuration in use; the last one decides
    :param task: UUID, if only this task's is to go
    """
    command = ["rally-vmperf", "cleanup"]
    if task:
        command += ["--task", task]
    return shlex.join([*command, "--yes", *_config_options(config_files)])


def _config_options(config_files: collections.abc.Sequence[str]) -> list[str]:
    return ["--config-file", config_files[-1]] if config_files else []
