# SPDX-License-Identifier: Apache-2.0
"""The structure of the package: lines of logic, questions, ways of a value.

``python -m tests.bench.architecture`` prints, for the tree at hand,

* files and lines of logic per room: statements of the syntax tree over the
  lines that they take, docstrings and comments not counted;
* modules with fewer than 60 lines of logic that exactly one other imports;
* files that name more than one question.

With ``--trace`` it prints instead the modules through which a limit and a
sample pass (``passage``), found by a unit run.
"""

import ast
import collections
import collections.abc
import pathlib
import sys

from tests.bench import table

TOP = pathlib.Path(__file__).parent.parent.parent / "rally_vmperf"
#: The embedded cloud, which shares modules with the package.
CLOUD = TOP.parent / "tests" / "cloud"

#: A module with fewer lines of logic belongs into its only importer.
SMALL = 60
#: Words by which a file names a question.
QUESTIONS = {
    "overhead": {
        "vmperf_overhead",
        "vmperf_spread",
        "vmperf_neighbours",
        "VMPerf.overhead",
        "overhead",
    },
    "density": {
        "vmperf_degradation",
        "vmperf_fairness",
        "VMPerf.density",
        "density",
    },
}


def logic(tree: ast.AST) -> int:
    """Return the number of lines that statements take, without docstrings."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt) or _is_docstring(node):
            continue
        compound = [
            child
            for name in ("body", "orelse", "finalbody", "handlers", "cases")
            for child in getattr(node, name, ())
        ]
        first = min(
            [
                decorator.lineno
                for decorator in getattr(node, "decorator_list", ())
            ]
            + [node.lineno]
        )
        last = node.end_lineno or node.lineno
        if compound:
            last = min(_first_line(child) for child in compound) - 1
        lines.update(range(first, max(first, last) + 1))
    return len(lines)


def _first_line(node: ast.AST) -> int:
    decorators = getattr(node, "decorator_list", ())
    line = (
        node.pattern.lineno
        if isinstance(node, ast.match_case)
        else (node.lineno)
    )
    return min([decorator.lineno for decorator in decorators] + [line])


def _is_docstring(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def trees(top: pathlib.Path = TOP) -> dict[pathlib.Path, ast.Module]:
    """Return the syntax tree of each module in a directory.

    :param top: The directory; by default, that of the package.
    """
    return {
        path: ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(top.rglob("*.py"))
    }


def rooms(
    parsed: collections.abc.Mapping[pathlib.Path, ast.Module],
) -> dict[str, tuple[int, int]]:
    """Return files and lines of logic by the first folder of the package."""
    sizes: dict[str, tuple[int, int]] = {}
    for path, tree in parsed.items():
        parts = path.relative_to(TOP).parts
        room = parts[0] if len(parts) > 1 else "(top)"
        files, lines = sizes.get(room, (0, 0))
        if path.name != "__init__.py":
            files += 1
        sizes[room] = files, lines + logic(tree)
    return sizes


def crumbs(
    parsed: collections.abc.Mapping[pathlib.Path, ast.Module],
    users: collections.abc.Mapping[pathlib.Path, ast.Module],
) -> list[tuple[str, str, int]]:
    """Return small modules with one importer: module, importer, lines.

    :param parsed: The syntax trees of the package.
    :param users: The syntax trees of further modules that import it.
    """
    importers = collections.defaultdict(set)
    for path, tree in (*parsed.items(), *users.items()):
        for name in list_imports(tree):
            importers[name].add(name_module(path))
    imports = []
    for path, tree in parsed.items():
        name = name_module(path)
        others = importers[name] - {name}
        if path.name != "__init__.py" and len(others) == 1:
            lines = logic(tree)
            if lines < SMALL:
                imports.append((name, next(iter(others)), lines))
    return imports


def name_module(path: pathlib.Path) -> str:
    """Return the dotted name of a module of the package or of tests."""
    parts = path.relative_to(TOP.parent).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


def list_imports(tree: ast.Module) -> set[str]:
    """Return the dotted names that a module imports anywhere in it."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def several_questions(
    parsed: collections.abc.Mapping[pathlib.Path, ast.Module],
) -> list[str]:
    """Return the files that name more than one question.

    A file names one in a string, an imported module, or a part of a name.
    """
    modules = []
    for path, tree in parsed.items():
        module_words = _words(tree)
        named = [
            name
            for name, question_words in QUESTIONS.items()
            if question_words & module_words
        ]
        if len(named) > 1:
            modules.append(str(path.relative_to(TOP)))
    return modules


def _words(tree: ast.Module) -> set[str]:
    docstrings = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    used_words: set[str] = set()
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in docstrings
        ):
            used_words.add(node.value)
    for name in list_imports(tree):
        used_words.update(name.split("."))
    return used_words


def main() -> None:
    """Print the tables."""
    parsed = trees()
    counted = rooms(parsed)
    rows: list[tuple[str, ...]] = [("room", "files", "lines of logic")]
    rows += [
        (room, str(files), str(lines))
        for room, (files, lines) in sorted(counted.items())
    ]
    totals = (sum(column) for column in zip(*counted.values(), strict=True))
    rows.append(("all", *map(str, totals)))
    for line in table.padded(rows):
        print(line)
    small = crumbs(parsed, trees(CLOUD))
    print(f"\nmodules below {SMALL} lines with one importer: {len(small)}")
    for name, user, lines in small:
        print(f"  {name} ({lines}), by {user}")
    files = several_questions(parsed)
    print(f"files that name more than one question: {len(files)}")
    for name in files:
        print(f"  {name}")


def trace() -> None:
    """Print through which modules values pass."""
    from tests.bench import passage

    for what, to_verdict, shown in passage.tables():
        print(
            f"{what}: {len(to_verdict)} modules to the verdict, "
            f"{len(shown)} with the report"
        )
        for name in sorted(shown):
            print(f"  {name}{'' if name in to_verdict else ' (report)'}")


if __name__ == "__main__":
    trace() if "--trace" in sys.argv[1:] else main()
