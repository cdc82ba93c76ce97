"""Values of records as pages show them."""

import collections.abc
import typing as t

import markupsafe

from rally_vmperf import sanitize

#: What a cell or a fact holds at most; records hold the whole.
LONGEST = 400


def flat(value: t.Any) -> str:
    """Return any JSON value as one short line."""
    if isinstance(value, collections.abc.Mapping):
        words = ", ".join(f"{key}={flat(one)}" for key, one in value.items())
    elif isinstance(value, list | tuple):
        words = ", ".join(flat(one) for one in value)
    elif isinstance(value, bool) or value is None:
        words = {True: "yes", False: "no", None: "unknown"}[value]
    else:
        words = str(value)
    return words if len(words) <= LONGEST else words[: LONGEST - 1] + "…"


def breakable(name: str) -> markupsafe.Markup:
    """Return a metric's name that a narrow column breaks after its dots."""
    words = (
        markupsafe.escape(sanitize.printable(word)) for word in name.split(".")
    )
    return markupsafe.Markup(".<wbr>").join(words)


def moment(stamp: str) -> str:
    """Return a time in UTC for readers, from ISO 8601."""
    return stamp.replace("T", " ").replace("+00:00", " UTC")
