# SPDX-License-Identifier: Apache-2.0
"""A comparison with rally-openstack on the same evidence, in one run.

It is not a test: it prints a table, and exits with 1 only when something has
failed.  ``make bench`` brings the embedded cloud up and runs it.
"""

import argparse
import json
import pathlib
import sys
import time

from rally_vmperf.records import files
from tests.bench import table
from tests.bench import wall_time
from tests.functional import laboratory

HERE = pathlib.Path(__file__).parent
OURS = HERE / "tasks" / "ours.yaml"
PEER = HERE / "tasks" / "peer.yaml"


def main() -> int:
    """Run both, print what they cost."""
    options = parse_options()
    lab = laboratory.Laboratory("bench")
    lab.use("admin")
    arguments = list_arguments(options)
    before = lab.count()
    runs = {}
    if "ours" not in options.without:
        runs["rally_vmperf"] = _ours(lab, arguments[OURS])
    if "peer" not in options.without:
        runs["rally-openstack"] = _peer(lab, arguments[PEER])
    print("\n".join(table.lines(runs)))
    if lab.count() != before:
        print(f"left behind: {before} became {lab.count()}")
        return 1
    return 0


def list_arguments(options: argparse.Namespace) -> dict[pathlib.Path, dict]:
    """Return the arguments of each task, by its path."""
    arguments = {
        "seconds": options.seconds,
        "repetitions": options.repetitions,
        "image": "vmperf-guest",
        "flavor": "vmperf.small",
    }
    script = str(HERE / "tasks" / "evidence.sh")
    return {OURS: arguments, PEER: {**arguments, "script": script}}


def _ours(lab: laboratory.Laboratory, arguments: dict) -> wall_time.WallTime:
    arguments_of_task = (
        "--task",
        str(OURS),
        "--task-args",
        json.dumps(arguments),
    )
    lab.record_baseline("bench", *arguments_of_task)
    earlier = lab.journals()
    wall = _start(lab, OURS, arguments)
    (path,) = lab.journals() - earlier
    runs = [
        run
        for record in lab.records(path)
        for run in files.read(path.parent, record.raw_file)["runs"]
    ]
    return wall_time.by_records(wall, runs, _only(lab))


def _peer(lab: laboratory.Laboratory, arguments: dict) -> wall_time.WallTime:
    plugins = ("--plugin-paths", str(HERE / "plugins"))
    return wall_time.by_outputs(
        _start(lab, PEER, arguments, plugins), _only(lab)
    )


def _start(
    lab: laboratory.Laboratory,
    task: pathlib.Path,
    arguments: dict,
    options: tuple[str, ...] = (),
) -> float:
    began = time.monotonic()
    command = (
        "task",
        "start",
        str(task),
        "--task-args",
        json.dumps(arguments),
    )
    process = lab.rally(*options, *command, timeout=3600)
    wall = time.monotonic() - began
    if process.returncode:
        problems = laboratory.problem_lines(process)
        sys.exit(f"{task.name}: {process.returncode}{problems}")
    return wall


def _only(lab: laboratory.Laboratory) -> dict:
    report = lab.rally("task", "report", "--json", check=True)
    (subtask,) = json.loads(report.stdout)["tasks"][0]["subtasks"]
    (workload,) = subtask["workloads"]
    return workload


def parse_options(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the options of the command line, or of other words."""
    parser = argparse.ArgumentParser(prog="tests.bench", description=__doc__)
    parser.add_argument(
        "--seconds", type=int, default=10, help="of sysbench; 10"
    )
    parser.add_argument(
        "--repetitions", type=int, default=3, help="of the evidence; 3"
    )
    parser.add_argument(
        "--without",
        action="append",
        default=[],
        choices=["ours", "peer"],
        help="leave one side out",
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
