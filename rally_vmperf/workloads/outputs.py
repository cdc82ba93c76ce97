"""Outputs of commands, read as untrusted text."""

import math
import re

from rally_vmperf import sanitize
from rally_vmperf.workloads import base

_NUMBER = re.compile(
    r"[+-]?[0-9]{1,40}(\.[0-9]{0,40})?(e[+-]?[0-9]{1,4})?", re.I
)

_CHECKSUM = re.compile("sha256 ([0-9a-f]{64})\n")


def number(text: str, what: str) -> float:
    """Return a word of an output as a finite number.

    :param what: names the word in the message
    :raises base.WorkloadError: when it is none
    """
    try:
        # Python would also take 1_000 and the digits of other scripts.
        value = float(text) if _NUMBER.fullmatch(text) else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise base.WorkloadError(
            f"{what} is {sanitize.line(text, 40)!r}, not a finite number; "
            "look at the raw output"
        )
    return value


def slack(word: str) -> float:
    """Return half of a unit in the last digit of a number as printed."""
    return 0.5001 * 10.0 ** -len(word.partition(".")[2])


def checksum(
    outcomes: base.Outcomes, program: str, fact: str
) -> dict[str, str]:
    """Return the SHA-256 that a program of rally_vmperf printed of its data.

    :param outcomes: of which one may be that of ``generate``, its command
    :param fact: what it is called; nothing where the command failed
    :raises base.WorkloadError: when it told something else
    """
    if "generate" not in outcomes:
        return {}
    told = outcomes["generate"].checked().stdout
    found = _CHECKSUM.fullmatch(told)
    if not found:
        raise base.WorkloadError(
            f"{program} printed {sanitize.line(told, 80)!r} instead "
            "of 'sha256 ' and 64 digits; look at the raw output"
        )
    return {fact: found[1]}
