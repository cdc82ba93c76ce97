# SPDX-License-Identifier: Apache-2.0
"""Task files."""

import argparse
import collections.abc
import itertools
import pathlib
import sys
import typing as t

from rally_vmperf import documents
from rally_vmperf import errors
from rally_vmperf import json_schema
from rally_vmperf import resources
from rally_vmperf.cmd import base
from rally_vmperf.cmd import quick
from rally_vmperf.cmd import rally_api
from rally_vmperf.cmd import template_arguments
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
#: The argument for limits by SLA, and the option for a file of them.
_LIMITS = "limits"
#: The SLA of Rally that the tasks have.
_RALLY_SLA = "failure_rate"
#: The argument for arguments of workloads.
_ARGUMENTS = "arguments"
#: The similarity of two forms of a word, such as host and hosts.
_SAME_WORD = 0.85
#: The largest number of tasks in a message.
_MAX_TASKS = 3
_LIMITS_OPTION = f"--{_LIMITS}"
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
        _OPTION,
        metavar="YAML",
        action="append",
        help="arguments of the task template; may be repeated, and the last "
        "value of an argument counts",
    )
    parser.add_argument(
        "--task-args-file",
        metavar="FILE",
        action="append",
        help="file with arguments of the task template; may be repeated",
    )
    parser.add_argument(
        "--settings",
        metavar="FILE",
        help="file with a task and its arguments, as rally-vmperf init writes "
        f"it; default without a task: {SETTINGS} in the current directory",
    )


def read_settings(
    settings: str | None = None,
) -> tuple[str, documents.Arguments]:
    """Return the task and the arguments in a file of settings.

    :param settings: The path of the file; None for vmperf.yaml in the current
        directory.
    :raises VMPerfError: If the file or the task does not exist.
    """
    task, arguments = _parse_settings(settings)
    return _find_task(task, f"{settings or SETTINGS}: "), arguments


def _parse_settings(
    settings: str | None,
) -> tuple[str, documents.Arguments]:
    """Return the name of the task and the arguments in a file of settings."""
    name = settings or SETTINGS
    path = pathlib.Path(name)
    if settings is None and not path.exists():
        raise errors.VMPerfError(
            f"no task: {path.absolute()} does not exist; name a task, or the "
            "file that rally-vmperf init wrote: --settings FILE"
        )
    text = documents.read_text(path)
    arguments = dict(_parse_mapping(text, name))
    return str(arguments.pop(_TASK, None) or _DEFAULT_TASK), arguments


def describe_source(task: str | None, parsed: argparse.Namespace) -> str:
    """Return the files and options that define a task, as text.

    :param task: The path of the task; None for the task in the settings.
    :raises VMPerfError: If the task does not exist.
    """
    path, _, origins = _read_arguments(task, parsed)
    return _describe_place(path, origins)


