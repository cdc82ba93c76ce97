# SPDX-License-Identifier: Apache-2.0
"""The cost of a repetition with many machines for the controller, in JSON.

It is a process of its own, so that its memory is that of one number of
machines: ``python -m tests.bench.density.controller COUNT SERVERS``.
"""

import asyncio
import gc
import json
import pathlib
import resource
import sys
import tempfile
import time

from rally_vmperf.execution import assignment
from rally_vmperf.execution import measure
from rally_vmperf.execution import measured
from rally_vmperf.records import files
from tests.bench.density import servers
from tests.bench.density import simulated

_STATUS = pathlib.Path("/proc/self/status")
#: As the output that is told was asked for.
WORK = [
    {
        "name": "sysbench",
        "arguments": {"threads": 2, "time": int(simulated.SECONDS)},
    }
]


def peak():
    """Return the most memory since the last ``forget``, in KiB."""
    for line in _STATUS.read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1])
    raise AssertionError("no VmHWM")


def forget():
    """Let the peak be what is in use now."""
    gc.collect()
    pathlib.Path("/proc/self/clear_refs").write_text("5")


async def take(descriptions, count):
    """Return what connecting and one repetition cost."""
    work = assignment.assign(WORK)
    warm = servers.stations(descriptions, 2, "/w")
    await measure.repetition(
        work, warm, None, lambda line: None, measured.Measured()
    )
    await asyncio.gather(*(station.machine.close() for station in warm))
    places = servers.stations(descriptions, count, "/w")
    forget()
    before, cpu, wall = peak(), time.process_time(), time.monotonic()
    await asyncio.gather(*(place.machine.wait_ready(120) for place in places))
    connected, connecting = peak(), time.process_time() - cpu
    dialed = time.monotonic() - wall
    cpu, wall = time.process_time(), time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        # As a run does it: what machines print goes to disk as it comes.
        raw_outputs = files.RawOutputs(pathlib.Path(folder, "raw"), sys.exit)
        printed = []

        def keep(run):
            printed.append(len(run.result.stdout))
            raw_outputs.add_output({}, run)

        result = measured.Measured(keep_raw=keep)
        await measure.repetition(work, places, None, lambda line: None, result)
        raw_outputs.close()
    measuring = time.process_time() - cpu
    lasted = time.monotonic() - wall
    most = peak()
    await asyncio.gather(*(place.machine.close() for place in places))
    if result.missing:
        raise SystemExit(f"missing: {result.missing[0]}")
    (start,) = result.starts
    return {
        "machines": count,
        "connecting_cpu": connecting,
        "connecting_kib": connected - before,
        "connecting_wall": dialed,
        "measuring_cpu": measuring,
        "measuring_kib": most - connected,
        "measuring_wall": lasted - simulated.SECONDS,
        "raw_kib": sum(printed) / 1024,
        "skew": start.skew,
        "uncertainty": start.uncertainty,
    }


def main():
    """Print one line."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    count, descriptions = int(sys.argv[1]), json.loads(sys.argv[2])
    print(json.dumps(asyncio.run(take(descriptions, count))))


if __name__ == "__main__":
    main()
