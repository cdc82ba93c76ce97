# SPDX-License-Identifier: Apache-2.0
"""The values that the template of a task requires of its arguments.

A template is a program: a string in place of a list becomes its letters, and
the string "false" is true. The uses of an argument tell what it must be.
"""

import collections.abc
import difflib
import itertools
import typing as t

from rally_vmperf import documents
from rally_vmperf import errors

if t.TYPE_CHECKING:
    import jinja2.nodes

#: The usual similarity of a misspelled name, as in difflib.
_SIMILAR = 0.6
#: A kind of value -> its description.
_KINDS = {
    "list": "a list with at least one entry",
    "collection": "a list or a mapping",
    "mapping": "a mapping of names to values",
    "number": "a number, without quotes",
    "count": "an integer >= 0, without quotes",
    "boolean": "true or false, without quotes",
    "given": "a value, or be removed",
}
#: The key of a task whose value is a sum of counts.
_TIMES = "times:"
#: The methods that mappings have, and lists and texts have not.
_METHODS = ("get", "items", "keys", "values")
#: Texts that are meant as false or true, all of which are true.
_BOOLEANS = ("true", "false", "yes", "no", "on", "off")


def check(
    tree: "jinja2.nodes.Template",
    arguments: documents.Arguments,
    origins: collections.abc.Mapping[str, str],
) -> list[str]:
    """Reject arguments of another kind; return warnings as a list.

    :param tree: The template.
    :param arguments: The given arguments by name.
    :param origins: The file or option of each argument, by name.
    :returns: A line for each key that the template does not use.
    :raises VMPerfError: If an argument is not of the kind that the template
        requires; with its name and the file.
    """
    kinds = dict(_find_kinds(tree))
    for name, argument in arguments.items():
        kind = kinds.get(name)
        if kind and not _is_of_kind(argument, kind):
            raise errors.VMPerfError(
                f"{origins[name]}: argument {name!r}: "
                f"{_describe_invalid(argument, kind)}"
            )
    return [
        f"{origins[name]}: argument {name!r}: {key!r:.80} is not in "
        f"{keys!r}, so that it has no effect{hint(str(key), used)}"
        for name, keys, used in _find_keyed(tree, arguments)
        for key in arguments[name]
        if key not in used
    ]


def hint(
    name: str,
    names: collections.abc.Iterable[t.Any],
    similarity: float = _SIMILAR,
) -> str:
    """Return the question whether a similar name is meant, or "".

    :param similarity: The smallest similarity, from 0 to 1.
    """
    close = difflib.get_close_matches(
        name, [*map(str, names)], 1, cutoff=similarity
    )
    return f"; did you mean {close[0]!r}?" if close else ""


def _describe_invalid(argument: t.Any, kind: str) -> str:
    """Return that a value must be of a kind, with the solution."""
    if argument is None:
        return (
            "has no value; set one, or remove the line for the default of "
            "the task"
        )
    example = ""
    if kind == "list" and isinstance(argument, str):
        example = f", such as [{argument:.40}]"
    return f"{argument!r:.80}: must be {_KINDS[kind]}{example}"


def _is_of_kind(argument: t.Any, kind: str) -> bool:
    """Return whether a value is of a kind."""
    if kind == "list":
        return isinstance(argument, list) and bool(argument)
    if kind == "collection":
        return isinstance(argument, list | dict)
    if kind == "mapping":
        return isinstance(argument, dict)
    if kind in ("number", "count"):
        if isinstance(argument, bool) or not isinstance(argument, int | float):
            return False
        return kind == "number" or (argument >= 0 and argument % 1 == 0)
    is_text = isinstance(argument, str)
    is_misleading = is_text and argument.lower() in _BOOLEANS
    return argument is not None and not (kind == "boolean" and is_misleading)


def _find_name(node: t.Any) -> str:
    """Return the name of an argument, also with a default; "" for others."""
    from jinja2 import nodes

    if isinstance(node, nodes.Filter) and node.name == "default":
        node = node.node
    return node.name if isinstance(node, nodes.Name) else ""


def _find_kinds(
    tree: "jinja2.nodes.Template",
) -> collections.abc.Iterator[tuple[str, str]]:
    """Yield the arguments whose uses require a kind of value, and the kind.

    Of several kinds of an argument, the last one applies.
    """
    from jinja2 import nodes

    numbers = set()
    for filter_ in tree.find_all(nodes.Filter):
        default, name = _find_constant(filter_), _find_name(filter_)
        if isinstance(default, bool):
            yield name, "boolean"
        elif default:
            yield name, "given"
            if isinstance(default, int | float):
                numbers.add(name)
    for loop in tree.find_all(nodes.For):
        is_list = bool(_find_constant(loop.iter))
        yield _find_name(loop.iter), "list" if is_list else "collection"
    for call in tree.find_all(nodes.Call):
        yield _find_name(call.dyn_kwargs), "mapping"
        method = call.node
        if isinstance(method, nodes.Getattr) and method.attr in _METHODS:
            yield _find_name(method.node), "mapping"
    for addition in tree.find_all(nodes.Add):
        sides = (addition.left, addition.right)
        if any(_is_number(side, numbers) for side in sides):
            for side in sides:
                yield _find_name(side), "number"
    for output in tree.find_all(nodes.Output):
        for before, term in itertools.pairwise(output.nodes):
            if (
                isinstance(before, nodes.TemplateData)
                and before.data.rstrip().endswith(_TIMES)
                and isinstance(term, nodes.Add)
            ):
                yield _find_name(term.left), "count"
                yield _find_name(term.right), "count"


def _is_number(node: t.Any, numbers: collections.abc.Container[str]) -> bool:
    """Return whether a term is a number, or an argument with such a default.

    :param numbers: The arguments whose default is a number.
    """
    from jinja2 import nodes

    if isinstance(node, nodes.Const):
        return isinstance(node.value, int | float)
    return _find_name(node) in numbers


def _find_keyed(
    tree: "jinja2.nodes.Template", arguments: documents.Arguments
) -> collections.abc.Iterator[tuple[str, str, list[t.Any]]]:
    """Yield the arguments with a value for each entry of a list.

    :returns: The given argument, the name of the list, and its entries.
    """
    from jinja2 import nodes

    for loop in tree.find_all(nodes.For):
        keys = _find_name(loop.iter)
        if not (keys and isinstance(loop.target, nodes.Name)):
            continue
        used = arguments.get(keys, _find_constant(loop.iter))
        for call in loop.find_all(nodes.Call):
            method = call.node
            if (
                isinstance(method, nodes.Getattr)
                and method.attr == "get"
                and call.args
                and _find_name(call.args[0]) == loop.target.name
            ):
                name = _find_name(method.node)
                if arguments.get(name) and isinstance(used, list):
                    yield name, keys, used


def _find_constant(node: t.Any) -> t.Any:
    """Return the default of an argument, if it is a constant, or None."""
    from jinja2 import nodes

    if not (isinstance(node, nodes.Filter) and node.args):
        return None
    try:
        return node.args[0].as_const()
    except nodes.Impossible:
        return None
