# SPDX-License-Identifier: Apache-2.0
"""Arguments of task templates in tests that need a cloud."""

import ast
import collections.abc
import importlib
import json
import pathlib
import typing as t

import jinja2
import jinja2.meta
import yaml

ROOT = pathlib.Path(__file__).parents[2]
#: The methods whose first argument is a task, and the others its arguments.
_STARTS = frozenset(("start", "started", "measure"))

Arguments = collections.abc.Mapping[str, t.Any]


class Call(t.NamedTuple):
    """A place where a test passes arguments to a template.

    :param place: The file and the line.
    :param names: The names of the arguments.
    """

    place: str
    task: pathlib.Path
    names: frozenset[str]


def list_unused(
    path: pathlib.Path, names: collections.abc.Iterable[str]
) -> list[str]:
    """Return the arguments that a template does not use, as a list."""
    tree = jinja2.Environment().parse(path.read_text())
    used = jinja2.meta.find_undeclared_variables(tree)
    return sorted(name for name in names if name not in used)


def render(path: pathlib.Path, arguments: Arguments) -> t.Any:
    """Return the content of a task.

    :raises UndefinedError: If an argument is missing.
    """
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined)
    template = environment.from_string(path.read_text())
    return yaml.safe_load(template.render(arguments))


def list_calls(folder: str) -> list[Call]:
    """Return the calls of tests whose task and arguments are known.

    :param folder: The folder of the tests, such as ``tests/long``.
    """
    calls = []
    for path in sorted((ROOT / folder).glob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        variables = vars(importlib.import_module(name))
        for function in ast.walk(ast.parse(path.read_text())):
            if not isinstance(function, ast.FunctionDef):
                continue
            scope = _Scope(variables, function)
            for node in ast.walk(function):
                if isinstance(node, ast.Call):
                    place = f"{path.name}:{node.lineno}"
                    calls += scope.list_calls(place, node)
    return calls


class _Scope:
    """The names that a function can use.

    :param variables: The variables of its module.
    """

    def __init__(
        self, variables: dict[str, t.Any], function: ast.FunctionDef
    ) -> None:
        self._variables = variables
        self._locals = {
            target.id: node.value
            for node in ast.walk(function)
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }

    def list_calls(self, place: str, call: ast.Call) -> list[Call]:
        """Return the call of a test, a list that may be empty."""
        arguments = self._list_words(call)
        task: t.Any = None
        names: frozenset[str] | None = None
        if isinstance(call.func, ast.Attribute) and call.args:
            if call.func.attr in _STARTS:
                task = self._evaluate(call.args[0])
                names = self._names(
                    ast.Dict(
                        [
                            keyword.arg and ast.Constant(keyword.arg)
                            for keyword in call.keywords
                        ],
                        [keyword.value for keyword in call.keywords],
                    )
                )
            elif call.func.attr == "record_baseline":
                texts = [ast.unparse(word) for word in arguments]
                if {"'--task'", "'--task-args'"} <= {*texts}:
                    named = arguments[texts.index("'--task'") + 1]
                    task = self._evaluate(named)
                    names = self._names(
                        arguments[texts.index("'--task-args'") + 1]
                    )
        if names is None or task is None:
            return []
        return [Call(place, pathlib.Path(task), names)]

    def _list_words(self, call: ast.Call) -> list[ast.expr]:
        """Return the positional arguments; those of tuples one by one."""
        arguments: list[ast.expr] = []
        for word in call.args:
            inner = word.value if isinstance(word, ast.Starred) else word
            if isinstance(inner, ast.Name):
                inner = self._locals.get(inner.id, inner)
            arguments += inner.elts if isinstance(inner, ast.Tuple) else [word]
        return arguments

    def _evaluate(self, node: ast.expr) -> t.Any:
        """Return the value of a name or a constant; None if it is unknown."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Attribute):
            return getattr(self._evaluate(node.value), node.attr, None)
        if isinstance(node, ast.Name):
            return self._variables.get(node.id)
        return None

    def _names(self, node: ast.expr) -> frozenset[str] | None:
        """Return the keys of a mapping, None if they are not known."""
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(
            "json.dumps"
        ):
            return self._names(node.args[0])
        if isinstance(node, ast.Name) and node.id in self._locals:
            parts = [self._names(self._locals[node.id])]
        elif isinstance(node, ast.Dict):
            parts = [
                self._names(value)
                if key is None
                else frozenset([t.cast(ast.Constant, key).value])
                for key, value in zip(node.keys, node.values, strict=True)
            ]
        else:
            value = self._evaluate(node)
            value = json.loads(value) if isinstance(value, str) else value
            parts = [None if value is None else frozenset(value)]
        if None in parts:
            return None
        return frozenset().union(*t.cast(list[frozenset[str]], parts))
