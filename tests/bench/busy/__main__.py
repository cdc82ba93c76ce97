# SPDX-License-Identifier: Apache-2.0
"""A whole run on an empty cloud, and on one full of other people's things.

Rows of thousands of servers, ports and hosts are put into the embedded
cloud's own databases, and are removed in the end, also after a failure.  It
is not a test: it prints a table.  ``make bench-busy`` brings the cloud up and
runs it.
"""

import argparse
import collections
import contextlib
import os
import pathlib
import signal
import sys
import time

from tests.bench import table
from tests.bench.busy import rows
from tests.functional import laboratory

HERE = pathlib.Path(__file__).parent
SHORT = laboratory.TASKS / "short.yaml"
NETWORK = "vmperf-busy"
#: Asked again and again until something has happened.
_WAITS = ("GET /servers/detail", "GET /servers")


def main() -> int:
    """Run on both, print what they cost, leave nothing behind."""
    options = _arguments()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    lab = laboratory.Laboratory("bench-busy")
    filled = rows.Rows(pathlib.Path(laboratory.CLOUD))
    size = rows.Size(
        hosts=options.hosts, servers=options.servers, ports=options.ports
    )
    _remove(lab, filled)
    lab.record_baseline(
        "short", "--task", str(SHORT), "--flavor", "vmperf.tiny"
    )
    runs = {}
    for user in options.who:
        runs[user, "empty"] = _run(lab, user)
    before, things = filled.counted(), lab.count()
    try:
        with _template(lab) as template:
            began = time.monotonic()
            filled.fill(template, size)
            print(f"filled in {time.monotonic() - began:.0f} s: {size}")
        for name, number in filled.counted().items():
            print(f"  {name}: {before[name]} became {number}")
        for user in options.who:
            runs[user, "busy"] = _run(lab, user)
    finally:
        _remove(lab, filled)
    print("\n".join(_lines(runs)))
    after = filled.counted()
    if after != before or lab.count() != things:
        print(f"left behind: {before} became {after}")
        return 1
    return 0


def _run(lab: laboratory.Laboratory, user: str) -> dict:
    """Run the task once; return its seconds and its requests."""
    log = lab.folder / f"requests-{time.monotonic_ns()}"
    changed = {
        "VMPERF_REQUESTS": str(log),
        "PYTHONPATH": str(HERE / "hook"),
    }
    lab.use(user)
    saved = dict(os.environ)
    os.environ.update(changed)
    began = time.monotonic()
    try:
        process = lab.start(SHORT)
    finally:
        os.environ.clear()
        os.environ.update(saved)
    wall = time.monotonic() - began
    if process.returncode:
        raise SystemExit(
            f"{user}: {process.returncode}{laboratory.problem_lines(process)}"
        )
    requests = [line.split(" ", 1) for line in log.read_text().splitlines()]
    return {
        "wall": wall,
        "answers": sum(float(seconds) for seconds, _ in requests),
        "requests": collections.Counter(what for _, what in requests),
    }


def _lines(runs: dict) -> list[str]:
    """Return the table, and what was asked more or less often."""
    header = ("", "wall", "requests", "without waits", "answered in")
    cells = [header]
    for (user, state), run in runs.items():
        waits = sum(run["requests"][request] for request in _WAITS)
        number = run["requests"].total()
        cells.append(
            (
                f"{user}, {state}",
                f"{run['wall']:.0f} s",
                str(number),
                str(number - waits),
                f"{run['answers']:.1f} s",
            )
        )
    lines = list(table.padded(cells))
    for user in dict.fromkeys(user for user, _ in runs):
        empty = runs[user, "empty"]["requests"]
        busy = runs[user, "busy"]["requests"]
        for what in sorted(empty.keys() | busy.keys()):
            if empty[what] != busy[what]:
                lines.append(
                    f"{user}: {what}: {empty[what]} became {busy[what]}"
                )
    return lines


@contextlib.contextmanager
def _template(lab: laboratory.Laboratory):
    """Boot the server whose rows are copied."""
    cloud = lab.admin
    network = cloud.network.create_network(name=NETWORK)
    server = cloud.create_server(
        NETWORK,
        image="vmperf-guest",
        flavor="vmperf.tiny",
        network="public",
        auto_ip=False,
        wait=True,
        timeout=600,
    )
    try:
        (port,) = cloud.network.ports(device_id=server.id)
        yield rows.Template(
            server=server.id,
            port=port.id,
            host=cloud.compute.get_server(server.id).compute_host,
            network=network.id,
        )
    finally:
        cloud.delete_server(server.id, wait=True, timeout=300)


def _remove(lab: laboratory.Laboratory, filled: rows.Rows) -> None:
    """Remove the copies and their network, and those of a killed run."""
    filled.remove()
    for resource in lab.admin.network.networks(name=NETWORK):
        lab.admin.network.delete_network(resource)
    for resource in lab.admin.compute.servers(name=f"^{NETWORK}$"):
        lab.admin.delete_server(resource.id, wait=True, timeout=300)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="tests.bench.busy", description=__doc__
    )
    for what, number in (
        ("hosts", 1000),
        ("servers", 10000),
        ("ports", 50000),
    ):
        parser.add_argument(
            f"--{what}", type=int, default=number, help=f"{number}"
        )
    parser.add_argument(
        "--who",
        action="append",
        choices=["member", "admin"],
        help="whose run it is; both",
    )
    parsed = parser.parse_args()
    parsed.who = parsed.who or ["member", "admin"]
    return parsed


if __name__ == "__main__":
    sys.exit(main())
