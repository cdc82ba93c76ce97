"""The result of a job in the report of its untrusted supervisor."""

import collections.abc
import re

from rally_vmperf.machines import base
from rally_vmperf.measurement import command_result

#: Tolerance in seconds between the clock and the uptime, which has two digits.
_APART = 0.02
#: Maximum characters of a report; a supervisor writes about 200.
_MAX_REPORT_CHARACTERS = 2048
#: The maximum time, the year 9999, in seconds since the epoch.
_LATEST = 253402300800


def parse_fields(header: str) -> dict[str, str]:
    """Return the key=value fields of a supervisor's report as a dict."""
    return dict(re.findall(r"\b(\w+)=(\S+)", header[:_MAX_REPORT_CHARACTERS]))


def parse_result(
    machine: str, command: str, header: str, stdout: str = "", stderr: str = ""
) -> command_result.CommandResult:
    """Check a supervisor's report and return it as a CommandResult.

    :raises MachineError: If the report is not valid, or if the clock was
        stepped meanwhile.
    """
    report = parse_fields(header)
    try:
        status = _parse_status(report["exit"])
        started, ended = (
            parse_time(report["started"]),
            parse_time(report["ended"]),
        )
        step = _clock_step(started, ended, report)
        seconds = (
            ended - started if step else _reject_negative(ended - started)
        )
        user, system = (parse_time(report[key]) for key in ("user", "system"))
    except (KeyError, ValueError):
        raise base.MachineError(
            f"{machine}: command {command} left {header[:100]!r} "
            "instead of its result; check whether its directory was cleared "
            "or full"
        ) from None
    if step:
        raise base.MachineError(
            f"clock of {machine} was stepped by {step:+.2f} s while "
            f"{command} ran; repeat the run, or stop its time synchronisation"
        )
    return command_result.CommandResult(
        name=command,
        exit_status=status,
        seconds=seconds,
        started=started,
        ended=ended,
        user=user,
        system=system,
        stdout=stdout,
        stderr=stderr,
    )


def _clock_step(
    started: float, ended: float, report: collections.abc.Mapping[str, str]
) -> float:
    """Return the step of the clock in seconds, 0 if it was not stepped.

    Uptime cannot be stepped and runs as fast as the clock. The time between
    the readings of clock and uptime is a tolerance, for machines that are slow
    or without CPU at that time.
    """
    lasted = _reject_negative(
        _parse_number(report["up_ended"]) - _parse_number(report["up"])
    )
    step = ended - started - lasted
    between = max(started - parse_time(report["before"]), 0) + max(
        parse_time(report["after"]) - ended, 0
    )
    return step if abs(step) > _APART + between else 0.0


def _parse_status(text: str) -> int:
    """Parse an exit status from 0 to 255 into an integer."""
    if not re.fullmatch("[0-9]{1,3}", text) or int(text) > 255:
        raise ValueError(text)
    return int(text)


def _parse_number(text: str) -> float:
    """Parse a decimal number into a float; raise ValueError if invalid."""
    # Python also accepts 1_000, nan, and the digits of other scripts.
    if not re.fullmatch(r"-?[0-9]{1,20}(\.[0-9]{1,20})?", text):
        raise ValueError(text)
    return float(text)


def parse_time(text: str) -> float:
    """Parse a clock time into seconds since the epoch as a float.

    :raises ValueError: If the text is not a valid time.
    """
    number = _parse_number(text)
    if not 0 <= number < _LATEST:
        raise ValueError(text)
    return number


def _reject_negative(number: float) -> float:
    """Return the number unchanged; raise ValueError if it is negative."""
    if number < 0:
        raise ValueError(number)
    return number
