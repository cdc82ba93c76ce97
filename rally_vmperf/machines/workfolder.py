# SPDX-License-Identifier: Apache-2.0
"""Private work directories on machines.

A machine creates the directory itself, with an unpredictable name, and reports
the name. The programs there often run as root, so that a directory is rejected
if another user could replace one of its parents. Only such directories and
their contents are ever removed.

A run that is killed leaves its directories. A file in each of them identifies
the process that controls the run.
"""

import collections.abc
import dataclasses
import posixpath
import re
import shlex

from rally_vmperf import sanitize
from rally_vmperf.machines import base
from rally_vmperf.machines import controller
from rally_vmperf.machines import scripts

#: Maximum characters of a path in Linux.
_MAX_PATH_CHARACTERS = 4096
#: Timeouts in seconds to create or list directories, and to remove a large
#: one.
_MAKING, _REMOVAL = 60, 600
_REFUSED = 3
_NUMBER = re.compile(r"[0-9]{1,18}")
#: The path and the available bytes of a new directory.
_NEW = re.compile(r"([^\n]{1,4096})\navailable ([0-9]{1,18}|unknown)\n")
_PROCESS = re.compile(r"process ([0-9]{1,18}) ([0-9]{1,18})(?: (.*))?")
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


@dataclasses.dataclass(frozen=True, kw_only=True)
class NewDirectory:
    """A work directory that was just created.

    :param path: The absolute path.
    :param available_bytes: The number of bytes that are available in it; None
        if it is not known.
    """

    path: str
    available_bytes: int | None


async def create(machine: base.Machine, parent: str) -> NewDirectory:
    """Create a work directory on a machine, and return it.

    :param parent: The parent directory; a relative path is below the home
        directory of the user.
    :raises MachineError: If other users could replace the directory, or if it
        cannot be created.
    """
    done = await machine.run(
        scripts.argv(
            "folder.bash",
            "make",
            parent,
            str(controller.get_current_process()),
        ),
        timeout=_MAKING,
        output_limit=2 * _MAX_PATH_CHARACTERS,
    )
    match = _NEW.fullmatch(done.stdout)
    if not done.exit_status and match and _is_usable(match[1]):
        available = match[2]
        return NewDirectory(
            path=match[1],
            available_bytes=None if available == "unknown" else int(available),
        )
    what = f"directory {parent}" if parent else "home directory"
    raise base.MachineError(
        f"{machine.name}: {what}: {_describe_failure(done, parent or '~')}"
    )


async def remove(machine: base.Machine, path: str) -> None:
    """Remove a work directory that ``create`` created on a machine.

    :raises MachineError: If the directory cannot be removed.
    """
    await _remove(machine, "remove", path)


@dataclasses.dataclass(frozen=True, kw_only=True)
class FolderProcess:
    """A process of a job or a server in a work directory.

    :param uid: The ID of its user.
    :param program: The name of its program, without control characters.
    """

    pid: int
    uid: int
    program: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class WorkDirectory:
    """A work directory of any run on a machine.

    :param state: The state of the process that controls the run.
    :param kib: The size in KiB.
    :param processes: The processes in it that have no terminal.
    :param age: The time since its creation in seconds; None if it is not
        known.
    """

    path: str
    state: controller.State
    kib: int
    processes: tuple[FolderProcess, ...]
    age: int | None = None


async def find(
    machine: base.Machine, parents: collections.abc.Iterable[str]
) -> list[WorkDirectory]:
    """Return the work directories of the user on a machine as a list.

    :param parents: The parents to search; relative paths are below the home
        directory of the user.
    :raises MachineError: If the machine cannot be searched.
    """
    done = await machine.run(
        scripts.argv("folder.bash", "list", *parents), timeout=_MAKING
    )
    done.check(
        f"{machine.name}: cannot list work directories",
        "the machine needs bash, coreutils and findutils",
    )
    lines_by_directory: list[tuple[str, list[str]]] = []
    for line in done.stdout.splitlines():
        key, _, path = line.partition(" ")
        if key == "directory":
            lines_by_directory.append((path, []))
        elif lines_by_directory:
            lines_by_directory[-1][1].append(line)
    return [
        _parse_directory(path, lines)
        for path, lines in lines_by_directory
        if _is_usable(path)
    ]


def _parse_directory(
    path: str, lines: collections.abc.Iterable[str]
) -> WorkDirectory:
    """Return a directory from the lines about it; ignore invalid lines."""
    state: controller.State = "unknown"
    kib, age = 0, None
    processes = []
    for line in lines:
        key, _, content = line.partition(" ")
        if key == "owner":
            owner = controller.Process.parse(content)
            state = owner.state() if owner else "unknown"
        elif key == "kib" and _NUMBER.fullmatch(content):
            kib = int(content)
        elif key == "age" and _NUMBER.fullmatch(content):
            age = int(content)
        elif match := _PROCESS.fullmatch(line):
            pid, uid, program = match.groups("")
            processes.append(
                FolderProcess(
                    pid=int(pid),
                    uid=int(uid),
                    program=sanitize.line(program, 40),
                )
            )
    return WorkDirectory(
        path=path, state=state, kib=kib, processes=tuple(processes), age=age
    )


async def end(machine: base.Machine, path: str) -> None:
    """End the processes in a work directory, and remove it.

    :raises MachineError: If a process does not end, or the directory cannot
        be removed.
    """
    await _remove(machine, "end", path)


async def _remove(machine: base.Machine, action: str, path: str) -> None:
    """Remove a work directory by an action of the script."""
    done = await machine.run(
        scripts.argv("folder.bash", action, path), timeout=_REMOVAL
    )
    done.check(f"{machine.name}: cannot remove {path}", "remove it manually")


def _is_usable(path: str) -> bool:
    """Return whether a text is a valid path of a work directory."""
    return (
        path.isprintable()
        and len(path) <= _MAX_PATH_CHARACTERS
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
