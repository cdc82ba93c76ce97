"""The page of the arguments of tasks, generated from their templates."""

import dataclasses
import pathlib
import re

from doc.ext import markup

ROOT = pathlib.Path(__file__).parents[2]
#: The task whose comments describe the arguments that tasks share.
MAIN = "tasks/kvm-overhead.yaml"
PATHS = [
    MAIN,
    *(
        str(path.relative_to(ROOT))
        for path in sorted((ROOT / "tasks").glob("*.yaml"))
        if not path.name.endswith((".embedded.yaml", "kvm-overhead.yaml"))
    ),
]
_INTRODUCTION = """\
.. Generated from the comments in tasks/: make reference

``--task-args`` and ``--task-args-file`` set the arguments of the tasks in
``tasks/``. An empty value, such as ``{}`` for limits, replaces the default. A
file of limits sets whole SLAs. The :doc:`reference` describes scenarios,
contexts and SLAs.

The smallest task of each workload, in ``scenarios/``, has the arguments
``baseline`` (a name or a class of machines), ``image``, ``flavor`` and
``network``, and ``peer`` or ``job_file`` if the workload needs it.

A task file is a program: Rally renders it as a Jinja template without a
sandbox. A template can run every command with the rights of the user who
renders it. ``rally task validate`` and ``rally-vmperf plan`` render it, too.
Use only task files from a source that you trust.
"""
_SHARED = """\
The sections of the tasks name those that they have, and a different default.
"""
_HEAD = re.compile(r"\A\{# (.*?)(?:\n\n| #\})", re.DOTALL)
_REQUIRED = re.compile(r"^\{# (\w+) \(required\) #\}$", re.MULTILINE)
_DEFAULT = re.compile(
    r"(?:^\{# (?P<meaning>(?:(?!#\})[^%])*?) #\}\n)?"
    r"^\{% set (?P<name>\w+) = (?P=name) "
    r"(?:or \((?P<rule>.*)\)|\| default\((?P<filter>.*)\)"
    r"|(?:or|if .* else) (?P<value>.*)) %\}$",
    re.MULTILINE,
)
_NONE = {"", "[]", "{}", "none"}


@dataclasses.dataclass(frozen=True)
class Argument:
    """An argument of a task.

    :param default: The default as the template has it; None if it is
        required.
    :param meaning: The description; empty if the main task describes it.
    """

    name: str
    default: str | None
    meaning: str

    def describe_default(self) -> str:
        """Return the default as text for the page."""
        if self.default is None:
            return "required"
        if self.default in _NONE:
            return "default: none"
        return f"default ``{self.default}``"


def read_arguments(path: str) -> dict[str, Argument]:
    """Return the arguments of a task by name, in their order."""
    text = (ROOT / path).read_text()
    arguments = [Argument(name, None, "") for name in _REQUIRED.findall(text)]
    arguments += [
        Argument(
            match["name"],
            _remove_quotes(match["rule"] or match["filter"] or match["value"]),
            " ".join((match["meaning"] or "").split()),
        )
        for match in _DEFAULT.finditer(text)
    ]
    return {argument.name: argument for argument in arguments}


def create_page() -> str:
    """Return the whole page."""
    tasks = {path: read_arguments(path) for path in PATHS}
    main = tasks[MAIN]
    shared = {
        name: argument
        for name, argument in main.items()
        if any(
            name in arguments and not arguments[name].meaning
            for path, arguments in tasks.items()
            if path != MAIN
        )
    }
    lines = markup.title("Arguments of the tasks", "=")
    lines += _INTRODUCTION.split("\n")
    lines += markup.title("Arguments of several tasks", "-")
    lines += _SHARED.split("\n")
    for argument in shared.values():
        lines += _describe(argument)
    for path, arguments in tasks.items():
        lines += _describe_task(path, arguments, shared, is_main=path == MAIN)
    return "\n".join(lines)


def _describe_task(
    path: str,
    arguments: dict[str, Argument],
    shared: dict[str, Argument],
    *,
    is_main: bool,
) -> markup.Lines:
    """Return the section of a task."""
    head = _HEAD.match((ROOT / path).read_text())
    lines = markup.title(markup.literal(path), "-")
    lines += markup.fill(" ".join(head[1].split()) if head else "", "")
    own = [
        argument
        for name, argument in arguments.items()
        if name not in shared or (argument.meaning and not is_main)
    ]
    names = []
    for name, argument in arguments.items():
        if argument not in own:
            differs = argument.default != shared[name].default
            note = f" ({argument.describe_default()})" if differs else ""
            names.append(markup.literal(name) + note)
    lines += [
        "",
        *markup.fill(f"Described above: {', '.join(names)}.", ""),
        "",
    ]
    for argument in own:
        lines += _describe(argument)
    return lines


def _describe(argument: Argument) -> markup.Lines:
    """Return the definition of an argument."""
    return [
        markup.literal(argument.name),
        *markup.fill(
            f"{argument.meaning} {_capitalize(argument.describe_default())}."
        ),
        "",
    ]


def _capitalize(text: str) -> str:
    """Return a text whose first letter is upper case."""
    return text[:1].upper() + text[1:]


def _remove_quotes(expression: str) -> str:
    """Return an expression; a text without its quotation marks."""
    plain = re.fullmatch(r'"([^"]*)"', expression)
    return plain[1] if plain else expression
