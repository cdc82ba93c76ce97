# SPDX-License-Identifier: Apache-2.0
"""The unit tests of a module.

    python -m tests.related rally_vmperf/judging/axis.py...

Prints the test modules that import a module of the package. A module that no
test imports is tested by those of the modules that use it; one that nobody
imports, such as a plugin or a script, by those of its folder. ``make unit-of
MODULE=rally_vmperf/judging/axis.py`` runs them.
"""

import ast
import collections.abc
import functools
import pathlib
import sys

from tests.bench import architecture

ROOT = architecture.TOP.parent
TESTS = ROOT / "tests" / "unit"
Graph = collections.abc.Mapping[str, collections.abc.Set[str]]


@functools.cache
def read_importers() -> dict[str, set[str]]:
    """Return the names of the modules that import each module."""
    importers: dict[str, set[str]] = {}
    for folder in (architecture.TOP, TESTS):
        for path in sorted(folder.rglob("*.py")):
            tree = ast.parse(path.read_text())
            for name in architecture.list_imports(tree):
                importers.setdefault(name, set()).add(
                    architecture.name_module(path)
                )
    return importers


def find_tests(module: str, importers: Graph) -> list[str]:
    """Return the test modules that import a module, or those of its users.

    If nobody imports it, they are those of its folder, or of the nearest one
    that has any.

    :param module: The dotted name of the module.
    :param importers: The names of the modules that import each module.
    """
    seen, users = {module}, {module}
    while users:
        users = {
            importer
            for user in users
            for importer in importers.get(user, ())
            if importer not in seen
        }
        seen |= users
        tests = sorted(user for user in users if _is_test(user))
        if tests:
            return tests
    folder = TESTS.joinpath(*module.split(".")[1:-1])
    while not (
        tests := sorted(
            map(architecture.name_module, folder.glob("test_*.py"))
        )
    ):
        folder = folder.parent
    return tests


def _is_test(module: str) -> bool:
    """Return whether a name is that of a module of tests."""
    is_ours = module.startswith("tests.")
    return is_ours and module.rpartition(".")[2].startswith("test_")


def main(arguments: collections.abc.Sequence[str]) -> int:
    """Print the test modules of the modules with these paths."""
    if not arguments:
        print("no module: give the path of one", file=sys.stderr)
        return 2
    paths = [pathlib.Path(argument).resolve() for argument in arguments]
    for argument, path in zip(arguments, paths, strict=True):
        if not (path.is_file() and path.is_relative_to(architecture.TOP)):
            print(f"{argument}: no module of rally_vmperf", file=sys.stderr)
            return 2
    importers = read_importers()
    found = dict.fromkeys(
        test
        for path in paths
        for test in find_tests(architecture.name_module(path), importers)
    )
    print(*found, sep="\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
