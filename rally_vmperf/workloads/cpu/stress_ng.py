"""Processor workload: CPU methods of stress-ng."""

import re

from rally_vmperf import sanitize
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import schemas
from rally_vmperf.workloads import sensitivities
from rally_vmperf.workloads import sequence
from rally_vmperf.workloads import tools

#: Methods of different kinds, which all versions of ten years have.
METHODS = (
    *("matrixprod", "fft", "int64", "double", "sieve", "queens"),
    *("ackermann", "crc16"),
)

_LINE = r"^stress-ng: (?:info|metrc): +\[[0-9]{1,10}\] "
_STARTED = re.compile(_LINE + r"dispatching hogs: ([0-9]{1,9}) cpu\n", re.M)
#: Old versions do not print the duration.
_REQUESTED = re.compile(
    _LINE + r"setting to an? ([0-9]{1,9}) sec(?:ond)? run per stressor\n", re.M
)
_COMPLETED = re.compile(_LINE + r"successful run completed in .{1,80}\n", re.M)
#: Operations, three times in seconds, and operations per second of wall time
#: and of processor time.
_DECIMAL = re.compile(r"[0-9]{1,20}\.[0-9]{2}")
_ROW = re.compile(_LINE + r"cpu +(.{1,200}?) *\n", re.M)
#: Problems of the run that 0.16 and later print.
_FAULTS = re.compile(
    _LINE + r"(failed|skipped|metrics untrustworthy): (?!0\n)(.{1,80})", re.M
)


class StressNg(sequence.CommandSequenceWorkload):
    """Kinds of work in sequence, each repeated for a fixed time."""

    name = "stress_ng"
    title = "Processor: kinds of work with stress-ng"
    part = "cpu"
    ARGUMENTS = schemas.schema(
        methods=schemas.sequence(METHODS, default=("matrixprod",)),
        threads=schemas.concurrency("processes"),
        time=schemas.duration("Duration of each method"),
    )
    OPTIONS = "methods"
    METRICS = (sample.Metric("cpu.stress_ng.{}.rate", "ops/s", "higher"),)
    TOOLS = (
        tools.define(
            "stress-ng",
            advice={
                "dnf": "before RHEL 8 stress-ng is in EPEL: enable it",
                "zypper": "on SLES stress-ng is in Package Hub: enable it",
            },
        ),
    )
    SENSITIVE_TO = sensitivities.INSTRUCTIONS

    def command(
        self, option: str, arguments: base.Arguments, endpoints: base.Endpoints
    ) -> base.Command:
        """Return the Command that runs a method for the requested time."""
        seconds = arguments["time"]
        argv = base.argv(
            "stress-ng --metrics-brief --timeout {time}s --cpu {threads} "
            "--cpu-method {method}",
            arguments,
            method=option,
        )
        return base.Command(
            name=option, argv=argv, timeout=2 * seconds + 60, seconds=seconds
        )

    def parse(
        self, arguments: base.Arguments, result: base.CommandResult
    ) -> list[sample.Sample]:
        """Return a list with the sample of the operations per second.

        stress-ng prints them on standard error, newer versions on standard
        output.
        """
        method = result.name
        output = result.stderr[: base.LONGEST] + result.stdout
        operation_rate = parse_rate(
            output, method, arguments["threads"], arguments["time"]
        )
        return self.samples(method, operation_rate)


def parse_rate(text: str, method: str, threads: int, time: int) -> float:
    """Parse an output into bogus operations per second of wall time.

    :raises base.WorkloadError: If the run had other arguments, is not
        complete, or contradicts itself.
    """
    output = outputs.Reader(f"stress-ng: {method}")
    started, rows = _STARTED.findall(text), _ROW.findall(text)
    if started != [str(threads)]:
        raise output.error(f"did not start once with {threads} processes")
    if any(int(duration) != time for duration in _REQUESTED.findall(text)):
        raise output.error(f"did not start with a duration of {time} s")
    if len(_COMPLETED.findall(text)) != 1:
        raise output.error("did not report its completion exactly once")
    fault = _FAULTS.search(text)
    if fault:
        message = sanitize.line(f"{fault[1]}: {fault[2]}", 80)
        raise output.error(f"printed {message!r}")
    columns = rows[0].split() if len(rows) == 1 else []
    if len(columns) != 6:
        raise output.error(
            "did not print a table with one line of six figures"
        )
    if not all(map(_DECIMAL.fullmatch, columns[1:])):
        raise output.error("printed figures without two decimals")
    operations, seconds, user, system, rate, busy_rate = output.numbers(
        columns
    )
    if not 0.95 * time <= seconds <= 1.25 * time + 2:
        raise output.error(f"ran {seconds:g} s instead of {time} s")
    # Seconds and rate have two decimals.
    busy = user + system
    if abs(operations - rate * seconds) > 0.0051 * (rate + seconds) or abs(
        operations - busy_rate * busy
    ) > 0.0101 * (busy_rate + busy):
        raise output.error(
            f"did {operations:g} operations in {seconds:g} s, which is not "
            f"{rate:g} per second"
        )
    return rate
