"""What a task file asks of guests, workload by workload."""

import argparse
import dataclasses
import pathlib
import typing as t

import jsonschema
import yaml

from rally_vmperf.baseline import document
from rally_vmperf.cmd import configuration
from rally_vmperf.execution import assignment
from rally_vmperf.execution import levels
from rally_vmperf.guests import errors
from rally_vmperf.guests import request
from rally_vmperf.guests import schema

_OVERHEAD, _DENSITY = "VMPerf.overhead", "VMPerf.density"
_SCENARIOS = (_OVERHEAD, _DENSITY)
_GUESTS = "vmperf_guests"

_ARGUMENTS: dict[str, t.Any] = {
    "type": "object",
    "required": ["workloads"],
    "properties": {
        "workloads": assignment.SCHEMA,
        "warmup": {"type": "integer", "minimum": 0},
        "peer": {"type": ["object", "null"], "required": ["address"]},
    },
}
#: What our commands read of a workload of a task; the rest is Rally's.
_READ: dict[str, t.Any] = {
    "type": "object",
    "properties": {
        **dict.fromkeys(_SCENARIOS, _ARGUMENTS),
        "runner": {
            "type": "object",
            "properties": {"times": {"type": "integer", "minimum": 1}},
        },
        _GUESTS: {"type": "object", "properties": schema.PROPERTIES},
    },
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Subtask:
    """One workload of a task, whichever question it asks.

    :param copies: how many guests of a host measure at once, one level after
        another
    :param guests: the options of the guests
    :param times: repetitions, those of the warm-up included
    :param contexts: names of all contexts, without their platform
    :param stops: guests are stopped while they take no part
    """

    title: str
    scenario: str
    workloads: list[dict[str, t.Any]]
    copies: tuple[int, ...]
    guests: dict[str, t.Any]
    times: int
    warmup: int
    peer: dict[str, t.Any] | None
    contexts: frozenset[str]
    stops: bool = False

    @property
    def climbs(self) -> bool:
        """Whether it goes through several numbers of guests."""
        return self.scenario == _DENSITY


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that fill a task's template."""
    parser.add_argument(
        "--task-args", metavar="YAML", help="arguments of the task's template"
    )
    parser.add_argument(
        "--task-args-file",
        metavar="FILE",
        help="file with arguments of the task's template",
    )


def read(
    task: str,
    *,
    config_file: str | None,
    args: str | None = None,
    args_file: str | None = None,
) -> list[Subtask]:
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
        _subtask(title, workload, task)
        for title, workload in _workloads(
            _render(task, arguments, config_file), task
        )
        if workload["name"] in _SCENARIOS
    ]
    if not found:
        raise document.BaselineError(
            f"{task} has no scenario {' or '.join(_SCENARIOS)}"
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
) -> list[tuple[str, dict[str, t.Any]]]:
    """Return the workloads of a task, each with its subtask's title."""
    from rally import exceptions
    from rally.task import task_cfg

    try:
        subtasks = task_cfg.TaskConfig(content).subtasks
    except exceptions.InvalidTaskException as error:
        raise document.BaselineError(f"{origin}: {_line(error)}") from error
    return [
        (str(subtask["title"]), one)
        for subtask in subtasks
        for one in subtask["workloads"]
    ]


def _subtask(title: str, workload: dict[str, t.Any], origin: str) -> Subtask:
    contexts = {
        name.split("@")[0]: value
        for name, value in workload["contexts"].items()
    }
    asked, runner = workload["args"], workload["runner"]
    guests = contexts.get(_GUESTS, {})
    scenario = workload["name"]
    seen = {scenario: asked, "runner": runner, _GUESTS: guests}
    for error in jsonschema.Draft7Validator(_READ).iter_errors(seen):
        where = ".".join(str(part) for part in error.absolute_path)
        raise document.BaselineError(f"{origin}: {where}: {error.message}")
    try:
        guests = request.one_group(guests)
    except errors.GuestError as error:
        raise document.BaselineError(f"{origin}: {error}") from error
    copies: tuple[int, ...] = (guests.get("count", schema.DEFAULTS["count"]),)
    if scenario == _DENSITY:
        try:
            copies = levels.expand(asked.get("levels"))
        except levels.LevelError as error:
            raise document.BaselineError(f"{origin}: {error}") from error
    return Subtask(
        title=title,
        scenario=scenario,
        workloads=asked["workloads"],
        copies=copies,
        guests=guests,
        times=runner.get("times", 1),
        warmup=asked.get("warmup", 0),
        peer=asked.get("peer"),
        contexts=frozenset(contexts),
        stops=asked.get("others") == "stopped",
    )


def _line(error: Exception) -> str:
    return str(error).partition("\n")[0]
