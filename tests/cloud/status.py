# SPDX-License-Identifier: Apache-2.0
"""The status of the embedded cloud: what runs, and what it waits for."""

import datetime
import shutil
import typing as t

from tests.cloud import preflight
from tests.cloud.container import container
from tests.cloud.system import layout

COLUMNS = ("Service", "Host", "State", "PID", "Since", "Trouble")
Row = tuple[str, str, str, str, str, str]


def describe(folders: layout.Layout) -> list[Row]:
    """Return one row for each service, and for each other fact."""
    runtime = container.Container(folders)
    rows: list[Row] = []
    for host, name in container.SUPERVISORS.items():
        for process in runtime.processes(name):
            waiting = folders.run / f"waiting/{name}.sock-{process['name']}"
            needed = waiting.read_text() if waiting.exists() else ""
            rows.append(_describe_process(process, host, needed.strip()))
    if not rows:
        state = "stopped" if runtime.pid is None else "starting"
        rows.append(("container", "", state, "", "", ""))
    for name in runtime.new_modules():
        rows.append(("kernel module", "", f"loaded: {name}", "", "", ""))
    if folders.root.exists():
        free = shutil.disk_usage(folders.root).free
        if free < preflight.DISK_OF_RUNNING:
            problem = f"only {free / preflight.GIB:.1f} GiB are free"
            rows.append(("disk", "", "", "", "", problem))
    return rows


def _describe_process(
    process: dict[str, t.Any], host: str, needed: str
) -> Row:
    """Return the row of one program of supervisord."""
    state = process["statename"].lower()
    # supervisord's word for a program that has done its one step.
    done = state == "exited" and process["exitstatus"] == 0
    problem = f"waits for {needed}" if needed and state == "running" else ""
    if state in ("fatal", "backoff", "exited", "stopped") and not done:
        problem = process["spawnerr"] or process["description"]
    since = datetime.datetime.fromtimestamp(process["start"])
    return (
        process["name"],
        host,
        "done" if done else state,
        str(process["pid"] or ""),
        since.isoformat(" ") if process["start"] else "",
        problem,
    )
