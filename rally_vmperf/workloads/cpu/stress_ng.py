"""Processor workload: stress-ng's methods of loading a processor."""

import re

from rally_vmperf import sanitize
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import arguments as rules
from rally_vmperf.workloads import base
from rally_vmperf.workloads import limits
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import tools

#: Those that versions of ten years have, of all kinds of work.
METHODS = (
    *("matrixprod", "fft", "int64", "double", "sieve", "queens"),
    *("ackermann", "crc16"),
)

_LINE = r"^stress-ng: (?:info|metrc): +\[[0-9]{1,10}\] "
_STARTED = re.compile(_LINE + r"dispatching hogs: ([0-9]{1,9}) cpu\n", re.M)
#: Old versions do not say for how long.
_ASKED = re.compile(
    _LINE + r"setting to an? ([0-9]{1,9}) sec(?:ond)? run per stressor\n", re.M
)
_COMPLETED = re.compile(_LINE + r"successful run completed in .{1,80}\n", re.M)
#: Operations, three times in seconds, operations per second by the clock, and
#: by the processor time.
_FIGURE = re.compile(r"[0-9]{1,20}\.[0-9]{2}")
_ROW = re.compile(_LINE + r"cpu +(.{1,200}?) *\n", re.M)
#: What 0.16 and later say of the run.
_FAULTS = re.compile(
    _LINE + r"(failed|skipped|metrics untrustworthy): (?!0\n)(.{1,80})", re.M
)


class Stress(base.Workload):
    """One kind of work after another, each over and over for a fixed time."""

    name = "stress_ng"
    title = "Processor: kinds of work with stress-ng"
    part = "cpu"
    ARGUMENTS = rules.schema(
        methods=rules.choices(
            f"Measured one after the other: {', '.join(METHODS)}.",
            METHODS,
            default=("matrixprod",),
        ),
        threads=rules.integer(
            "Processes that work at the same time", 1, 1024, default=1
        ),
        time=rules.integer(
            "Seconds that are measured for each method", 1, 3600, default=10
        ),
    )
    TOOLS = (
        tools.of(
            "stress-ng",
            advice={
                "dnf": "before RHEL 8 stress-ng is in EPEL: enable it",
                "zypper": "on SLES stress-ng is in Package Hub: enable it",
            },
        ),
    )
    SENSITIVE_TO = frozenset(
        {"microcode", "governor", "turbo", "instructions"}
    )

    def metrics(self, arguments: base.Arguments) -> tuple[sample.Metric, ...]:
        """Return the rate of each method that is asked for."""
        return tuple(_metric(method) for method in _methods(arguments))

    def commands(
        self, arguments: base.Arguments, ends: base.Ends
    ) -> tuple[base.Command, ...]:
        """Return one run for each method, named after it."""
        return tuple(
            base.Command(
                name=method,
                argv=base.argv(
                    "stress-ng --metrics-brief --timeout {time}s "
                    "--cpu {threads} --cpu-method {method}",
                    arguments,
                    method=method,
                ),
                timeout=2 * arguments["time"] + 60,
                seconds=arguments["time"],
            )
            for method in _methods(arguments)
        )

    def read(
        self, arguments: base.Arguments, outcome: base.Outcome
    ) -> list[sample.Sample]:
        """Return the operations per second, by the clock.

        stress-ng prints them on standard error, newer versions on standard
        output.
        """
        method = outcome.name
        told = outcome.stderr[: base.LONGEST] + outcome.stdout
        value = rate(told, method, arguments["threads"], arguments["time"])
        return [limits.measured(_metric(method), value)]


def rate(text: str, method: str, threads: int, time: int) -> float:
    """Return the bogus operations per second by the clock.

    :raises base.WorkloadError: when the run was another one, did not come to
        its end, or contradicts itself
    """
    started, rows = _STARTED.findall(text), _ROW.findall(text)
    if started != [str(threads)]:
        raise _error(method, f"was not begun once by {threads} processes")
    if any(int(asked) != time for asked in _ASKED.findall(text)):
        raise _error(method, f"was not begun for {time} s")
    if len(_COMPLETED.findall(text)) != 1:
        raise _error(method, "did not say once that it was completed")
    fault = _FAULTS.search(text)
    if fault:
        what = sanitize.line(f"{fault[1]}: {fault[2]}", 80)
        raise _error(method, f"said {what!r}")
    words = rows[0].split() if len(rows) == 1 else []
    if len(words) != 6:
        raise _error(method, "has no table with one line of six figures")
    if not all(map(_FIGURE.fullmatch, words[1:])):
        raise _error(method, "has figures that have not two decimals")
    operations, seconds, user, system, value, busy_value = (
        outputs.number(word, f"stress-ng: {method}") for word in words
    )
    if not 0.95 * time <= seconds <= 1.25 * time + 2:
        raise _error(method, f"ran {seconds:g} s instead of {time} s")
    # Seconds and rate have two decimals.
    busy = user + system
    if abs(operations - value * seconds) > 0.0051 * (value + seconds) or abs(
        operations - busy_value * busy
    ) > 0.0101 * (busy_value + busy):
        raise _error(
            method,
            f"did {operations:g} operations in {seconds:g} s, which is not "
            f"{value:g} per second",
        )
    return value


def _methods(arguments: base.Arguments) -> list[str]:
    return [one for one in METHODS if one in arguments["methods"]]


def _metric(method: str) -> sample.Metric:
    return sample.Metric(f"cpu.stress_ng.{method}.rate", "ops/s", "higher")


def _error(method: str, what: str) -> base.WorkloadError:
    return base.WorkloadError(
        f"stress-ng: {method} {what}; look at the raw output"
    )
