# SPDX-License-Identifier: Apache-2.0
"""The text of values on pages."""

import collections.abc
import typing as t

import markupsafe

from rally_vmperf import sanitize

#: The maximum length of a cell or fact in characters.
MAX_CELL_CHARACTERS = 400


def flatten(value: t.Any) -> str:
    """Return a JSON value as one short line."""
    if isinstance(value, collections.abc.Mapping):
        line = ", ".join(
            f"{key}={flatten(element)}" for key, element in value.items()
        )
    elif isinstance(value, list | tuple):
        line = ", ".join(flatten(element) for element in value)
    elif isinstance(value, bool) or value is None:
        line = {True: "yes", False: "no", None: "unknown"}[value]
    else:
        line = str(value)
    return (
        line
        if len(line) <= MAX_CELL_CHARACTERS
        else line[: MAX_CELL_CHARACTERS - 1] + "…"
    )


def breakable(name: str) -> markupsafe.Markup:
    """Return a metric's name as markup that can wrap after its dots."""
    parts = (
        markupsafe.escape(sanitize.printable(part)) for part in name.split(".")
    )
    return markupsafe.Markup(".<wbr>").join(parts)


def format_time(stamp: str) -> str:
    """Return an ISO 8601 time as text in UTC for display."""
    return stamp.replace("T", " ").replace("+00:00", " UTC")
