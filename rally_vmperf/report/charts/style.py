# SPDX-License-Identifier: Apache-2.0
"""The marks, ticks and labels that all charts have in common."""

import collections.abc
import math
import typing as t

import markupsafe

from rally_vmperf import sanitize

ItemT = t.TypeVar("ItemT")

#: The markers of verdicts, which differ without colour.
GLYPHS = {
    "passed": "●",
    "failed": "✖",
    "inconclusive": "◆",
    "void": "■",
    "none": "●",
}

#: The names of attributes that are not identifiers in Python.
_NAMES = {"style": "class", "aria_label": "aria-label"}


def shorten(text: str, longest: int) -> str:
    """Return the start of a text, so that it leaves room for the chart.

    :param longest: The maximum length in characters.
    """
    text = " ".join(sanitize.printable(text).split())
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def select_evenly(
    choices: collections.abc.Sequence[ItemT], most: int
) -> list[ItemT]:
    """Return a few of several items at even distances, first and last too."""
    if len(choices) <= most:
        return list(choices)
    step = (len(choices) - 1) / (most - 1)
    return [choices[round(index * step)] for index in range(most)]


def list_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return round numbers between two ends, ascending, as a list.

    :param most: The maximum number of intervals between them.
    """
    span = (high - low or 1.0) / most
    power = 10.0 ** math.floor(math.log10(span))
    step = power * next(
        factor for factor in (1, 2, 5, 10) if factor * power >= span
    )
    first = math.ceil(low / step)
    ticks = [step * (first + index) for index in range(most + 1)]
    return [tick for tick in ticks if low <= tick <= high]


def arrange(
    panels: collections.abc.Iterable[markupsafe.Markup],
) -> markupsafe.Markup:
    """Return charts that stand next to each other if the page is wide."""
    return markupsafe.Markup('<div class="panels">{}</div>').format(
        markupsafe.Markup().join(panels)
    )


def create_element(
    tag: str, text: str | markupsafe.Markup = "", **attributes: object
) -> markupsafe.Markup:
    """Return an element with its escaped text and attributes.

    :param text: The text, or the elements inside.
    :param attributes: The values by name, ``style`` being the classes; those
        that are empty are omitted.
    """
    if not isinstance(text, markupsafe.Markup):
        text = markupsafe.escape(sanitize.printable(text))
    shown = "".join(
        f' {_NAMES.get(name, name)}="'
        f'{markupsafe.escape(sanitize.printable(str(attribute)))}"'
        for name, attribute in attributes.items()
        if attribute != ""
    )
    return markupsafe.Markup(  # noqa: S704 (texts and attributes are escaped)
        f"<{tag}{shown}>{text}</{tag}>"
    )
