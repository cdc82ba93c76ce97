# SPDX-License-Identifier: Apache-2.0
"""Server processes, and machines that are reached through them."""

import contextlib
import json
import subprocess
import sys

from rally_vmperf.execution.stations import roles
from rally_vmperf.machines.remote import endpoint
from rally_vmperf.machines.remote import ssh


@contextlib.contextmanager
def started(kind, count):
    """Start server processes; yield descriptions; end them by their ids."""
    with contextlib.ExitStack() as stack:
        descriptions = []
        for _ in range(count):
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.bench.density.server", kind],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            stack.callback(_end, process)
            descriptions.append(json.loads(process.stdout.readline()))
        yield descriptions


def _end(process):
    process.stdin.close()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    process.stdout.close()


def stations(descriptions, count, folder):
    """Return stations, spread over the servers.

    :param descriptions: The description of each server.
    """
    places = []
    for number in range(count):
        server = descriptions[number % len(descriptions)]
        name = f"m{number + 1}"
        machine = ssh.Ssh(endpoint.Endpoint(name, user="bench", **server))
        places.append(
            roles.Station(
                name=name,
                machine=machine,
                role="copy",
                folder=f"{folder}/{name}",
            )
        )
    return places
