# SPDX-License-Identifier: Apache-2.0
"""Texts that make patterns slow, and the growth of the time with their length.

A pump is a text of which one part is repeated. A search whose time grows with
the square of the length takes 16 times as long for a pump of fourfold length.
"""

import ast
import collections.abc
import dataclasses
import gc
import importlib
import pathlib
import re
import re._constants as constants
import re._parser as parser
import time
import typing as t

import rally_vmperf

#: The lengths of both pumps in characters.
SHORT, LONG = 16 << 10, 64 << 10
#: The maximum ratio of the times of both lengths: linear is 4, quadratic 16.
RATIO = 8
#: A ratio that needs no second measurement.
_CLEAR = 5.5
#: CPU seconds below which a time is noise; a quadratic search of the long pump
#: takes several seconds.
_NOISE = 0.05
#: Characters that members of a class are chosen from, the usual ones first.
_CHARACTERS = '0aA .-\n\t/:_=[>{"x'
_CATEGORIES = {
    constants.CATEGORY_DIGIT: r"\d",
    constants.CATEGORY_NOT_DIGIT: r"\D",
    constants.CATEGORY_SPACE: r"\s",
    constants.CATEGORY_NOT_SPACE: r"\S",
    constants.CATEGORY_WORD: r"\w",
    constants.CATEGORY_NOT_WORD: r"\W",
}
_REPEATS = (
    constants.MAX_REPEAT,
    constants.MIN_REPEAT,
    constants.POSSESSIVE_REPEAT,
)
_FUNCTIONS = {
    *("match", "fullmatch", "search"),
    *("findall", "finditer", "split", "sub"),
}

Build = collections.abc.Callable[[int], t.Any]


@dataclasses.dataclass(frozen=True)
class Usage:
    """A pattern of the package with the methods that use it.

    :param place: The name of the pattern, or the line with its text.
    """

    pattern: re.Pattern[t.Any]
    place: str
    methods: frozenset[str]

    def search(self, text: str) -> None:
        """Use the pattern for a text as the package does."""
        is_text = isinstance(self.pattern.pattern, str)
        content = text if is_text else text.encode()
        for method in self.methods:
            if method in ("match", "fullmatch"):
                getattr(self.pattern, method)(content)
            else:
                for _ in self.pattern.finditer(content):
                    pass


def growth(
    function: collections.abc.Callable[[t.Any], t.Any], build: Build
) -> float:
    """Return the ratio of the CPU times for a long and for a short pump.

    It is 1 if the time for the long pump is noise, also if it grew with the
    square of the length. A ratio that is far below the maximum is measured
    once. Otherwise each time is the least of three, and so is the ratio if it
    is too large.
    """
    short = build(SHORT)
    short_time = _measure(function, short)
    if short_time * (LONG / SHORT) ** 2 < _NOISE:
        return 1.0
    long = build(LONG)
    long_time = _measure(function, long)
    if long_time < _NOISE:
        return 1.0
    if long_time < _CLEAR * short_time:
        return long_time / short_time
    ratios: list[float] = []
    while len(ratios) < 3 and min(ratios, default=RATIO + 1) > RATIO:
        times = [
            (_measure(function, long), _measure(function, short))
            for _ in range(3)
        ]
        longest, shortest = map(min, zip(*times, strict=True))
        ratios.append(longest / max(shortest, 1e-6))
    return min(ratios)


def _measure(
    function: collections.abc.Callable[[t.Any], t.Any], text: t.Any
) -> float:
    """Return the CPU seconds of a function for a text."""
    gc.disable()
    try:
        begun = time.process_time()
        function(text)
        return time.process_time() - begun
    finally:
        gc.enable()


def list_patterns() -> tuple[list[Usage], list[str]]:
    """Return all patterns, and the places of those that are built at run time.

    A pattern is in a variable of a module, also inside another object, or in a
    call of a function of ``re``.
    """
    usages: dict[tuple[t.Any, int], Usage] = {}
    built: list[str] = []
    root = pathlib.Path(rally_vmperf.__file__).parent
    for path in sorted(root.rglob("*.py")):
        name = ".".join(path.relative_to(root.parent).with_suffix("").parts)
        name = name.removesuffix(".__init__")
        tree = ast.parse(path.read_text())
        if not _uses_re(tree):
            # An import of Tempest, for example, has effects on other tests.
            continue
        module = importlib.import_module(name)
        for variable, content in vars(module).items():
            for pattern in _find_patterns(content):
                methods = _find_methods(tree, variable)
                _add(usages, pattern, f"{name}.{variable}", methods)
        for call in ast.walk(tree):
            if not _is_call_of_re(call):
                continue
            function, text = call.func.attr, call.args[0]
            if isinstance(text, ast.Constant):
                flags = re.M if "re.M" in ast.unparse(call) else 0
                pattern = re.compile(text.value, flags)
                place = f"{name}:{call.lineno}"
                if function != "compile":
                    _add(usages, pattern, place, {function})
            elif call.lineno not in _list_global_lines(tree):
                built.append(f"{name}: {ast.unparse(text)}")
    return list(usages.values()), built


