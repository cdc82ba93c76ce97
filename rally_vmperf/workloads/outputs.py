"""Outputs of commands, parsed as untrusted text."""

import collections.abc
import dataclasses
import math
import re

from rally_vmperf import sanitize
from rally_vmperf.workloads import base

_NUMBER = re.compile(
    r"[+-]?[0-9]{1,40}(\.[0-9]{0,40})?(e[+-]?[0-9]{1,4})?", re.I
)

_CHECKSUM = re.compile("sha256 ([0-9a-f]{64})\n")


@dataclasses.dataclass(frozen=True)
class Reader:
    """A reader of a tool's output, whose messages name the measurement.

    :param subject: The tool and what it measured, such as ``ping: to_peer``.
    """

    subject: str

    def error(self, problem: str) -> base.WorkloadError:
        """Return a WorkloadError that describes an invalid output."""
        return base.WorkloadError(
            f"{self.subject} {problem}; look at the raw output"
        )

    def number(self, text: str, label: str = "") -> float:
        """Parse a word of the output into a finite float.

        :param label: The name of the number in the message.
        :raises base.WorkloadError: If the word is not a finite number.
        """
        suffix = f": {label}" if label else ""
        return parse_number(text, f"{self.subject}{suffix}")

    def numbers(self, texts: collections.abc.Iterable[str]) -> list[float]:
        """Parse words of the output into a list of finite floats.

        :raises base.WorkloadError: If a word is not a finite number.
        """
        return [self.number(text) for text in texts]

    def check_duration(
        self, seconds: float, result: base.CommandResult, slack: float = 0.01
    ) -> None:
        """Reject a reported duration that exceeds that of the command.

        :param slack: The accepted difference in seconds.
        :raises base.WorkloadError: If the duration is longer.
        """
        if seconds > result.seconds + slack:
            raise self.error(
                f"took {seconds:g} s of a command that took "
                f"{result.seconds:g} s"
            )


def parse_number(text: str, label: str) -> float:
    """Parse a word of an output into a finite float.

    :param label: The name of the number in the message.
    :raises base.WorkloadError: If the word is not a finite number.
    """
    try:
        # Python also accepts 1_000 and the digits of other scripts.
        parsed = float(text) if _NUMBER.fullmatch(text) else math.nan
    except ValueError:
        parsed = math.nan
    if not math.isfinite(parsed):
        raise base.WorkloadError(
            f"{label} is {sanitize.line(text, 40)!r}, not a finite number; "
            "look at the raw output"
        )
    return parsed


def rounding_slack(printed: str) -> float:
    """Return half a unit in the last digit of a printed number, a float."""
    return 0.5001 * 10.0 ** -len(printed.partition(".")[2])


def parse_checksum(
    results: base.Results, program: str, fact: str
) -> dict[str, str]:
    """Return a dict of the SHA-256 that a script printed for its data.

    :param results: The results of the commands; without the command
        ``generate`` there are no facts.
    :param program: The name of the script in the message.
    :param fact: The name of the fact.
    :raises base.WorkloadError: If the output is not a checksum.
    """
    if "generate" not in results:
        return {}
    output = base.check_result(results["generate"]).stdout
    match = _CHECKSUM.fullmatch(output)
    if not match:
        raise base.WorkloadError(
            f"{program} printed {sanitize.line(output, 80)!r} instead "
            "of 'sha256 ' and 64 digits; look at the raw output"
        )
    return {fact: match[1]}
