"""What the next run says about the ones that were killed."""

import collections.abc
import datetime
import shlex

from rally_vmperf.guests import cloud
from rally_vmperf.guests import inventory
from rally_vmperf.guests import ledger
from rally_vmperf.guests import ownership


def report(
    journal: ledger.Ledger,
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
    for entry in journal.entries():
        if entry.process.state() == "killed" and visible(
            entry, credential, admin=admin
        ):
            whose = ownership.Owner(entry.prefix)
            with cloud.asking("look for what killed runs left"):
                found = inventory.Inventory(
                    cloud.connect(credential), whose.owns, admin=admin
                ).everything()
            if found:
                yield line(entry, found, config_files)
            else:
                journal.drop(entry.owner)


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
    """Return who left how much, and what to do."""
    started = datetime.datetime.fromisoformat(entry.started_at)
    return (
        f"left by a run that was killed (task {entry.task}, started "
        f"{started:%Y-%m-%d %H:%M} UTC): {inventory.count(found)}; "
        f"remove with: {remedy(config_files)}"
    )


def remedy(config_files: collections.abc.Sequence[str], task: str = "") -> str:
    """Return the command that removes what is left, ready for a shell.

    :param config_files: Rally's configuration in use; the last one decides
    :param task: UUID, if only this task's is to go
    """
    words = ["rally-vmperf", "cleanup"]
    if task:
        words += ["--task", task]
    words.append("--yes")
    if config_files:
        words += ["--config-file", config_files[-1]]
    return shlex.join(words)
