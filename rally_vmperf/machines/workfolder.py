"""Private work directories on machines.

A machine creates the directory itself, with an unpredictable name, and reports
the name. The programs there often run as root, so that a directory is rejected
if another user could replace one of its parents. Only such directories and
their contents are ever removed.
"""

import posixpath
import re
import shlex

from rally_vmperf import sanitize
from rally_vmperf.machines import base
from rally_vmperf.machines import scripts

#: Maximum characters of a path in Linux.
_LONGEST = 4096
#: Timeouts in seconds to create a directory, and to remove a large one.
_MAKING, _REMOVAL = 60, 600
_REFUSED = 3
_NAME = re.compile(r"rally-vmperf-[A-Za-z0-9]{10}")
#: The reasons to reject a directory, with the solutions.
_REASONS = {
    "absent": "{path} is not an accessible directory; create it: "
    "mkdir -m 0700 {path}",
    "name": "{path} has control characters in its name; use another directory",
    "owner": "{path} belongs to {detail}, who could replace its programs; "
    "change its owner to root, or use a bind mount in a directory of root: "
    "mkdir -m 0700 {parent}/rally-vmperf /srv/rally-vmperf && "
    "mount --bind {parent}/rally-vmperf /srv/rally-vmperf",
    "mode": "{path} is writable by other users (mode {detail}), who could "
    "replace its programs; run chmod go-w {path}, or use another directory",
    "given": "files that {detail} creates in {path} belong to another user; "
    "export it with no_root_squash, or use another directory",
}


async def create(machine: base.Machine, parent: str) -> str:
    """Create a work directory on a machine; return its absolute path.

    :param parent: The parent directory; a relative path is below the home
        directory of the user.
    :raises MachineError: If other users could replace the directory, or if it
        cannot be created.
    """
    done = await machine.run(
        scripts.argv("folder.bash", "make", parent),
        timeout=_MAKING,
        output_limit=2 * _LONGEST,
    )
    path = done.stdout.removesuffix("\n")
    if not done.exit_status and _is_usable(path):
        return path
    what = f"directory {parent}" if parent else "home directory"
    raise base.MachineError(
        f"{machine.name}: {what}: {_describe_failure(done, parent or '~')}"
    )


async def remove(machine: base.Machine, path: str) -> None:
    """Remove a work directory that ``create`` created on a machine.

    :raises MachineError: If the directory cannot be removed.
    """
    done = await machine.run(
        scripts.argv("folder.bash", "remove", path), timeout=_REMOVAL
    )
    done.check(f"{machine.name}: cannot remove {path}", "remove it manually")


def _is_usable(path: str) -> bool:
    """Return whether a text is a valid path of a work directory."""
    return (
        path.isprintable()
        and len(path) <= _LONGEST
        and path.startswith("/")
        and posixpath.normpath(path) == path
        and _NAME.fullmatch(posixpath.basename(path)) is not None
    )


def _describe_failure(done: base.Completed, parent: str) -> str:
    """Return the reason of a failure, with its solution, as text."""
    reason, *details = done.stdout.removesuffix("\n").split("\n", 2)
    is_refused = done.exit_status == _REFUSED and len(details) == 2
    if is_refused and reason in _REASONS:
        detail, path = map(sanitize.line, details)
        return _REASONS[reason].format(
            detail=detail, path=shlex.quote(path), parent=shlex.quote(parent)
        )
    if not done.exit_status:
        return (
            f"{sanitize.line(done.stdout)!r} is not a valid work directory; "
            "check the output of its shell at its start"
        )
    return (
        f"cannot create a work directory: {base.last_line(done.stderr)}; the "
        "machine needs bash, coreutils and a writable directory"
    )
