"""What a baseline shall answer: from a task file, or from options."""

import argparse
import dataclasses
import pathlib
import typing as t

import yaml

from rally_vmperf.baseline import document
from rally_vmperf.baseline import matching
from rally_vmperf.cmd import configuration
from rally_vmperf.execution import assignment


@dataclasses.dataclass(frozen=True, kw_only=True)
class Question:
    """Workloads to run in copies of one shape."""

    assignments: tuple[assignment.Assignment, ...]
    shape: matching.Shape
    repetitions: int
    warmup: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class Asked:
    """All questions of a baseline, and the peer that the task names."""

    questions: tuple[Question, ...]
    peer: dict[str, t.Any] | None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what is to be measured."""
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "--task",
        metavar="FILE",
        help="task whose workloads, flavors and guests are to be covered",
    )
    what.add_argument(
        "--workload",
        action="append",
        metavar="NAME",
        help="workload with its default arguments; may be repeated",
    )
    parser.add_argument(
        "--task-args", metavar="YAML", help="arguments of the task's template"
    )
    parser.add_argument(
        "--task-args-file",
        metavar="FILE",
        help="file with arguments of the task's template",
    )
    parser.add_argument(
        "--flavor",
        action="append",
        metavar="NAME",
        help="flavor whose shape is to be held; may be repeated; default: "
        "the task's",
    )
    parser.add_argument(
        "--cpus", type=int, metavar="N", help="CPUs of one copy"
    )
    parser.add_argument(
        "--memory", type=int, metavar="MIB", help="memory of one copy, MiB"
    )
    parser.add_argument(
        "--copies",
        type=int,
        metavar="N",
        help="copies at once; default: as many as the task has guests",
    )
    parser.add_argument(
        "--repetitions",
        type=int,
        metavar="N",
        help="counted repetitions; default: the task's, else 5",
    )
    parser.add_argument(
        "--warmup",
        type=int,
        metavar="N",
        help="repetitions before them that are not counted; default: the "
        "task's, else 1",
    )


def read(parsed: argparse.Namespace) -> Asked:
    """Return the questions that the options ask.

    :raises BaselineError: for options that do not say enough
    :raises WorkloadError: for workloads that cannot be
    """
    if parsed.task:
        return _from_task(parsed)
    entries = [{"name": name} for name in parsed.workload]
    copies = parsed.copies or 1
    questions = [
        Question(
            assignments=assignment.assign(entries),
            shape=shape,
            repetitions=_given(parsed.repetitions, 5),
            warmup=_given(parsed.warmup, 1),
        )
        for shape in _shapes(parsed, parsed.flavor or [], copies)
    ]
    return Asked(questions=tuple(questions), peer=None)


def _from_task(parsed: argparse.Namespace) -> Asked:
    questions: list[Question] = []
    peer = None
    for workload in _overheads(_render(parsed)):
        contexts = {
            name.split("@")[0]: value
            for name, value in workload["contexts"].items()
        }
        arguments = workload["scenario"]["VMPerf.overhead"]
        guests = contexts.get("vmperf_guests", {})
        peer = peer or arguments.get("peer")
        warmup = arguments.get("warmup", 0)
        times = next(iter(workload["runner"].values())).get("times", 1)
        flavors = parsed.flavor or [guests["flavor"]["name"]]
        copies = parsed.copies or guests.get("count", 1)
        for shape in _shapes(parsed, flavors, copies):
            question = Question(
                assignments=assignment.assign(arguments["workloads"]),
                shape=shape,
                repetitions=_given(parsed.repetitions, times - warmup),
                warmup=_given(parsed.warmup, warmup),
            )
            if question not in questions:
                questions.append(question)
    if not questions:
        raise document.BaselineError(
            f"{parsed.task} has no scenario VMPerf.overhead to record for"
        )
    return Asked(questions=tuple(questions), peer=peer)


def _render(parsed: argparse.Namespace) -> dict[str, t.Any]:
    path = pathlib.Path(parsed.task)
    arguments: dict[str, t.Any] = {}
    if parsed.task_args_file:
        text = pathlib.Path(parsed.task_args_file).read_text("utf-8")
        arguments.update(yaml.safe_load(text) or {})
    arguments.update(yaml.safe_load(parsed.task_args or "") or {})
    rendered = configuration.load(parsed.config_file).task.render_template(
        task_template=path.read_text("utf-8"),
        template_dir=str(path.parent),
        **arguments,
    )
    return t.cast(dict[str, t.Any], yaml.safe_load(rendered))


def _overheads(task: dict[str, t.Any]) -> list[dict[str, t.Any]]:
    found = []
    for subtask in task["subtasks"]:
        for workload in subtask.get("workloads", [subtask]):
            if "VMPerf.overhead" in workload["scenario"]:
                found.append({"contexts": {}, **workload})
    return found


def _shapes(
    parsed: argparse.Namespace, flavors: list[str], copies: int
) -> list[matching.Shape]:
    if parsed.cpus and parsed.memory:
        return [matching.Shape(parsed.cpus, parsed.memory, copies)]
    if parsed.cpus or parsed.memory or not flavors:
        raise document.BaselineError(
            "the shape of the guests is not known: add --flavor NAME, or "
            "both --cpus N and --memory MIB"
        )
    cloud = configuration.connection()
    shapes = []
    for name in flavors:
        flavor = cloud.compute.find_flavor(name)
        if flavor is None:
            known = sorted(f.name for f in cloud.compute.flavors())
            raise document.BaselineError(
                f"no flavor {name!r} in the cloud (it has: {', '.join(known)})"
            )
        shapes.append(matching.Shape(flavor.vcpus, flavor.ram, copies))
    return list(dict.fromkeys(shapes))


def _given(value: int | None, default: int) -> int:
    return default if value is None else value
