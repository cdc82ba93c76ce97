"""Texts of others, made safe to show.

Names in a cloud, consoles, documents and outputs of tools are foreign: they
may hold a script, a template, or what a terminal obeys.
"""

import re
import typing as t
import unicodedata

#: What a control or direction character becomes.
HIDDEN = "\N{REPLACEMENT CHARACTER}"
#: What begins a tag, an entity or a template becomes what looks like it.
LESS = "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}"
AND = "\N{FULLWIDTH AMPERSAND}"
#: Characters of a message; the longest quotes the end of a console.
LONGEST = 8000

_TAGS = str.maketrans({"<": LESS, "&": AND, "\t": " "})
_BRACES = {
    "{": "\N{FULLWIDTH LEFT CURLY BRACKET}",
    "}": "\N{FULLWIDTH RIGHT CURLY BRACKET}",
}
_DOUBLE = re.compile(r"\{(?=\{)|\}(?=\})")


class Sanitized(str):
    """A text that no page, script, template or terminal obeys.

    Only ``text`` makes one.  Errors and findings of ours hold nothing else.
    """

    __slots__ = ()


def text(value: object, longest: int = LONGEST) -> Sanitized:
    """Return a text without markup, templates and control characters.

    Rally has texts in its page unescaped, and its page is a template of
    AngularJS.  What is safe already stays as it is.

    :param longest: characters that are kept
    """
    if isinstance(value, Sanitized) and len(value) <= longest:
        return value
    safe = printable(str(value), longest).translate(_TAGS)
    return Sanitized(_DOUBLE.sub(lambda one: _BRACES[one[0]], safe))


def line(value: object, longest: int = 200) -> str:
    """Return the start of a text as one line; quotes are still to escape."""
    return printable(" ".join(str(value)[: 4 * longest].split()))[:longest]


def printable(value: str, longest: int | None = None) -> str:
    """Return a text without control and direction characters.

    They could end a terminal's line, turn the reading direction or make a
    document invalid.  Ends of lines and tabulators stay.

    :param longest: characters that are kept
    """
    kept = value if longest is None else _shortened(value, longest)
    if kept.isprintable():
        return kept
    return "".join(
        HIDDEN if _is_control(letter) else letter for letter in kept
    )


def printable_or_same(value: t.Any) -> t.Any:
    """Return a text printable, and any other value as it is."""
    return printable(value) if type(value) is str else value


def _is_control(letter: str) -> bool:
    if letter in "\n\t":
        return False
    category = unicodedata.category(letter)
    return category[0] == "C" or category in ("Zl", "Zp")


def _shortened(value: str, longest: int) -> str:
    return value if len(value) <= longest else f"{value[: longest - 1]}…"
