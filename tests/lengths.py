"""A report of the lengths of modules, folders and pages.

A length is a reason to look at a module, and no error: a module that is
divided because of its length is harder to read. ``make lint`` prints it.
"""

import pathlib

from tests.unit.doc import prose

TOP = pathlib.Path(__file__).parent.parent / "rally_vmperf"
#: The lengths above which a module, a folder or a page is listed.
MODULE_LINES = 700
FOLDER_MODULES = 15
PAGE_LINES = 250


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


def main() -> None:
    """Print all lines."""
    for line in (
        *list_long_modules(),
        *list_large_folders(),
        *list_long_pages(),
    ):
        print(line)


if __name__ == "__main__":
    main()
