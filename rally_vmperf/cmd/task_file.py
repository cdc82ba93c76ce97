"""What a task file asks of guests, workload by workload."""

import dataclasses
import pathlib
import typing as t

import jsonschema
import yaml

from rally_vmperf.baseline import document
from rally_vmperf.cmd import configuration
from rally_vmperf.execution import assignment
from rally_vmperf.guests import schema

_SCENARIO = "VMPerf.overhead"
_GUESTS = "vmperf_guests"

#: What a recording reads of a workload of a task; the rest is Rally's.
_READ: dict[str, t.Any] = {
    "type": "object",
    "properties": {
        _SCENARIO: {
            "type": "object",
            "required": ["workloads"],
            "properties": {
                "workloads": assignment.SCHEMA,
                "warmup": {"type": "integer", "minimum": 0},
                "peer": {"type": ["object", "null"], "required": ["address"]},
            },
        },
        "runner": {
            "type": "object",
            "properties": {"times": {"type": "integer", "minimum": 1}},
        },
        _GUESTS: {
            "type": "object",
            "properties": {
                key: schema.PROPERTIES[key] for key in ("flavor", "count")
            },
        },
    },
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Overhead:
    """One workload of a task that compares guests with bare metal.

    :param flavor: name or id of the guests' flavor, where the task has one
    :param times: repetitions, those of the warm-up included
    """

    workloads: list[dict[str, t.Any]]
    flavor: dict[str, str] | None
    guests: int
    times: int
    warmup: int
    peer: dict[str, t.Any] | None


def read(
    task: str,
    *,
    config_file: str | None,
    args: str | None = None,
    args_file: str | None = None,
) -> list[Overhead]:
    """Return what a task asks, as Rally itself reads the file.

    :param args: YAML with arguments of the task's template
    :raises BaselineError: for a task that Rally would not take
    """
    arguments: dict[str, t.Any] = {}
    if args_file:
        text = pathlib.Path(args_file).read_text("utf-8")
        arguments.update(_mapping(text, args_file))
    if args:
        arguments.update(_mapping(args, "--task-args"))
    found = [
        _overhead(workload, task)
        for workload in _workloads(_render(task, arguments, config_file), task)
        if workload["name"] == _SCENARIO
    ]
    if not found:
        raise document.BaselineError(
            f"{task} has no scenario {_SCENARIO} to record for"
        )
    return found


def _render(
    task: str, arguments: dict[str, t.Any], config_file: str | None
) -> dict[str, t.Any]:
    import jinja2

    path = pathlib.Path(task)
    text = path.read_text("utf-8")
    try:
        rendered = configuration.load(config_file).task.render_template(
            task_template=text, template_dir=str(path.parent), **arguments
        )
    except (jinja2.TemplateError, TypeError) as error:
        raise document.BaselineError(f"{task}: {_line(error)}") from error
    return _mapping(rendered, task)


def _mapping(text: str, origin: str) -> dict[str, t.Any]:
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise document.BaselineError(
            f"{origin}: no YAML: {' '.join(str(error).split())}"
        ) from error
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise document.BaselineError(
            f"{origin}: {content!r:.60} is no mapping of names to values"
        )
    return content


def _workloads(
    content: dict[str, t.Any], origin: str
) -> list[dict[str, t.Any]]:
    from rally import exceptions
    from rally.task import task_cfg

    try:
        subtasks = task_cfg.TaskConfig(content).subtasks
    except exceptions.InvalidTaskException as error:
        raise document.BaselineError(f"{origin}: {_line(error)}") from error
    return [one for subtask in subtasks for one in subtask["workloads"]]


def _overhead(workload: dict[str, t.Any], origin: str) -> Overhead:
    contexts = {
        name.split("@")[0]: value
        for name, value in workload["contexts"].items()
    }
    asked, runner = workload["args"], workload["runner"]
    guests = contexts.get(_GUESTS, {})
    seen = {_SCENARIO: asked, "runner": runner, _GUESTS: guests}
    for error in jsonschema.Draft7Validator(_READ).iter_errors(seen):
        where = ".".join(str(part) for part in error.absolute_path)
        raise document.BaselineError(f"{origin}: {where}: {error.message}")
    return Overhead(
        workloads=asked["workloads"],
        flavor=guests.get("flavor"),
        guests=guests.get("count", schema.DEFAULTS["count"]),
        times=runner.get("times", 1),
        warmup=asked.get("warmup", 0),
        peer=asked.get("peer"),
    )


def _line(error: Exception) -> str:
    return str(error).partition("\n")[0]
