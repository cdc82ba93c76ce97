# SPDX-License-Identifier: Apache-2.0
"""Sanitisation of external text.

Names in a cloud, consoles, documents and outputs of tools may contain
scripts, templates or control sequences of terminals.
"""

import re
import typing as t
import unicodedata

#: The replacement of control and direction characters.
HIDDEN = "\N{REPLACEMENT CHARACTER}"
#: Characters that look like the start of a tag, an entity or an expression,
#: but are not.
LESS = "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}"
AND = "\N{FULLWIDTH AMPERSAND}"
BRACE = "\N{FULLWIDTH LEFT CURLY BRACKET}"
#: The maximum length of a message, which may quote the end of a console.
MAX_MESSAGE_CHARACTERS = 8000

#: A tag, comment or declaration can start here. In HTML, "<" before a space,
#: "=" or a digit is text, so that messages such as "must be <= 1" are kept.
_TAG = re.compile(r"<(?![ =0-9])")
_OTHERS = str.maketrans({"&": AND, "\t": " "})
#: The start of an expression of AngularJS; without it, "}}" has no effect.
_EXPRESSION = re.compile(r"\{(?=\{)")


class Sanitized(str):
    """A text without markup, templates and control characters.

    Only ``text`` creates instances. Errors and findings of rally_vmperf
    contain no other texts.
    """

    __slots__ = ()


def text(content: object, longest: int = MAX_MESSAGE_CHARACTERS) -> Sanitized:
    """Return a text without markup, templates and control characters.

    Rally does not escape texts in its report, which is a template of
    AngularJS. Texts that are sanitised already are not changed.

    :param content: The text, or an object that is converted to text.
    :param longest: The maximum number of characters.
    """
    if isinstance(content, Sanitized) and len(content) <= longest:
        return content
    safe = _TAG.sub(LESS, printable(str(content), longest)).translate(_OTHERS)
    return Sanitized(_EXPRESSION.sub(BRACE, safe))


def line(content: object, longest: int = 200) -> str:
    """Return the start of a text as one line; quotes are not escaped."""
    return printable(" ".join(str(content)[: 4 * longest].split()))[:longest]


def printable(content: str, longest: int | None = None) -> str:
    """Return a text without control and direction characters.

    Such characters can end a line of a terminal, change the direction of the
    text or make a document invalid. Line ends and tabs are not removed.

    :param content: The text.
    :param longest: The maximum number of characters; None disables the limit.
    """
    shortened = content if longest is None else _shorten(content, longest)
    if shortened.isprintable():
        return shortened
    return "".join(
        HIDDEN if _is_control(letter) else letter for letter in shortened
    )


def printable_or_same(value: t.Any) -> t.Any:
    """Return a printable text, or a value of another type unchanged."""
    return printable(value) if type(value) is str else value


def _is_control(letter: str) -> bool:
    """Return whether a character is a control or format character."""
    if letter in "\n\t":
        return False
    category = unicodedata.category(letter)
    return category[0] == "C" or category in ("Zl", "Zp")


def _shorten(content: str, longest: int) -> str:
    """Return a text, cut with an ellipsis if it is too long."""
    return content if len(content) <= longest else f"{content[: longest - 1]}…"
