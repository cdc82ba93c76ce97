"""Texts of others, made fit to be shown."""

import collections.abc
import typing as t
import unicodedata

import markupsafe

#: What a cell or a fact holds at most; records hold the whole.
LONGEST = 400


#: Stands for ``<``: a quotation mark that looks like it.
LESS = "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}"


def untagged(value: str) -> str:
    """Return a text that begins no tag and ends no script element.

    For Rally's page, which has texts in a script without escaping them.
    """
    return value.replace("<", LESS)


def printable(value: t.Any) -> t.Any:
    """Return a text without control and direction characters.

    They come from machines, and could end a terminal line, turn the reading
    direction or make a document invalid. Markup and other types are left
    alone. Escaping is the templates' part.
    """
    if not isinstance(value, str) or isinstance(value, markupsafe.Markup):
        return value
    return "".join(
        letter
        if letter in "\n\t" or unicodedata.category(letter)[0] != "C"
        else "\N{REPLACEMENT CHARACTER}"
        for letter in value
    )


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
    words = (markupsafe.escape(printable(word)) for word in name.split("."))
    return markupsafe.Markup(".<wbr>").join(words)


def moment(stamp: str) -> str:
    """Return a time in UTC, ISO 8601, without what machines need in it."""
    return stamp.replace("T", " ").replace("+00:00", " UTC")
