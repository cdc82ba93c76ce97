"""The documentation of the tasks' arguments, written from the tasks.

``python -m tests.unit.doc.tasks_page > doc/source/tasks.rst``
"""

import dataclasses
import re
import sys
import textwrap

from tests.unit.doc import pages

#: What an argument without a comment is described by.
MAIN = "tasks/kvm-overhead.yaml"
PATHS = [
    MAIN,
    *(
        str(path.relative_to(pages.ROOT))
        for path in sorted((pages.ROOT / "tasks").glob("*.yaml"))
        if not path.name.endswith((".embedded.yaml", "kvm-overhead.yaml"))
    ),
]
INTRODUCTION = """\
What ``--task-args`` and ``--task-args-file`` may give to each task in
``tasks/``. An empty value, such as ``{}`` of limits, is none and not the
default. A file of limits gives whole SLAs. What they, the contexts and the
scenarios do is in the :doc:`reference`.

The smallest task of each workload, in ``scenarios/``, takes ``baseline`` (a
name or, as below, a class of machines), ``image``, ``flavor`` and ``network``,
and ``peer`` or ``job_file`` where it needs one.

A task file is a program: Rally renders it as a Jinja template without a
sandbox. A template can run every command with the rights of the user who
renders it. ``rally task validate`` and ``rally-vmperf plan`` render it, too.
Use only task files from a source that you trust.
"""
_TITLE = "Arguments of the tasks"
_HEAD = re.compile(r"\A\{# (.*?)(?:\n\n| #\})", re.DOTALL)
_REQUIRED = re.compile(r"^\{# (\w+) \(required\) #\}$", re.MULTILINE)
_GIVEN = re.compile(
    r"(?:^\{# (?P<meaning>(?:(?!#\})[^%])*?) #\}\n)?"
    r"^\{% set (?P<name>\w+) = (?P=name) "
    r"(?:or \((?P<rule>.*)\)|\| default\((?P<filter>.*)\)"
    r"|(?:or|if .* else) (?P<value>.*)) %\}$",
    re.MULTILINE,
)
_NONE = {"", "[]", "{}", "none"}


@dataclasses.dataclass(frozen=True)
class Argument:
    """What a task takes.

    :param default: as the task has it; None for what has to be given
    :param meaning: empty where the main task tells it
    """

    name: str
    default: str | None
    meaning: str

    def shown(self) -> str:
        """Return the default as the page shows it."""
        if self.default is None:
            return "Has to be given."
        if self.default in _NONE:
            return "Default: none."
        return f"Default: ``{self.default}``."


def arguments(path: str) -> dict[str, Argument]:
    """Return name -> argument of a task file, in its order."""
    text = (pages.ROOT / path).read_text()
    found = [Argument(name, None, "") for name in _REQUIRED.findall(text)]
    found += [
        Argument(
            one["name"],
            _default(one["rule"] or one["filter"] or one["value"]),
            " ".join((one["meaning"] or "").split()),
        )
        for one in _GIVEN.finditer(text)
    ]
    return {one.name: one for one in found}


def _default(expression: str) -> str:
    """Return an expression, a text without its quotes."""
    plain = re.fullmatch(r'"([^"]*)"', expression)
    return plain[1] if plain else expression


def page() -> str:
    """Return the whole page."""
    line = "=" * len(_TITLE)
    parts = [f"{line}\n{_TITLE}\n{line}\n", INTRODUCTION]
    shared = arguments(MAIN)
    for path in PATHS:
        text = (pages.ROOT / path).read_text()
        head = _HEAD.match(text)
        parts.append(f"``{path}``\n{'=' * (len(path) + 4)}\n")
        parts.append(textwrap.fill(" ".join(head[1].split()), 78) + "\n")
        parts += [
            f"``{one.name}``\n{_meaning(one, shared)}\n"
            for one in arguments(path).values()
        ]
    return "\n".join(parts)


def _meaning(one: Argument, shared: dict[str, Argument]) -> str:
    meaning = one.meaning or shared[one.name].meaning
    return textwrap.fill(
        f"{meaning} {one.shown()}",
        78,
        initial_indent="    ",
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )


if __name__ == "__main__":
    sys.stdout.write(page())
