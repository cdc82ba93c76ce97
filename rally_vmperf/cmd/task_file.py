"""Read a task file: what it asks of guests, workload by workload."""

import argparse
import collections.abc
import difflib
import pathlib
import sys
import typing as t

from rally_vmperf import documents
from rally_vmperf import sanitize
from rally_vmperf.baseline import document
from rally_vmperf.cmd import rally_api
from rally_vmperf.guests import errors
from rally_vmperf.guests import schema
from rally_vmperf.questions import limits_file
from rally_vmperf.questions import table
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task as tasks

#: What our commands read around a scenario; the rest is Rally's.
_AROUND: dict[str, t.Any] = {
    "type": "object",
    "properties": {
        "runner": {
            "type": "object",
            "properties": {"times": {"type": "integer", "minimum": 1}},
        },
        "vmperf_guests": {"type": "object", "properties": schema.PROPERTIES},
    },
}
#: A workload of a task, and the question that it asks.
Asked = tuple[tasks.Task, question.Question]


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


def read(task: str, parsed: argparse.Namespace) -> list[Asked]:
    """Return what a task asks, workload by workload, as Rally reads it.

    :param task: its file
    :param parsed: with the options that fill its template
    :raises BaselineError: for a task that Rally would not take
    """
    arguments: dict[str, t.Any] = {}
    if parsed.task_args_file:
        text = pathlib.Path(parsed.task_args_file).read_text("utf-8")
        arguments.update(_mapping(text, parsed.task_args_file))
    if parsed.task_args:
        arguments.update(_mapping(parsed.task_args, "--task-args"))
    content = _render(task, arguments, parsed.config_file)
    try:
        subtasks = rally_api.subtasks(content)
    except ValueError as error:
        raise document.BaselineError(f"{task}: {error}") from error
    found = [
        (_task(workload, str(subtask["title"]), entry, task), entry)
        for subtask in subtasks
        for workload in subtask["workloads"]
        if (entry := table.scenarios().get(workload["name"])) is not None
    ]
    if not found:
        known = " or ".join(table.scenarios())
        raise document.BaselineError(f"{task} has no scenario {known}")
    _check_slas(task, arguments, found)
    return found


def _render(
    task: str, arguments: dict[str, t.Any], config_file: str | None
) -> dict[str, t.Any]:
    import jinja2

    path = pathlib.Path(task)
    text = path.read_text("utf-8")
    try:
        _check_arguments(task, text, arguments)
        rendered = rally_api.load(config_file).task.render_template(
            task_template=text, template_dir=str(path.parent), **arguments
        )
    except (jinja2.TemplateError, TypeError) as error:
        line = str(error).partition("\n")[0]
        raise document.BaselineError(f"{task}: {line}") from error
    return _mapping(rendered, task)


def _check_arguments(
    task: str, text: str, given: collections.abc.Iterable[str]
) -> None:
    """Reject arguments that the task's template does not use.

    Rally ignores them, so that a misspelled limit has no effect.

    :param text: The template.
    :param given: The names of arguments; SLAs are checked after rendering.
    :raises BaselineError: If the template does not use an argument.
    """
    import jinja2
    import jinja2.meta

    tree = jinja2.Environment().parse(text)  # noqa: S701  nothing is rendered
    if next(tree.find_all((jinja2.nodes.Include, jinja2.nodes.Extends)), None):
        return
    names = {*jinja2.meta.find_undeclared_variables(tree), *table.criteria()}
    for name in given:
        if name not in names:
            close = difflib.get_close_matches(name, names, 1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise document.BaselineError(
                f"{task}: argument {name!r}: must be an argument of the "
                f"template or an SLA{hint}"
            )


def _check_slas(
    task: str,
    given: collections.abc.Collection[str],
    found: collections.abc.Collection[Asked],
) -> None:
    """Report SLAs that do not apply, and reject SLAs that are not used.

    :param given: The names of the arguments.
    :param found: The workloads of the task, with their questions.
    :raises BaselineError: If the template does not use an SLA that applies.
    """
    applied = {
        name
        for asked, entry in found
        for name in limits_file.applicable(
            entry, has_neighbours=bool(asked.arguments.get("neighbours"))
        )
    }
    for line in limits_file.skipped(given, applied):
        sys.stderr.write(sanitize.printable(f"{task}: {line}") + "\n")
    used = {name for asked, _ in found for name in asked.criteria}
    for name in given:
        if name in applied and name not in used:
            raise document.BaselineError(
                f"{task}: SLA {name}: the template does not use it; add it "
                "to the section sla of the template"
            )


def _mapping(text: str, origin: str) -> dict[str, t.Any]:
    try:
        content = documents.parse_yaml(text, origin)
    except documents.DocumentError as error:
        raise document.BaselineError(error) from error
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise document.BaselineError(
            f"{origin}: {content!r:.60} is no mapping of names to values"
        )
    return content


def _task(
    workload: dict[str, t.Any],
    title: str,
    entry: question.Question,
    origin: str,
) -> tasks.Task:
    try:
        asked = tasks.of_rally(workload, entry.scenario, title, entry.defaults)
        around = {
            "runner": workload["runner"],
            "vmperf_guests": asked.guest_options,
        }
        tasks.check_form(around, _AROUND)
        # What none of our commands could do with is refused here.
        _ = asked.guests, entry.copies(asked)
    except (errors.GuestError, tasks.Refused) as error:
        raise document.BaselineError(f"{origin}: {error}") from error
    return asked
