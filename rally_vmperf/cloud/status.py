"""The status of the embedded cloud: what runs, and what it waits for."""

import datetime
import shutil
import typing as t

from rally_vmperf.cloud import preflight
from rally_vmperf.cloud.container import container
from rally_vmperf.cloud.state import credentials
from rally_vmperf.cloud.state import hypervisors
from rally_vmperf.cloud.system import layout

COLUMNS = ("Service", "Host", "State", "PID", "Since", "Trouble")
_SOCKETS = ("supervisor.sock", "supervisor-2.sock")
Row = tuple[str, str, str, str, str, str]


def describe(folders: layout.Layout) -> list[Row]:
    """Return one row for each service, and for each other fact.

    :param folders: The paths of the cloud.
    """
    runtime = container.Container(folders)
    rows: list[Row] = []
    for host, socket in zip(hypervisors.NAMES, _SOCKETS, strict=True):
        for process in runtime.processes(socket == _SOCKETS[0]):
            waiting = folders.run / "waiting" / f"{socket}-{process['name']}"
            needed = waiting.read_text() if waiting.exists() else ""
            rows.append(_describe_process(process, host, needed.strip()))
    if not rows:
        state = "stopped" if runtime.pid is None else "starting"
        rows.append(("container", "", state, "", "", ""))
    rows += [
        ("kernel module", "", f"loaded: {name}", "", "", "")
        for name in runtime.new_modules()
    ]
    return [
        *rows,
        *(("files", "", "", "", "", one) for one in _check(folders)),
    ]


def _describe_process(
    process: dict[str, t.Any], host: str, needed: str
) -> Row:
    """Return the row of one program of supervisord."""
    state = process["statename"].lower()
    # supervisord's word for a program that has done its one step.
    done = state == "exited" and process["exitstatus"] == 0
    trouble = f"waits for {needed}" if needed and state == "running" else ""
    if state in ("fatal", "backoff", "exited", "stopped") and not done:
        trouble = process["spawnerr"] or process["description"]
    since = datetime.datetime.fromtimestamp(process["start"])
    return (
        process["name"],
        host,
        "done" if done else state,
        str(process["pid"] or ""),
        since.isoformat(" ") if process["start"] else "",
        trouble,
    )


def _check(folders: layout.Layout) -> list[str]:
    """Return what is wrong with the files of a cloud."""
    if not folders.root.exists():
        return []
    wrong = []
    path = folders.etc / "secrets.json"
    lost = len(credentials.PURPOSES) - len(credentials.known(path))
    if folders.used and lost:
        wrong.append(f"{lost} secrets are missing in {path.name}")
    free = shutil.disk_usage(folders.root).free
    if free < preflight.DISK_OF_RUNNING:
        wrong.append(f"only {free / preflight.GIB:.1f} GiB of disk are free")
    return wrong
