"""Outputs of commands, taken with the caution due to untrusted text."""

import collections.abc
import math
import re

from rally_vmperf.workloads import base

#: Characters of an output beyond which it is not looked at.
LONGEST = 1 << 20

_NUMBER = re.compile(
    r"[+-]?[0-9]{1,40}(\.[0-9]{0,40})?(e[+-]?[0-9]{1,4})?", re.I
)


def taken(
    outcomes: collections.abc.Mapping[str, base.Outcome], name: str
) -> base.Outcome | None:
    """Return the outcome of a command, or None when it has none.

    :raises base.WorkloadError: when the command failed or printed too much
    """
    outcome = outcomes.get(name)
    if outcome is None:
        return None
    if outcome.exit_status != 0:
        said = printable(outcome.stderr or outcome.stdout)
        raise base.WorkloadError(
            f"command {name} ended with exit status {outcome.exit_status} "
            f"and said {said!r}; run it by hand to see why"
        )
    if len(outcome.stdout) > LONGEST:
        raise base.WorkloadError(
            f"command {name} printed {len(outcome.stdout)} characters; more "
            f"than {LONGEST} are not read"
        )
    return outcome


def printable(text: str, longest: int = 200) -> str:
    """Return the start of a text as one line that is safe to show."""
    start = " ".join(text[: 4 * longest].split())
    return "".join(c if c.isprintable() else "?" for c in start)[:longest]


def number(text: str, what: str) -> float:
    """Return the finite number that a word of an output is.

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
            f"{what} is {printable(text, 40)!r}, not a finite number; look "
            "at the raw output"
        )
    return value
