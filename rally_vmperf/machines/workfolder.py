"""Folders that machines make for us, closed to their other users.

A machine makes the folder itself, under a name that nobody can foresee, and
tells it afterwards. What runs there is run by us, often as root, so whoever
could replace a folder above it is refused. Nothing but such a folder, or what
is below it, is ever removed.
"""

import posixpath
import re
import shlex

from rally_vmperf import sanitize
from rally_vmperf.machines import base
from rally_vmperf.machines import scripts

#: Characters; Linux has no longer paths.
_LONGEST = 4096
#: Seconds to make one, and to remove one with gibibytes in it.
_MAKING, _REMOVAL = 60, 600
_REFUSED = 3
_NAME = re.compile(r"rally-vmperf-[A-Za-z0-9]{10}")
#: Why a folder is refused, and the way out.
_REASONS = {
    "absent": "{path} is no folder that can be entered; make it: "
    "mkdir -m 0700 {path}",
    "name": "{path} has control characters in its name; name another folder",
    "owner": "{path} belongs to {seen}, who could replace what runs there; "
    "have root own it, or name a bind mount in a folder of root's: "
    "mkdir -m 0700 {parent}/rally-vmperf /srv/rally-vmperf && "
    "mount --bind {parent}/rally-vmperf /srv/rally-vmperf",
    "mode": "{path} can be written by others (mode {seen}), who could replace "
    "what runs there; close it: chmod go-w {path}, or name another folder",
    "given": "what {seen} makes in {path} belongs to somebody else; export "
    "it with no_root_squash, or name another folder",
}


async def make(machine: base.Machine, parent: str) -> str:
    """Have a machine make a folder; return its path, without links.

    :param parent: in which folder; below the home of the user who runs our
        commands, or that itself, unless absolute
    :raises MachineError: when others could replace it, or it cannot be made
    """
    done = await machine.run(
        scripts.argv("folder.bash", "make", parent),
        timeout=_MAKING,
        output_limit=2 * _LONGEST,
    )
    path = done.stdout.removesuffix("\n")
    if not done.exit_status and _is_usable(path):
        return path
    what = f"folder {parent}" if parent else "home folder"
    raise base.MachineError(
        f"{machine.name}: {what}: {_reason(done, parent or '~')}"
    )


async def remove(machine: base.Machine, path: str) -> None:
    """Have a machine remove a folder that it made.

    :raises MachineError: when it does not, and why
    """
    done = await machine.run(
        scripts.argv("folder.bash", "remove", path), timeout=_REMOVAL
    )
    if done.exit_status:
        raise base.MachineError(
            f"{machine.name}: cannot remove {path}: "
            f"{base.last_line(done.stderr)}; remove it by hand"
        )


def _is_usable(path: str) -> bool:
    """Whether a machine's answer can be the path of a folder of ours."""
    return (
        path.isprintable()
        and len(path) <= _LONGEST
        and path.startswith("/")
        and posixpath.normpath(path) == path
        and _NAME.fullmatch(posixpath.basename(path)) is not None
    )


def _reason(done: base.Completed, parent: str) -> str:
    reason, *told = done.stdout.removesuffix("\n").split("\n", 2)
    if done.exit_status == _REFUSED and reason in _REASONS and len(told) == 2:
        seen, path = map(sanitize.line, told)
        return _REASONS[reason].format(
            seen=seen, path=shlex.quote(path), parent=shlex.quote(parent)
        )
    if not done.exit_status:
        return (
            f"{sanitize.line(done.stdout)!r} is no folder that it made; see "
            "what its shell prints when it starts"
        )
    return (
        f"none can be made there: {base.last_line(done.stderr)}; the machine "
        "needs bash, coreutils and a writable folder"
    )
