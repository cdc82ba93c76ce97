# SPDX-License-Identifier: Apache-2.0
"""A report of lengths and numbers that are reasons to look at the code.

None of them is an error: a module or a function that is divided because of
its length is harder to read. ``make lint`` prints the report.
"""

import ast
import pathlib
import re

from tests.bench import architecture
from tests.unit.doc import prose

TOP = pathlib.Path(__file__).parent.parent / "rally_vmperf"
#: The lengths above which a module, a folder or a page is listed.
MODULE_LINES = 700
FOLDER_MODULES = 15
PAGE_LINES = 250
#: The length above which a function is listed: a screen.
FUNCTION_LINES = 60
#: An annotation of a plain document, which is no typed record.
_PLAIN = re.compile(r"\bJson\b|dict\[str, (t\.)?Any\]")
#: The name of an axis, which only its option, action and criterion need.
_AXIS = re.compile("neighbours", re.IGNORECASE)


def list_long_modules() -> list[str]:
    """Return a line for each module above the length, the longest first."""
    lengths = {
        path: len(path.read_text().splitlines()) for path in TOP.rglob("*.py")
    }
    return [
        f"{path.relative_to(TOP.parent)}: {lengths[path]} lines"
        for path in sorted(lengths, key=lengths.__getitem__, reverse=True)
        if lengths[path] > MODULE_LINES
    ]


def list_large_folders() -> list[str]:
    """Return a line for each folder with more modules, sorted by path."""
    folders = {path.parent for path in TOP.rglob("*.py")}
    return [
        f"{folder.relative_to(TOP.parent)}: {number} modules"
        for folder in sorted(folders)
        if (number := len([*folder.glob("[!_]*.py")])) > FOLDER_MODULES
    ]


def list_long_pages() -> list[str]:
    """Return a line for each long page, and one for all pages by hand."""
    lengths = {
        name: len(path.read_text().splitlines())
        for name, path in prose.BY_HAND.items()
    }
    return [
        *(
            f"{name}: {length} lines"
            for name, length in sorted(lengths.items())
            if length > PAGE_LINES
        ),
        f"all pages by hand: {sum(lengths.values())} lines",
    ]


def list_long_functions() -> list[str]:
    """Return a line for each function above the length, sorted by path."""
    return [
        f"{path.relative_to(TOP.parent)}: {node.name} has {length} lines"
        for path in sorted(TOP.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (length := (node.end_lineno or 0) - node.lineno + 1)
        > FUNCTION_LINES
    ]


def list_small_modules() -> list[str]:
    """Return a line for each small module that one other imports."""
    modules = architecture.crumbs(
        architecture.trees(TOP), architecture.trees(architecture.CLOUD)
    )
    return [
        f"{module}: {lines} lines of logic, imported by {importer} only"
        for module, importer, lines in modules
    ]


def list_numbers() -> list[str]:
    """Return a line for plain documents, and one for the axis."""
    texts = [path.read_text() for path in TOP.rglob("*.py")]
    plain = sum(
        1
        for text in texts
        for line in text.splitlines()
        if _PLAIN.search(line)
    )
    modules = sum(1 for text in texts if _AXIS.search(text))
    return [
        f"lines with a plain document: {plain}",
        f"modules that name the axis of neighbours: {modules}",
    ]


def main() -> None:
    """Print all lines."""
    for line in (
        *list_long_modules(),
        *list_long_functions(),
        *list_large_folders(),
        *list_small_modules(),
        *list_long_pages(),
        *list_numbers(),
    ):
        print(line)


if __name__ == "__main__":
    main()
