# SPDX-License-Identifier: Apache-2.0
"""A whole run of any question, on guests that take no time."""

import asyncio

from rally_vmperf.baseline import document
from rally_vmperf.execution import assignment
from rally_vmperf.execution.stations import roles
from rally_vmperf.guests import models
from rally_vmperf.machines.remote import target
from rally_vmperf.records import journal
from rally_vmperf.runs import recorded
from rally_vmperf.runs import recording
from rally_vmperf.runs import run_request
from tests.unit.guests import made
from tests.unit.guests import testing
from tests.unit.runs import golden

WORKLOADS = [{"name": "sysbench", "arguments": {"time": 2}}]
SESSION = "5" * 32
FLAVOR = models.Flavor(
    id="f1", name="tiny", vcpus=1, memory_mib=512, disk_gib=4
)


def baseline(folder, copies=(1,), rates=(8958.23,)):
    """Record bare metal in so many copies; return the document.

    :param rates: The rates that sysbench reports, one after the other.
    """
    parts = []
    for number, count in enumerate(copies, 1):
        shape_recording = recording.ShapeRecording(
            recording.RecordingPlan(
                baseline="metal",
                session=SESSION,
                assignments=assignment.assign(WORKLOADS),
                shape=document.Shape(1, 512, count),
                repetitions=3,
                warmup=0,
                directory="/var/tmp",
                is_limited=False,
                options={},
            ),
            journal.Journal(folder, f"{SESSION}-{number}"),
        )
        machine = golden.Machine(
            "metal", [golden.sysbench(rate) for rate in rates], "none"
        )
        shape_recording.measure(
            lambda machine=machine: machine, None, quiet, quiet
        )
        parts.append(shape_recording)
    return recorded.build_baseline(parts)


def quiet(line):
    """Do nothing."""


class Arrived:
    """Guests that have arrived."""

    def __init__(self, machines):
        self.runner = asyncio.Runner()
        self.stations = [
            roles.Station(
                name=machine.name,
                machine=machine,
                role="guest",
                folder="vmperf",
            )
            for machine in machines
        ]

    def close(self):
        """End the loop."""
        self.runner.close()


def build_request(folder, document, *machines, cloud=None, **changes):
    """Return the request of an interface, for these guests on one host.

    :param folder: The directory of the journal.
    :param document: A baseline, or None.
    """
    cloud = cloud or testing.FakeCloud()
    guests = []
    for machine in machines:
        server = cloud.compute.create_server(
            name=machine.name, networks=[{"uuid": "n1"}]
        )
        server.status, server.host_id = "ACTIVE", "h"
        guests.append(
            made.guest(
                machine.name,
                id=server.id,
                boot=models.create_boot_id(server.id),
                flavor=FLAVOR,
                host_id="h",
                host_key="secret",
                login=target.Login(key_file="secret"),
            )
        )
    run_cache = run_request.RunCache()
    run_cache.keep_connections("w", Arrived(machines))
    arguments = {
        "run_cache": run_cache,
        "question": "overhead",
        "task": "t",
        "owner": "w",
        "times": 3,
        "warmup": 0,
        "workloads": WORKLOADS,
        "peer": None,
        "booted": models.BootedGuests(guests=tuple(guests), client_key=""),
        "options": {"boot_timeout": 60, "ssh_timeout": 5},
        "baseline": document,
        "journal": journal.Journal(folder, "w"),
        "connect": lambda: cloud,
        "progress": quiet,
        "warn": quiet,
    }
    return run_request.RunRequest(**{**arguments, **changes})
