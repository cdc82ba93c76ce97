# SPDX-License-Identifier: Apache-2.0
"""Words and values in outputs of commands, which are untrusted."""

import collections.abc
import dataclasses
import math
import re

from rally_vmperf import sanitize
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base

_NUMBER = re.compile(
    r"[+-]?[0-9]{1,40}(\.[0-9]{0,40})?(e[+-]?[0-9]{1,4})?", re.I
)

_CHECKSUM = re.compile("sha256 ([0-9a-f]{64})\n")

#: Smallest and largest plausible value of each unit.  The bounds are wide:
#: they detect broken output, such as a shifted column or a clock that jumped,
#: and not an unusual machine.
BOUNDS = {
    "B/s": (0.0, 10e12),
    "bit/s": (0.0, 10e12),
    "events/s": (0.0, 1e9),
    "ops/s": (0.0, 1e9),
    "s": (1e-9, 7 * 86400.0),
    "1": (0.0, 1e12),
    "%": (0.0, 100.0),
}


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
        # Python also accepts 1_000 and the digits of other scripts.
        number = float(text) if _NUMBER.fullmatch(text) else math.nan
        if not math.isfinite(number):
            name = f"{self.subject}: {label}" if label else self.subject
            raise Reader(name).error(
                f"is {sanitize.line(text, 40)!r}, not a finite number"
            )
        return number

    def numbers(self, texts: collections.abc.Iterable[str]) -> list[float]:
        """Parse words of the output into a list of finite floats.

        :raises base.WorkloadError: If a word is not a finite number.
        """
        return [self.number(text) for text in texts]

    def check_lines(self, text: str, *lines: str) -> None:
        """Reject an output that lacks or repeats one of the lines.

        :param lines: The lines that repeat the arguments of the command.
        :raises base.WorkloadError: For the first such line.
        """
        output_lines = text.splitlines()
        for line in lines:
            if output_lines.count(line) != 1:
                raise self.error(
                    f"did not print {line.strip()!r} exactly once"
                )

    def match(
        self, text: str, pattern: re.Pattern[str], problem: str
    ) -> tuple[str, ...]:
        """Return the groups of the single match of a pattern as texts.

        :param problem: The description of an output with another number of
            matches.
        :raises base.WorkloadError: If there is not exactly one match.
        """
        matches = list(pattern.finditer(text))
        if len(matches) != 1:
            raise self.error(problem)
        return matches[0].groups()

    def check_time(
        self, seconds: float, time: float, excess: float = 1.0
    ) -> None:
        """Reject a reported duration that is not the requested one.

        :param time: The requested duration in seconds.
        :param excess: The accepted excess in seconds, in addition to 10 %.
        :raises base.WorkloadError: If the run was too short or too long.
        """
        if not 0.9 * time <= seconds <= 1.1 * time + excess:
            raise self.error(f"took {seconds:g} s instead of {time:g} s")

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
        raise Reader(program).error(
            f"printed {sanitize.line(output, 80)!r} instead of 'sha256 ' and "
            "64 digits"
        )
    return {fact: match[1]}


def create_sample(metric: sample.Metric, value: float) -> sample.Sample:
    """Return a Sample of a value; reject implausible values.

    :param value: The value in the unit of the metric.
    :raises base.WorkloadError: If the value is outside the bounds, or neither
        the metric nor its unit has bounds.
    """
    bounds = metric.bounds or BOUNDS.get(metric.unit)
    if bounds is None:
        raise base.WorkloadError(
            f"metric {metric.name}: unit {metric.unit} has no bounds (units "
            f"with bounds: {', '.join(BOUNDS)}); define bounds of the metric"
        )
    smallest, largest = bounds
    if metric.scale == "count":
        smallest = 0.0
    if not smallest <= value <= largest:
        raise base.WorkloadError(
            f"{metric.name} is {value:g} {metric.unit}, which is not "
            f"plausible (range: {smallest:g} to {largest:g}); look at the "
            "raw output"
        )
    try:
        return sample.Sample(metric=metric, value=value)
    except ValueError as error:
        raise base.WorkloadError(f"{error}; look at the raw output") from None


def create_samples(
    metrics: collections.abc.Iterable[sample.Metric],
    figures: collections.abc.Iterable[float | None],
) -> list[sample.Sample]:
    """Return the samples of several metrics as a list.

    :param figures: The values in the order of the metrics; None for an
        optional metric without one.
    :raises base.WorkloadError: If a value is not plausible.
    """
    return [
        create_sample(metric, figure)
        for metric, figure in zip(metrics, figures, strict=True)
        if figure is not None
    ]
