# SPDX-License-Identifier: Apache-2.0
"""The hours, API requests and memory of an audit of many hosts.

``python -m tests.bench.audit_plan`` prints them for 40 and 1,000 hosts. The
hours are the product's own estimate of ``tasks/capacity-audit.yaml``. The
requests are those of the boots, the checks of placement and the clean-up of
each host, on a cloud in memory. The memory is that of a process that boots,
records and judges one host after the other, as Rally's process does.
"""

import argparse
import itertools
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
from unittest import mock

from rally_vmperf.cmd import task_file
from rally_vmperf.guests.booting import boot
from rally_vmperf.guests.booting import placement
from rally_vmperf.guests.cleanup import inventory
from rally_vmperf.guests.cleanup import ownership
from rally_vmperf.guests.cleanup import removal
from rally_vmperf.guests.planning import compute_hosts
from rally_vmperf.questions import source_judge
from rally_vmperf.records import journal
from tests.bench import table
from tests.unit import made as made_records
from tests.unit.guests import made
from tests.unit.guests import testing

TASK = pathlib.Path(__file__).parents[2] / "tasks" / "capacity-audit.yaml"
HOSTS = (40, 1000)
#: Six repetitions and a warm-up.
_REPETITIONS = 7
#: The number of servers after which the cloud in memory has no addresses.
_MOST_ADDRESSES = 200
_KINDS = inventory.GUEST_KINDS - {"volume", "image"}


def estimate_hours(number: int, **arguments: object) -> float:
    """Return the estimated duration of the task in hours."""
    task_arguments = {
        "hosts": [f"h{index}" for index in range(number)],
        **arguments,
    }
    parsed = argparse.Namespace(
        task_args=[json.dumps(task_arguments)],
        task_args_file=None,
        config_file=os.devnull,
        settings=None,
    )
    workloads = task_file.read_task(str(TASK), parsed)
    return (
        sum(question.estimate_minutes(task) for task, question in workloads)
        / 60
    )


def run_hosts(number: int, directory: pathlib.Path) -> int:
    """Boot, record and judge a guest on each host; return the requests."""
    names = [f"h{index}" for index in range(number)]
    cloud = _create_cloud(names)
    compute_hosts.list_usable(cloud)
    requests = len(cloud.calls)
    for index, name in enumerate(names, start=1):
        cloud.calls.clear()
        _run_host(cloud, name, directory)
        requests += len(cloud.calls)
        if index % _MOST_ADDRESSES == 0:
            cloud = _create_cloud(names)
    return requests


def _create_cloud(names: list[str]) -> testing.FakeCloud:
    """Return a cloud in memory with these hosts."""
    cloud = testing.FakeCloud()
    cloud.compute.all_zones["nova"] = names
    cloud.compute.hypervisors += [
        {"hypervisor_hostname": name, "vcpus": 64} for name in names
    ]
    free = cloud.placement.all_hosts["h1"]
    cloud.placement.all_hosts = dict.fromkeys(names, free)
    return cloud


def _run_host(
    cloud: testing.FakeCloud, name: str, directory: pathlib.Path
) -> None:
    """Boot a guest on a host, record and judge it, and delete it."""
    numbers = itertools.count()
    cloud.compute.host = name
    owner = f"c_rally_{name}"
    booted = boot.prepare(
        cloud,
        made.build_request(count=1, host=name),
        lambda: f"{owner}_{next(numbers):08}",
        lambda line: None,
        admin=cloud,
    ).run()
    written = journal.Journal(directory, name)
    records = []
    updated: dict[str, str] = {}
    for repetition in range(1, _REPETITIONS + 1):
        placement.find_changes(cloud, booted.guests, updated)
        record = made_records.with_fields(
            made_records.run_record(repetition, 1, _REPETITIONS), run=name
        )
        written.append(record)
        records.append(record)
    limits = {"vmperf_overhead": {"max_percent": {"*": 50}}}
    source_judge.judge_source(made_records.source_of(records, limits))
    removal.remove_resources(
        cloud, ownership.Owner(owner), lambda line: None, kinds=_KINDS
    )


def measure(number: int) -> tuple[int, float]:
    """Return the requests of a process of its own, and its MiB."""
    process = subprocess.run(
        [sys.executable, "-m", __spec__.name, "--hosts", str(number)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    requests, mebibytes = json.loads(process.stdout.splitlines()[-1])
    return requests, mebibytes


def main() -> None:
    """Print the table, or the figures of one number of hosts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int)
    parsed = parser.parse_args()
    if parsed.hosts:
        with (
            tempfile.TemporaryDirectory() as name,
            mock.patch("time.sleep", new=mock.Mock()),
        ):
            requests = run_hosts(parsed.hosts, pathlib.Path(name))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps([requests, peak]))
        return
    rows = [("hosts", "hours", "with density", "API requests", "memory")]
    for number in HOSTS:
        requests, mebibytes = measure(number)
        rows.append(
            (
                str(number),
                f"{estimate_hours(number):.0f}",
                f"{estimate_hours(number, density=True):.0f}",
                str(requests),
                f"{mebibytes:.0f} MiB",
            )
        )
    for line in table.padded(rows):
        print(line)


if __name__ == "__main__":
    main()
