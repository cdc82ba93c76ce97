# SPDX-License-Identifier: Apache-2.0
"""The page of the arguments of tasks, generated from their templates."""

import dataclasses
import pathlib
import re

import jinja2
import jinja2.meta
import yaml

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
``tasks/``. An empty value, such as ``""`` or ``{}``, replaces the default, and
contexts and scenarios take it as not given. ``rally-vmperf plan`` and ``run``
reject arguments that the task does not have, a name without a value if the
default is not empty, and another kind of value, such as ``flavors: m1.large``
in place of ``flavors: [m1.large]``. The :doc:`reference` describes scenarios,
contexts and SLAs.

The argument ``limits`` sets SLAs by name, as a limits file does: an SLA that
it names replaces that of the task, and the others are kept. The SLAs of a task
have ``unmeasured: skip``: limits on workloads that do not run, and limits in
percent of bare metal without a baseline, are not judged, and the verdict lists
them. An SLA in ``limits`` has this option only if you set it; without it,
limits that cannot be judged are rejected.

The smallest task of each measured workload, in ``scenarios/``, has the
arguments ``baseline`` (a name or a class of machines), ``image``, ``flavor``
and ``network``, and ``peer`` or ``job_file`` if the workload needs it.

A task file is a program: Rally renders it as a Jinja template without a
sandbox. A template can run every command with the rights of the user who
renders it. ``rally task validate`` and ``rally-vmperf plan`` render it, too.
Use only task files from a source that you trust.
"""
_SHARED = """\
The sections of the tasks name those that they have, and a different default.
"""
_HEAD = re.compile(r"\A\{# (.*?)(?:\n\n| #\})", re.DOTALL)
_NONE = {"", "[]", "{}", "none"}
#: The functions of Jinja, which are no arguments.
_FUNCTIONS = {"dict", "range"}


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
    """Return the arguments of a task by name, in their order.

    A comment describes the argument that its next expression introduces; if
    there are several, each has a comment, in their order.
    """
    text = (ROOT / path).read_text()
    names = find_arguments(text)
    required = names - {*_list_defaults(text)}
    tokens = _list_tokens(text)
    # The first comment describes the task.
    comments: list[str] = []
    introduced: dict[str, str | None] = {}
    arguments: dict[str, Argument] = {}
    for place, (kind, value) in enumerate(tokens):
        if kind == "comment":
            comments.append(" ".join(value.split()))
        elif kind == "name" and value in names - arguments.keys():
            default = _find_default(tokens, place)
            if default is not None or value in required:
                introduced[value] = default
        elif kind in ("variable_end", "block_end"):
            for name, default in introduced.items():
                meaning = comments.pop(0) if comments else ""
                arguments[name] = Argument(name, default, meaning)
            comments, introduced = [], {}
    return arguments


def find_arguments(text: str) -> set[str]:
    """Return the names of the arguments in the text of a task."""
    tree = jinja2.Environment().parse(text)  # noqa: S701  nothing is rendered
    return jinja2.meta.find_undeclared_variables(tree) - _FUNCTIONS


def _list_tokens(text: str) -> list[tuple[str, str]]:
    """Return the kinds and the texts of tokens after the first comment."""
    head = _HEAD.match(text)
    start = text.index("#}", head.end() - 2) + 2 if head else 0
    lexed = jinja2.Environment().lex(text[start:])  # noqa: S701  not rendered
    return [(kind, value) for _, kind, value in lexed]


def _list_defaults(text: str) -> list[str]:
    """Return the names that have a default, as a list."""
    tokens = _list_tokens(text)
    return [
        value
        for place, (kind, value) in enumerate(tokens)
        if kind == "name" and _find_default(tokens, place) is not None
    ]


def _find_default(tokens: list[tuple[str, str]], place: int) -> str | None:
    """Return the default of a name as the template has it, or None.

    :param place: The place of the name in the tokens.
    """
    following = [value for _, value in tokens[place + 1 : place + 5]]
    if following != [" ", "|", " ", "default"]:
        return None
    depth, texts = 0, []
    for _, value in tokens[place + 5 :]:
        depth += (value == "(") - (value == ")")
        texts.append(value)
        if not depth:
            break
    expression = " ".join("".join(texts[1:-1]).split())
    return _remove_quotes(re.sub(r"(?<=[\[({]) ", "", expression))


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
    return lines + _describe_limits(path, arguments)


def _describe_limits(
    path: str, arguments: dict[str, Argument]
) -> markup.Lines:
    """Return the SLAs that a task has by default; none without SLAs."""
    required = {
        name: {}
        for name, argument in arguments.items()
        if argument.default is None
    }
    template = jinja2.Environment().from_string(  # noqa: S701  no HTML
        (ROOT / path).read_text()
    )
    first, *_ = yaml.safe_load(template.render(required))["subtasks"]
    slas = {key: sla for key, sla in first["sla"].items() if sla}
    del slas["failure_rate"]
    if not slas:
        return []
    text = yaml.safe_dump(slas, sort_keys=False, width=74)
    return [
        "SLAs by default::",
        "",
        *markup.indent(text.splitlines()),
        "",
    ]


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
