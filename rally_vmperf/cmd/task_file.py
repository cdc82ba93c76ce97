"""Task files."""

import argparse
import collections.abc
import difflib
import pathlib
import sys
import typing as t

from rally_vmperf import documents
from rally_vmperf import json_schema
from rally_vmperf import resources
from rally_vmperf.baseline import document
from rally_vmperf.cmd import base
from rally_vmperf.cmd import rally_api
from rally_vmperf.guests import schema
from rally_vmperf.questions import checks
from rally_vmperf.questions import limits_file
from rally_vmperf.questions import table
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task as tasks

#: The file of a task and its arguments, in the current directory.
SETTINGS = "vmperf.yaml"
_DEFAULT_TASK = "kvm-overhead.yaml"
#: The key of that file that names the task.
_TASK = "task"
#: The option for arguments of a task.
_OPTION = "--task-args"
#: The schema of the sections of a workload that the commands read.
_SECTIONS = json_schema.mapping(
    {
        "runner": json_schema.mapping(
            {"times": json_schema.integer(minimum=1)}
        ),
        "vmperf_guests": schema.OPTIONS,
    }
)
#: A workload of a task, and its question.
QuestionTask = tuple[tasks.AnyTask, question.AnyQuestion]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options for the arguments of a template."""
    parser.add_argument(
        _OPTION, metavar="YAML", help="arguments of the task template"
    )
    parser.add_argument(
        "--task-args-file",
        metavar="FILE",
        help="file with arguments of the task template",
    )


def read_settings() -> tuple[str, documents.Arguments]:
    """Return the task and the arguments in vmperf.yaml.

    :raises BaselineError: If the file does not exist in the current directory
        or names no task.
    """
    path = pathlib.Path(SETTINGS)
    if not path.exists():
        raise document.BaselineError(
            f"no task: give a task file, or run the command in the directory "
            f"of {SETTINGS}, which rally-vmperf init writes"
        )
    arguments = dict(_parse_mapping(_read_text(SETTINGS), SETTINGS))
    task = str(arguments.pop(_TASK, None) or _DEFAULT_TASK)
    return _find_task(task, f"{SETTINGS}: "), arguments


def _find_task(task: str, origin: str = "") -> str:
    """Return the path of a task: a file, or a task of the package.

    :param origin: The file that names the task, with a colon and a space.
    :raises BaselineError: If the task does not exist.
    """
    if pathlib.Path(task).exists():
        return task
    try:
        return str(resources.path("tasks", task))
    except FileNotFoundError:
        raise document.BaselineError(
            f"{origin}task {task!r}: must be a file, or the name of a task of "
            f"the package, such as {_DEFAULT_TASK}"
        ) from None


def _read_arguments(
    task: str | None, parsed: argparse.Namespace
) -> tuple[str, documents.Arguments, dict[str, str]]:
    """Return the path of a task, and the arguments of its template.

    :param task: The path of the task; None for the task in vmperf.yaml.
    :returns: The path, the arguments, and the file or option of each.
    """
    sources: list[tuple[str, documents.Arguments]] = []
    if task is None:
        task, settings = read_settings()
        sources.append((SETTINGS, settings))
    if path := parsed.task_args_file:
        sources.append((path, _parse_mapping(_read_text(path), path)))
    if parsed.task_args:
        sources.append((_OPTION, _parse_mapping(parsed.task_args, _OPTION)))
    arguments: dict[str, t.Any] = {}
    origins: dict[str, str] = {}
    for origin, given in sources:
        arguments.update(given)
        origins.update(dict.fromkeys(given, origin))
    return _find_task(task), arguments, origins


def render(
    task: str | None, parsed: argparse.Namespace
) -> documents.Arguments:
    """Return the content of a task file, rendered with its arguments.

    :param task: The path of the task; None for the task in vmperf.yaml.
    :raises BaselineError: If the task or its arguments are not valid.
    """
    path, arguments, origins = _read_arguments(task, parsed)
    return _render_task(path, arguments, origins, parsed.config_file)


def read_task(
    task: str | None, parsed: argparse.Namespace
) -> list[QuestionTask]:
    """Return each workload of a task file, with its question.

    :param task: The path of the task; None for the task in vmperf.yaml.
    :param parsed: The parsed arguments, which contain the arguments of the
        template.
    :raises BaselineError: If Rally rejects the task.
    """
    task, arguments, origins = _read_arguments(task, parsed)
    content = _render_task(task, arguments, origins, parsed.config_file)
    place = _describe_place(task, origins)
    try:
        subtasks = rally_api.list_subtasks(content)
    except ValueError as error:
        raise document.BaselineError(f"{place}: {error}") from error
    scenarios = table.scenarios()
    workloads: list[QuestionTask] = []
    for subtask in subtasks:
        title = str(subtask["title"])
        for workload in subtask["workloads"]:
            task_question = scenarios.get(workload["name"])
            if task_question is not None:
                converted = _convert(workload, title, task_question, place)
                workloads.append((converted, task_question))
    if not workloads:
        raise document.BaselineError(
            f"{task} has no scenario {' or '.join(scenarios)}"
        )
    _check_slas(task, origins, workloads)
    return workloads


def _describe_place(task: str, origins: dict[str, str]) -> str:
    """Return the files and options that define a task, for messages.

    :param origins: The file or option of each argument.
    """
    sources = ", ".join(dict.fromkeys(origins.values()))
    return f"{task} with {sources}" if sources else task


def _render_task(
    task: str,
    arguments: documents.Arguments,
    origins: dict[str, str],
    config_file: str | None,
) -> documents.Arguments:
    """Return the content of a task file, a Jinja template.

    :param origins: The file or option of each argument.
    """
    import jinja2

    text = _read_text(task)
    place = _describe_place(task, origins)
    rally = rally_api.load(config_file)
    try:
        _check_arguments(task, text, origins)
        rendered = rally.task.render_template(
            task_template=text,
            template_dir=str(pathlib.Path(task).parent),
            **arguments,
        )
    except RecursionError as error:
        raise document.BaselineError(
            f"{task}: the template has too many nested levels"
        ) from error
    except (
        jinja2.TemplateError,
        ArithmeticError,
        AttributeError,
        LookupError,
        TypeError,
        ValueError,
    ) as error:
        # A template is a program, which can raise any of these.
        line = str(error).partition("\n")[0]
        raise document.BaselineError(f"{place}: {line}") from error
    return _parse_mapping(rendered, place)


def _read_text(path: str) -> str:
    """Return the text of a file; reject one that is not a regular file."""
    try:
        return documents.read_text(pathlib.Path(path))
    except documents.DocumentError as error:
        raise document.BaselineError(error) from error


def _check_arguments(task: str, text: str, origins: dict[str, str]) -> None:
    """Reject arguments that the template of the task does not use.

    Rally ignores them, so that a misspelled limit has no effect. A file can
    name the task, as vmperf.yaml does.

    :param task: The path of the task file.
    :param text: The template.
    :param origins: The file or option of each argument, by name; SLAs are
        checked after rendering.
    :raises BaselineError: If the template does not use an argument.
    """
    import jinja2
    import jinja2.meta

    tree = jinja2.Environment().parse(text)  # noqa: S701  nothing is rendered
    if next(tree.find_all((jinja2.nodes.Include, jinja2.nodes.Extends)), None):
        return
    names = {*jinja2.meta.find_undeclared_variables(tree), *table.criteria()}
    for name, origin in origins.items():
        is_task = name == _TASK and origin != _OPTION
        if name not in names and not is_task:
            close = difflib.get_close_matches(name, names, 1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise document.BaselineError(
                f"{origin}: argument {name!r}: must be an argument of {task} "
                f"or an SLA{hint}"
            )


def _check_slas(
    task: str,
    origins: dict[str, str],
    workloads: collections.abc.Collection[QuestionTask],
) -> None:
    """Warn about SLAs that do not apply; reject SLAs that are not used.

    :param task: The path of the task file.
    :param origins: The file or option of each argument.
    :param workloads: The workloads of the task, with their questions.
    :raises BaselineError: If the template does not use an SLA that applies.
    """
    applied = {
        name
        for workload, task_question in workloads
        for name in limits_file.list_applicable_slas(
            task_question, vars(workload.arguments)
        )
    }
    used = {name for workload, _ in workloads for name in workload.criteria}
    for name, origin in origins.items():
        for line in limits_file.format_skipped([name], applied):
            base.write(sys.stderr, f"{origin}: {line}\n")
        if name in applied and name not in used:
            raise document.BaselineError(
                f"{origin}: SLA {name}: the template does not use it; add it "
                f"to the section sla of {task}"
            )


def _parse_mapping(text: str, origin: str) -> documents.Arguments:
    """Return the mapping in a YAML text; {} if empty; reject others."""
    try:
        content = documents.parse_yaml(text, origin)
    except documents.DocumentError as error:
        raise document.BaselineError(error) from error
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise document.BaselineError(
            f"{origin}: {content!r:.60}: must be a mapping of names to values"
        )
    _check_keys(content, origin)
    return content


def _check_keys(content: t.Any, origin: str) -> None:
    """Reject a key that is not text, which Rally does not expect."""
    children = content
    if isinstance(content, dict):
        for key in content:
            if not isinstance(key, str):
                raise document.BaselineError(
                    f"{origin}: key {key!r:.60}: must be text; quote it"
                )
        children = content.values()
    if isinstance(content, dict | list):
        for child in children:
            _check_keys(child, origin)


def _convert(
    workload: documents.Arguments,
    title: str,
    task_question: question.AnyQuestion,
    origin: str,
) -> tasks.AnyTask:
    """Return a workload of Rally as a task; reject an invalid one."""
    try:
        task = task_question.create_task(workload, title)
        sections = {
            "runner": workload["runner"],
            "vmperf_guests": task.guests,
        }
        tasks.check_schema(sections, _SECTIONS)
        checks.parse_criteria(task, task_question)
        # Invalid copies are rejected here.
        _ = task_question.list_copies(task)
    except tasks.InvalidTask as error:
        raise document.BaselineError(f"{origin}: {error}") from error
    return task
