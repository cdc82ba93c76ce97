"""The same evidence by us and by rally-openstack, in one run.

It is no test: it prints a table, and exits with 1 only when something has
failed.  ``make bench`` brings the embedded cloud up and runs it.
"""

import argparse
import json
import pathlib
import sys
import time

from tests.bench import table
from tests.bench import wall_time
from tests.functional import laboratory

HERE = pathlib.Path(__file__).parent


def main() -> int:
    """Run both, print what they cost."""
    asked = _arguments()
    lab = laboratory.Laboratory("bench")
    lab.use("admin")
    arguments = {
        "seconds": asked.seconds,
        "repetitions": asked.repetitions,
        "image": "vmperf-guest",
        "flavor": "vmperf.small",
        "script": str(HERE / "tasks" / "evidence.sh"),
    }
    before = lab.count()
    runs = {}
    if "ours" not in asked.without:
        runs["rally_vmperf"] = _ours(lab, arguments)
    if "peer" not in asked.without:
        runs["rally-openstack"] = _peer(lab, arguments)
    print("\n".join(table.lines(runs)))
    if lab.count() != before:
        print(f"left behind: {before} became {lab.count()}")
        return 1
    return 0


def _ours(lab: laboratory.Laboratory, arguments: dict) -> wall_time.WallTime:
    task = HERE / "tasks" / "ours.yaml"
    words = ("--task", str(task), "--task-args", json.dumps(arguments))
    lab.record_baseline("bench", *words)
    known = lab.journals()
    wall = _start(lab, task, arguments)
    (path,) = lab.journals() - known
    runs = [
        run
        for record in lab.records(path)
        for run in lab.beside(record, "raw")["runs"]
    ]
    return wall_time.by_records(wall, runs, _only(lab))


def _peer(lab: laboratory.Laboratory, arguments: dict) -> wall_time.WallTime:
    task = HERE / "tasks" / "peer.yaml"
    plugins = ("--plugin-paths", str(HERE / "plugins"))
    return wall_time.by_outputs(
        _start(lab, task, arguments, plugins), _only(lab)
    )


def _start(
    lab: laboratory.Laboratory,
    task: pathlib.Path,
    arguments: dict,
    options: tuple[str, ...] = (),
) -> float:
    began = time.monotonic()
    words = ("task", "start", str(task), "--task-args", json.dumps(arguments))
    done = lab.rally(*options, *words, timeout=3600)
    wall = time.monotonic() - began
    if done.returncode:
        sys.exit(f"{task.name}: {done.returncode}{laboratory.said(done)}")
    return wall


def _only(lab: laboratory.Laboratory) -> dict:
    report = lab.rally("task", "report", "--json", check=True)
    (subtask,) = json.loads(report.stdout)["tasks"][0]["subtasks"]
    (workload,) = subtask["workloads"]
    return workload


def _arguments() -> argparse.Namespace:
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
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
