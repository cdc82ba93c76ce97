# SPDX-License-Identifier: Apache-2.0
"""Conversion of figures in base units to text.

Figures have three significant digits, more next to a limit from which these
do not distinguish them, and decimal SI prefixes: 1 kB is 1000 B for memory,
disk and network. Limits have all their digits. Units without prefixes
(``events/s``, scores, counts) have their digits in groups of three. Counts
have all digits. Sizes of disks and files are no figures, and have the units of
Nova.
"""

import collections.abc
import math
import typing as t

DIGITS = 3
#: The largest number of digits of a limit; one with more was computed.
_LIMIT_DIGITS = 12

MIB, GIB = 1 << 20, 1 << 30
#: Sizes from this number of bytes on are shown in GiB.
_LARGE = GIB // 2

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


class Estimate(t.NamedTuple):
    """A figure with the ends of its interval, which can be None."""

    value: float
    low: float | None = None
    high: float | None = None

    def negate(self) -> "Estimate":
        """Return the estimate of the negated figure: a gain for a loss."""
        low, high = (
            None if end is None else negate(end)
            for end in (self.low, self.high)
        )
        return Estimate(negate(self.value), high, low)


class Shown(t.NamedTuple):
    """An estimate as texts with units; an interval that is missing is ""."""

    value: str
    interval: str


def show_estimate(
    estimate: Estimate,
    unit: str,
    limit: float | None = None,
    decimals: int | None = None,
) -> Shown:
    """Return a figure and its interval as texts: ``4.1 %``, ``3.2 to 5 %``.

    They have as many digits as distinguish the interval from the limit.

    :param unit: The base unit of the figure, its interval and its limit.
    :param decimals: The least number of decimals; None for one in
        percentages, and for significant digits in others.
    """
    value, low, high = estimate
    if decimals is None and unit == "%":
        decimals = 1
    ends = [end for end in (low, high) if end is not None]
    if decimals is None:
        digits = _digits_apart(ends or [value], limit, DIGITS, _round)
        interval = " to ".join(show(end, unit, digits) for end in ends)
        text = show(value, unit, digits)
        return Shown(text, interval if len(ends) > 1 else "")
    digits = _digits_apart(ends, limit, decimals, round)
    sign = " %" if unit == "%" else ""
    interval = " to ".join(show_percent(end, digits) for end in ends)
    return Shown(
        f"{show_percent(value, digits)}{sign}",
        f"{interval}{sign}" if len(ends) > 1 else "",
    )


def show_limit(limit: float, unit: str, has_decimals: bool = False) -> str:
    """Return a limit as text: ``5 %``, ``0.9``, ``200 MB/s``.

    :param has_decimals: Whether the figure has decimals and not significant
        digits; percentages always have.
    """
    if unit == "%":
        return f"{limit:g} %"
    if has_decimals:
        return f"{limit:g}"
    digits = next(
        (
            number
            for number in range(DIGITS, _LIMIT_DIGITS + 1)
            if _round(limit, number) == limit
        ),
        DIGITS,
    )
    return show(limit, unit, digits)


def negate(number: float) -> float:
    """Return a loss as a gain, or the reverse; never minus zero."""
    return -number or 0.0


def show(value: float, unit: str, digits: int = DIGITS) -> str:
    """Return a figure as text: ``6.26 GB/s``, ``812 us``, ``17``.

    :param value: The value in the base unit.
    :param unit: The base unit; ``1`` is a count and has no text.
    :param digits: The number of significant digits.
    :raises ValueError: If the value is not finite.
    """
    if not math.isfinite(value):
        raise ValueError(f"{value} {unit}: must be a finite number")
    if unit == "1" and float(value).is_integer():
        return f"{value:,.0f}".replace(",", " ")
    factor, text = scale_for([_round(value, digits)], unit)
    return f"{_format_digits(value * factor, unit, digits)} {text}".rstrip()


def show_percent(value: float, digits: int = 1) -> str:
    """Return a percentage to one decimal, without its sign: ``-1.7``."""
    return f"{value if round(value, digits) else 0:.{digits}f}"


def _digits_apart(
    figures: collections.abc.Collection[float],
    limit: float | None,
    minimum: int,
    round_to: t.Callable[[float, int], float],
) -> int:
    """Return the number of digits that distinguish figures from a limit.

    A figure is on the same side of the limit as without rounding.

    :param minimum: The smallest number of digits; figures that equal the
        limit in three more digits are shown as the limit.
    :param round_to: A function that rounds a figure to a number of digits.
    """
    if limit is None:
        return minimum
    for digits in range(minimum, minimum + 4):
        rounded = [(figure, round_to(figure, digits)) for figure in figures]
        if all(
            shown == limit
            if figure == limit
            else (shown - limit) * (figure - limit) > 0
            for figure, shown in rounded
        ):
            return digits
    return minimum


def show_sizes(*sizes: int) -> list[str]:
    """Return sizes as texts: ``20.5 GiB``, ``64 MiB``.

    They have as many decimals as distinguish different sizes.

    :param sizes: The sizes in bytes that are compared with each other.
    """
    for decimals in range(4):
        texts = [_show_size(size, decimals) for size in sizes]
        if len({*texts}) == len({*sizes}):
            return texts
    return [f"{size} bytes" for size in sizes]


def _show_size(size: int, decimals: int) -> str:
    """Return a size as text, in GiB with at least one decimal."""
    if size < _LARGE:
        return f"{size / MIB:.{decimals}f} MiB"
    return f"{size / GIB:.{max(1, decimals)}f} GiB"


def number_of(noun: str, *numbers: int) -> str:
    """Return numbers with a noun as text: ``1 guest``, ``2, 3 copies``."""
    text = ", ".join(map(str, sorted(numbers)))
    return f"{text} {noun if text == '1' else plural(noun)}"


def plural(noun: str) -> str:
    """Return the plural of a noun: ``copies``, ``addresses``, ``guests``."""
    if noun.endswith("y") and noun[-2:-1] not in "aeou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith("s") else f"{noun}s"


def scale_for(
    values: collections.abc.Iterable[float], unit: str
) -> tuple[float, str]:
    """Return a common factor for values, and the scaled unit as text.

    :param values: The values in the base unit; the largest sets the prefix.
    :returns: The factor for each value, and the text of the unit.
    """
    prefixes = _PREFIXES.get(unit)
    if prefixes is None:
        return 1.0, "" if unit == "1" else unit
    largest = max((abs(value) for value in values), default=0.0)
    if not largest:
        return 1.0, unit
    size, prefix = next(
        (candidate for candidate in prefixes if largest >= candidate[0]),
        prefixes[-1],
    )
    return 1 / size, f"{prefix}{unit}"


def _round(value: float, digits: int) -> float:
    """Return a value rounded to a number of significant digits."""
    return float(f"{value:.{digits - 1}e}")


def _format_digits(value: float, unit: str, digits: int) -> str:
    """Return a value as text with a number of significant digits."""
    value = _round(value, digits)
    if not value:
        return "0"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    if unit == "1" and value.is_integer():
        decimals = 0
    return f"{value:,.{decimals}f}".replace(",", " ")