def _find_task(task: str, origin: str = "") -> str:
    """Return the path of a task: a file, or a task of the package.

    :param origin: The file that names the task, with a colon and a space.
    :raises VMPerfError: If the task does not exist.
    """
    if pathlib.Path(task).exists():
        return task
    try:
        return str(resources.path("tasks", task))
    except FileNotFoundError:
        raise errors.VMPerfError(
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
    if task is None or parsed.settings:
        name = parsed.settings or SETTINGS
        configured_task, settings = _parse_settings(parsed.settings)
        task = task or _find_task(configured_task, f"{name}: ")
        sources.append((name, settings))
    for path in filter(None, parsed.task_args_file or ()):
        text = documents.read_text(pathlib.Path(path))
        sources.append((path, _parse_mapping(text, path)))
    sources += [
        (_OPTION, _parse_mapping(text, _OPTION))
        for text in parsed.task_args or ()
    ]
    if limits := _get_limits(parsed):
        sources.append((_LIMITS_OPTION, {_LIMITS: limits}))
    arguments: dict[str, t.Any] = {}
    origins: dict[str, str] = {}
    for origin, given in sources:
        if isinstance(kept := arguments.get(_LIMITS), dict) and isinstance(
            given.get(_LIMITS), dict
        ):
            # By SLA, as over the limits of the task.
            given = {**given, _LIMITS: {**kept, **given[_LIMITS]}}
        arguments.update(given)
        origins.update(dict.fromkeys(given, origin))
    return _find_task(task), arguments, origins


def render(
    task: str | None, parsed: argparse.Namespace
) -> documents.Arguments:
    """Return the content of a task file, rendered with its arguments.

    :param task: The path of the task; None for the task in vmperf.yaml.
    :raises VMPerfError: If the task or its arguments are not valid.
    """
    path, arguments, origins = _read_arguments(task, parsed)
    content, _ = _render_task(path, arguments, origins, parsed.config_file)
    _remove_foreign_slas(content, _get_limits(parsed))
    _shorten(content, parsed)
    return content


def _shorten(content: documents.Arguments, parsed: argparse.Namespace) -> None:
    """Shorten the measurements of a rendered task if an option says so."""
    if getattr(parsed, "quick", False):
        quick.shorten_task(content)


def read_task(
    task: str | None, parsed: argparse.Namespace
) -> list[QuestionTask]:
    """Return each workload of a task file, with its question.

    :param task: The path of the task; None for the task in vmperf.yaml.
    :param parsed: The parsed arguments, which contain the arguments of the
        template.
    :raises VMPerfError: If Rally rejects the task.
    """
    task, arguments, origins = _read_arguments(task, parsed)
    content, warnings = _render_task(
        task, arguments, origins, parsed.config_file
    )
    file_limits = _get_limits(parsed)
    _remove_foreign_slas(content, file_limits)
    _shorten(content, parsed)
    place = _describe_place(task, origins)
    try:
        subtasks = rally_api.list_subtasks(content)
    except ValueError as error:
        raise errors.VMPerfError(f"{place}: {error}") from error
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
        raise errors.VMPerfError(
            f"{task} has no scenario {' or '.join(scenarios)}"
        )
    warnings += [
        f"{_LIMITS_OPTION}: {line}"
        for line in limits_file.format_skipped(
            file_limits, _list_applicable_slas(workloads)
        )
    ]
    for line in warnings:
        base.write(sys.stderr, f"{line}\n")
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
) -> tuple[documents.Arguments, list[str]]:
    """Return the content of a task file, a Jinja template, and warnings.

    :param origins: The file or option of each argument.
    """
    import jinja2

    text = documents.read_text(pathlib.Path(task))
    place = _describe_place(task, origins)
    rally = rally_api.load(config_file)
    try:
        warnings = _check_arguments(task, text, arguments, origins)
        rendered = rally.task.render_template(
            task_template=text,
            template_dir=str(pathlib.Path(task).parent),
            **arguments,
        )
    except RecursionError as error:
        raise errors.VMPerfError(
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
        raise errors.VMPerfError(f"{place}: {line}") from error
    return _parse_mapping(rendered, place), warnings


def _check_arguments(
    task: str,
    text: str,
    arguments: documents.Arguments,
    origins: dict[str, str],
) -> list[str]:
    """Reject arguments that the template of the task does not use.

    Rally ignores them, so that a misspelled limit has no effect. A file can
    name the task, as vmperf.yaml does.

    :param task: The path of the task file.
    :param text: The template.
    :param origins: The file or option of each argument, by name.
    :returns: Warnings, one line each.
    :raises VMPerfError: If the template does not use an argument, or if it
        requires another kind of value.
    """
    import jinja2
    import jinja2.meta

    tree = jinja2.Environment().parse(text)  # noqa: S701  nothing is rendered
    if next(tree.find_all((jinja2.nodes.Include, jinja2.nodes.Extends)), None):
        return []
    names = {*jinja2.meta.find_undeclared_variables(tree)}
    for name, origin in origins.items():
        is_task = name == _TASK and origin != _OPTION
        if name not in names and not is_task:
            raise errors.VMPerfError(
                f"{origin}: argument {name!r}: must be an argument of "
                f"{task}{_hint_at_argument(name, names)}"
            )
    return template_arguments.check(tree, arguments, origins)


def _hint_at_argument(
    name: str, names: collections.abc.Collection[str]
) -> str:
    """Return where a name belongs that is not an argument of a task, or "".

    :param names: The arguments of the task.
    """
    if _LIMITS in names and name in _list_sla_names():
        return f"; set it in the argument {_LIMITS}, by SLA"
    if others := _list_tasks_with(name):
        shown = ", ".join(others[:_MAX_TASKS])
        similar = template_arguments.hint(name, names, _SAME_WORD)
        return (
            f"; it belongs to {shown}: use such a task, or remove it{similar}"
        )
    similar = template_arguments.hint(name, names)
    if similar or _ARGUMENTS not in names:
        return similar
    return (
        f"; set arguments of workloads in {_ARGUMENTS}, by their names, such "
        f"as {_ARGUMENTS}: {{fio: {{size_mib: 4096}}}}"
    )


def _list_tasks_with(name: str) -> list[str]:
    """Return the tasks of the package that have an argument, as a list."""
    import jinja2
    import jinja2.meta

    environment = jinja2.Environment()  # noqa: S701  nothing is rendered
    folder = pathlib.Path(resources.path("tasks"))
    return [
        path.name
        for path in sorted(folder.glob("*.yaml"))
        if not path.name.endswith(".embedded.yaml")
        and name
        in jinja2.meta.find_undeclared_variables(
            environment.parse(path.read_text())
        )
    ]


def _list_sla_names() -> set[str]:
    """Return the names of SLAs and of their options with limits, as a set."""
    criteria = table.criteria()
    options = (
        criterion.list_limit_options() for criterion in criteria.values()
    )
    return {*criteria, *itertools.chain.from_iterable(options)}


def _get_limits(parsed: argparse.Namespace) -> limits_file.Limits:
    """Return the limits in the file of ``--limits``, which may be absent.

    :raises VMPerfError: If the file is not a valid limits file.
    """
    path = getattr(parsed, _LIMITS, None)
    return limits_file.read_limits(path) if path else {}


def _remove_foreign_slas(
    content: documents.Arguments, file_limits: limits_file.Limits
) -> None:
    """Remove the SLAs of a limits file from subtasks that they do not fit.

    :param content: The rendered task.
    """
    scenarios = table.scenarios()
    subtasks = content.get("subtasks")
    for subtask in subtasks if isinstance(subtasks, list) else ():
        for name, arguments in subtask.get("scenario", {}).items():
            if name not in scenarios:
                continue
            applicable = limits_file.list_applicable_slas(
                scenarios[name], arguments
            )
            for sla in file_limits:
                if sla not in applicable:
                    subtask.get("sla", {}).pop(sla, None)


def _list_applicable_slas(
    workloads: collections.abc.Collection[QuestionTask],
) -> set[str]:
    """Return the names of the SLAs that apply to a task, as a set."""
    return {
        name
        for workload, task_question in workloads
        for name in limits_file.list_applicable_slas(
            task_question, vars(workload.arguments)
        )
    }


def _parse_mapping(text: str, origin: str) -> documents.Arguments:
    """Return the mapping in a YAML text; {} if empty; reject others."""
    content = documents.parse_yaml(text, origin)
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise errors.VMPerfError(
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
                raise errors.VMPerfError(
                    f"{origin}: key {key!r:.60}: must be text; quote it"
                )
        children = content.values()
    if isinstance(content, dict | list):
        for child in children:
            _check_keys(child, origin)


def _check_slas(slas: documents.Arguments) -> None:
    """Reject SLAs that neither this package nor Rally has.

    :raises InvalidTask: If an SLA is unknown.
    """
    unknown = [name for name in slas if name not in table.criteria()]
    if {*unknown} <= {_RALLY_SLA}:
        return
    known = {*table.criteria(), *rally_api.list_slas()}
    for name in unknown:
        if name not in known:
            similar = template_arguments.hint(name, known)
            choices = f"; use one of {', '.join(sorted(known))}"
            raise tasks.InvalidTask(
                f"sla {name!r:.80}: is not an SLA{similar or choices}"
            )


def _convert(
    workload: documents.Arguments,
    title: str,
    task_question: question.AnyQuestion,
    origin: str,
) -> tasks.AnyTask:
    """Return a workload of Rally as a task; reject an invalid one."""
    try:
        _check_slas(workload["sla"])
        task = task_question.create_task(workload, title)
        sections = {
            "runner": workload["runner"],
            "vmperf_guests": task.guests,
        }
        tasks.check_schema(sections, _SECTIONS)
        checks.parse_criteria(task, task_question)
        # Invalid copies are rejected here.
        if not task.arguments.needs_host_cpus:
            _ = task_question.list_copies(task)
    except tasks.InvalidTask as error:
        raise errors.VMPerfError(f"{origin}: {error}") from error
    return task
