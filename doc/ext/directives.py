# SPDX-License-Identifier: Apache-2.0
"""Directives that describe scenarios, contexts, SLAs and workloads.

::

    .. vmperf-scenarios::
    .. vmperf-contexts::
    .. vmperf-slas::
    .. vmperf-keys:: peer
    .. vmperf-arguments:: fio
    .. vmperf-columns::
    .. vmperf-commands:: rally_vmperf.commands
"""

import argparse
import importlib.resources
import inspect
import json
import typing as t

import docutils.nodes
from cliff import sphinxext
from rally import plugins
from rally.task import context
from rally.task import scenario
from sphinx import application
from sphinx.util import docutils as sphinx_docutils

from doc.ext import markup
from rally_vmperf import declaration
from rally_vmperf.execution import assignment
from rally_vmperf.execution import neighbours
from rally_vmperf.guests import schema
from rally_vmperf.questions import table
from rally_vmperf.questions.common import task
from rally_vmperf.workloads import registry

#: The arguments of scenarios that have keys of their own.
KEYS: dict[str, markup.Schema] = {
    "jump": schema.JUMP,
    "neighbours": neighbours.SCHEMA,
    "peer": task.PEER,
    "workloads": assignment.SCHEMA,
}
_CONTEXTS = ("vmperf_baseline", "vmperf_guests@openstack")
_RULE = "-"


def scenarios() -> markup.Lines:
    """Return a section for each scenario with its arguments."""
    lines: markup.Lines = []
    for name, question in table.scenarios().items():
        plugin = scenario.Scenario.get(name)
        lines += [f".. _{name}:", "", *markup.title(name, _RULE)]
        lines += [markup.prose(inspect.getdoc(plugin) or ""), ""]
        lines += markup.describe_schema(
            declaration.build_schema(question.arguments)
        )
    return lines


def contexts() -> markup.Lines:
    """Return a section for each context with its options."""
    lines: markup.Lines = []
    for name in _CONTEXTS:
        plugin = context.Context.get(name.partition("@")[0])
        information = plugin.get_info()
        lines += [f".. _{name}:", "", *markup.title(name, _RULE)]
        for text in (information["title"], information["description"]):
            lines += [markup.prose(text or ""), ""]
        lines += markup.describe_schema(
            plugin.CONFIG_SCHEMA, getattr(plugin, "DEFAULT_CONFIG", None)
        )
    return lines


def slas() -> markup.Lines:
    """Return a section for each SLA with its options."""
    lines: markup.Lines = []
    for name, criterion in table.criteria().items():
        users = [
            question.scenario
            for question in table.questions().values()
            if criterion in question.criteria
        ]
        lines += [f".. _{name}:", "", *markup.title(name, _RULE)]
        lines += [markup.prose(criterion.title), ""]
        lines += [f"Scenarios: {', '.join(map(markup.literal, users))}", ""]
        lines += markup.describe_schema(criterion.schema)
    return lines


def keys(name: str) -> markup.Lines:
    """Return the keys of an argument of scenarios."""
    heading = markup.title(f"Keys of {markup.literal(name)}", _RULE)
    return [
        *(f".. _keys-{name}:", "", *heading),
        *markup.describe_schema(KEYS[name]),
    ]


def arguments(name: str) -> markup.Lines:
    """Return the arguments of a workload; descriptions have the ranges."""
    workload = registry.get_workload(name)
    return markup.describe_schema(workload.ARGUMENTS, ranges=False)


def columns() -> markup.Lines:
    """Return the columns of the table of results."""
    table_schema = importlib.resources.files("rally_vmperf.records")
    text = (table_schema / "table.json").read_text()
    return markup.describe_schema(json.loads(text))


class Commands(sphinxext.AutoprogramCliffDirective):
    """The commands of a namespace, with plain help texts."""

    def _drop_ignored_options(
        self, parser: argparse.ArgumentParser, ignored_opts: list[str]
    ) -> None:
        """Drop the options; insert defaults and escape the other texts."""
        super()._drop_ignored_options(parser, ignored_opts)
        for action in parser._actions:
            text = (action.help or "") % {**vars(action), "prog": parser.prog}
            action.help = markup.prose(text)


class _Generated(sphinx_docutils.SphinxDirective):
    """A directive whose content is generated."""

    generate: t.ClassVar[t.Callable[..., markup.Lines]]

    def run(self) -> list[docutils.nodes.Node]:
        """Return the nodes of the generated lines."""
        lines = type(self).generate(*self.arguments)
        return self.parse_text_to_nodes(
            "\n".join(lines), allow_section_headings=True
        )


def _create_directive(
    function: t.Callable[..., markup.Lines], number: int
) -> type[_Generated]:
    """Return a directive class for a generator.

    :param number: The number of arguments of the directive.
    """
    members = {
        "generate": staticmethod(function),
        "required_arguments": number,
    }
    return type(function.__name__, (_Generated,), members)


def setup(app: application.Sphinx) -> dict[str, bool]:
    """Register the directives."""
    plugins.load()
    app.add_directive("vmperf-commands", Commands)
    for function in (scenarios, contexts, slas, columns):
        app.add_directive(
            f"vmperf-{function.__name__}", _create_directive(function, 0)
        )
    for function in (keys, arguments):
        app.add_directive(
            f"vmperf-{function.__name__}", _create_directive(function, 1)
        )
    return {"parallel_read_safe": True, "parallel_write_safe": True}