def _add(
    usages: dict[tuple[t.Any, int], Usage],
    pattern: re.Pattern[t.Any],
    place: str,
    methods: collections.abc.Iterable[str],
) -> None:
    """Add a pattern, or methods to one that is known."""
    key = pattern.pattern, pattern.flags
    known = usages.get(key)
    usages[key] = Usage(
        pattern,
        known.place if known else place,
        frozenset({*methods, *(known.methods if known else ())}),
    )


def _uses_re(tree: ast.Module) -> bool:
    """Return whether a module imports ``re``."""
    return any(
        isinstance(node, ast.Import)
        and any(alias.name == "re" for alias in node.names)
        for node in tree.body
    )


def _is_call_of_re(node: ast.AST) -> t.TypeGuard[t.Any]:
    """Return whether a node calls a function of ``re`` with a pattern."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr in {*_FUNCTIONS, "compile"}
    )


def _list_global_lines(tree: ast.Module) -> set[int]:
    """Return the lines of statements outside functions, which are imported."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return {
        line
        for statement in tree.body
        if not isinstance(statement, functions)
        for line in range(statement.lineno, statement.end_lineno + 1)
    }


def _find_methods(tree: ast.Module, variable: str) -> set[str]:
    """Return the methods of a variable that a module uses, or ``search``."""
    methods = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr in _FUNCTIONS
        and isinstance(node.value, ast.Name)
        and node.value.id == variable
    }
    return methods or {"search"}


def _find_patterns(
    content: t.Any, depth: int = 4
) -> collections.abc.Iterator[re.Pattern[t.Any]]:
    """Yield the patterns in an object."""
    if isinstance(content, re.Pattern):
        yield content
        return
    parts: collections.abc.Iterable[t.Any] = ()
    if isinstance(content, list | tuple | set | frozenset):
        parts = content
    elif isinstance(content, dict):
        parts = content.values()
    elif dataclasses.is_dataclass(content) and not isinstance(content, type):
        parts = vars(content).values() if hasattr(content, "__dict__") else ()
    for part in parts if depth else ():
        yield from _find_patterns(part, depth - 1)


def list_pumps(pattern: re.Pattern[t.Any]) -> list[tuple[str, str]]:
    """Return pairs of a text and of the part that is repeated after it."""
    text = pattern.pattern
    if isinstance(text, bytes):
        text = text.decode()
    pumps = {("", unit) for unit in (*" \n0a>[{", "a ")}
    flags = pattern.flags & ~(re.U | re.L)
    _add_pumps(parser.parse(text, flags), "", pumps)
    return sorted(pumps)


def pump(before: str, unit: str, length: int) -> str:
    """Return a pump, with an end that no pattern accepts."""
    return before + (unit * (length // len(unit) + 1))[:length] + "\0"


def _add_pumps(tree: t.Any, before: str, pumps: set[tuple[str, str]]) -> None:
    """Add the pumps of all repetitions, and of the beginnings of a pattern."""
    for operation, argument in tree:
        if operation in _REPEATS:
            _, _, body = argument
            pumps.add((before, _example(body) or "x"))
            pumps |= {
                (before, letter)
                for part, members in body
                if part in (constants.IN, constants.ANY)
                for letter in " 0a\n"
                if part is constants.ANY or _is_member(members, letter)
            }
            _add_pumps(body, before, pumps)
        elif operation is constants.SUBPATTERN:
            _add_pumps(argument[3], before, pumps)
        elif operation is constants.ATOMIC_GROUP:
            _add_pumps(argument, before, pumps)
        elif operation is constants.BRANCH:
            for branch in argument[1]:
                _add_pumps(branch, before, pumps)
        elif operation in (constants.ASSERT, constants.ASSERT_NOT):
            _add_pumps(argument[1], before, pumps)
        before += _example([(operation, argument)])
        if before and operation is not constants.LITERAL:
            pumps |= {("", before), ("", f"{before}\n")}


def _example(tree: t.Any) -> str:
    """Return a short text that a pattern matches."""
    text = ""
    for operation, argument in tree:
        if operation is constants.LITERAL:
            text += chr(argument)
        elif operation in (constants.NOT_LITERAL, constants.ANY):
            text += "y" if argument == ord("x") else "x"
        elif operation is constants.IN:
            text += _choose_member(argument)
        elif operation in _REPEATS:
            text += _example(argument[2]) * argument[0]
        elif operation is constants.SUBPATTERN:
            text += _example(argument[3])
        elif operation is constants.ATOMIC_GROUP:
            text += _example(argument)
        elif operation is constants.BRANCH:
            text += _example(argument[1][0])
    return text


def _choose_member(members: t.Any) -> str:
    """Return a character of a class."""
    for letter in _CHARACTERS:
        if _is_member(members, letter):
            return letter
    operation, argument = members[0]
    return chr(argument if operation is constants.LITERAL else argument[0])


def _is_member(members: t.Any, letter: str) -> bool:
    """Return whether a character belongs to a class."""
    negated = members[0][0] is constants.NEGATE
    found = any(
        (operation is constants.LITERAL and argument == ord(letter))
        or (
            operation is constants.RANGE
            and argument[0] <= ord(letter) <= argument[1]
        )
        or (
            operation is constants.CATEGORY
            and re.match(_CATEGORIES[argument], letter)
        )
        for operation, argument in members
    )
    return found is not negated
