"""JSON files that a crash or a hand may have broken."""

import json
import pathlib
import typing as t


def read(path: pathlib.Path) -> dict[str, t.Any] | None:
    """Return what a file holds; None when it is missing or broken.

    :param path: a file with one JSON object
    """
    try:
        content = json.loads(path.read_text())
    except (FileNotFoundError, IsADirectoryError, ValueError):
        return None
    return content if isinstance(content, dict) else None


def broken(path: pathlib.Path) -> bool:
    """Tell whether there is such a file and nothing to be read in it."""
    return path.exists() and read(path) is None
