"""How a figure in base units is shown to a person.

One rule for all: three significant digits and decimal SI prefixes, so that
1 kB is 1000 B for memory, disk and network alike. Units that no prefix suits
(``events/s``, scores, counts) keep their digits in groups of three.
"""

import collections.abc
import math

DIGITS = 3

_UP = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))
_DOWN = ((1.0, ""), (1e-3, "m"), (1e-6, "u"), (1e-9, "n"))
_PREFIXES = {
    "B": _UP,
    "B/s": _UP,
    "bit": _UP,
    "bit/s": _UP,
    "Hz": _UP,
    "ops/s": _UP,
    "s": _DOWN,
}


def show(value: float, unit: str) -> str:
    """Return a figure as text: ``6.26 GB/s``, ``812 us``, ``17``.

    :param value: in the base unit
    :param unit: the base unit; ``1`` is a count and has no text
    :raises ValueError: for a value that is not finite
    """
    if not math.isfinite(value):
        raise ValueError(f"{value} {unit} is no figure, say why it is missing")
    factor, text = scale_for([_rounded(value)], unit)
    return f"{_digits(value * factor, unit)} {text}".rstrip()


def show_percent(value: float, digits: int = 1) -> str:
    """Return a percentage to one decimal, without its sign: ``-1.7``."""
    return f"{value if round(value, digits) else 0:.{digits}f}"


def digits_apart(
    values: collections.abc.Iterable[float],
    limit: float | None,
    digits: int = 1,
) -> int:
    """Return how many decimals keep values apart from a limit.

    :param digits: at least; what is the limit to three more is shown as it
    """
    others = [one for one in values if one != limit]
    if limit is None:
        return digits
    for enough in range(digits, digits + 4):
        if all(round(one, enough) != limit for one in others):
            return enough
    return digits


def number_of(noun: str, *numbers: int) -> str:
    """Return numbers of something in words: ``1 guest``, ``2, 3 copies``."""
    words = ", ".join(map(str, sorted(numbers)))
    return f"{words} {noun if words == '1' else plural(noun)}"


def plural(noun: str) -> str:
    """Return the plural of a noun: ``copies``, ``addresses``, ``guests``."""
    if noun.endswith("y"):
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith("s") else f"{noun}s"


def scale_for(
    values: collections.abc.Iterable[float], unit: str
) -> tuple[float, str]:
    """Return a common scale for a chart axis or a column of a table.

    :param values: in the base unit; the largest one sets the prefix
    :returns: the factor to multiply each value with, and the unit's text
    """
    prefixes = _PREFIXES.get(unit)
    if prefixes is None:
        return 1.0, "" if unit == "1" else unit
    largest = max((abs(value) for value in values), default=0.0)
    if not largest:
        return 1.0, unit
    size, prefix = next(
        (entry for entry in prefixes if largest >= entry[0]), prefixes[-1]
    )
    return 1 / size, f"{prefix}{unit}"


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS - 1}e}")


def _digits(value: float, unit: str) -> str:
    value = _rounded(value)
    if not value:
        return "0"
    decimals = max(0, DIGITS - 1 - math.floor(math.log10(abs(value))))
    if unit == "1" and value.is_integer():
        decimals = 0
    return f"{value:,.{decimals}f}".replace(",", " ")
