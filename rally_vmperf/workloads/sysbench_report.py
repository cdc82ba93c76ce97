# SPDX-License-Identifier: Apache-2.0
"""The last section of sysbench's output."""

import dataclasses
import re

from rally_vmperf.workloads import base
from rally_vmperf.workloads import options
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import tools

TOOL = tools.define(
    "sysbench",
    advice={
        "dnf": "on RHEL and its clones sysbench is in EPEL: enable it",
        "zypper": "on SLES sysbench is in SUSE Package Hub: enable it",
    },
)

_COMMON = (
    options.Option(
        names=("threads", "num-threads"),
        argument="threads",
        default="1",
        parse=options.parse_number,
        pattern=re.compile(r"^Number of threads: ([0-9]{1,6})$", re.M),
    ),
    options.Option(
        names=("rate",),
        argument="rate",
        default="0",
        parse=options.parse_number,
        pattern=re.compile(
            r"^Target transaction rate: ([0-9]{1,9})/sec", re.M
        ),
    ),
    # The output states the operation; the others limit the run.
    *options.name_options("memory-oper", "memory-total-size", "test"),
    *options.name_options("time", "max-time", "events", "max-requests"),
    *options.name_options("percentile", "report-interval", "verbosity"),
)
#: The options of the test of the processor.
CPU_OPTIONS = options.OptionTable(
    options=(
        *_COMMON,
        options.Option(
            names=("cpu-max-prime",),
            argument="max_prime",
            parse=options.parse_number,
            pattern=re.compile(
                r"^(?:Prime numbers limit|Maximum prime number checked in CPU "
                r"test): ([0-9]{1,9})$",
                re.M,
            ),
        ),
    )
)
#: The options of the test of memory.
MEMORY_OPTIONS = options.OptionTable(
    options=(
        *_COMMON,
        options.Option(
            names=("memory-block-size",),
            argument="block_kib",
            parse=options.parse_kib,
            pattern=re.compile(
                r"^ *(?:block size|Memory block size): "
                r"([0-9]{1,9}(?:Ki|Mi|K|M)?)B?$",
                re.M | re.I,
            ),
        ),
        options.Option(
            names=("memory-scope",),
            argument="scope",
            pattern=re.compile(
                r"^ *(?:scope|Memory scope type): ([a-z]{1,20})$",
                re.M | re.I,
            ),
        ),
        options.Option(
            names=("memory-access-mode",), argument="access", default="seq"
        ),
        options.Option(names=("memory-hugetlb",), default="off"),
    )
)

OUTPUT = outputs.Reader("sysbench")

_DECIMALS_2 = r"[0-9]{1,20}\.[0-9]{2}"
_DECIMALS_4 = r"[0-9]{1,20}\.[0-9]{4}"

#: The complete text from the totals to the last line, of version 1.0 and 1.1.
_END = re.compile(
    r"^(?:General statistics:\n +total time:"
    rf"|Throughput:\n +events/s \(eps\): +{_DECIMALS_4}\n +time elapsed:)"
    rf" +({_DECIMALS_4})s\n"
    r" +total number of events: +([0-9]{1,20})\n"
    r"\nLatency \(ms\):\n"
    rf" +min: +{_DECIMALS_2}\n"
    rf" +avg: +{_DECIMALS_2}\n"
    rf" +max: +({_DECIMALS_2})\n"
    rf" +95th percentile: +({_DECIMALS_2})\n"
    rf" +sum: +{_DECIMALS_2}\n"
    r"\nThreads fairness:\n"
    rf" +events \(avg/stddev\): +{_DECIMALS_4}/{_DECIMALS_2}\n"
    rf" +execution time \(avg/stddev\): +{_DECIMALS_4}/{_DECIMALS_2}\n\s*\Z",
    re.M,
)

#: A rate at which events arrive, on a line of its own.
_TARGET_RATE = re.compile(r"^Target transaction rate: (.{1,40})/sec$", re.M)

#: The message of a run whose events arrived faster than they ended.
_QUEUE_FULL = "FATAL: The event queue is full."
#: The number of events that can wait.
_QUEUE_LENGTH = 131072

#: The longest wait for an arrival, in average intervals; one of 485 million
#: intervals is longer.
LONGEST_INTERVALS = 20

#: Maximum difference of the duration of a command and that in its output, s.
_CLOCK = 0.05


@dataclasses.dataclass(frozen=True)
class SysbenchReport:
    """The results of a run.

    :param seconds: The time from the first event to the last, in seconds,
        without that in which threads wait for an arrival after the end.
    :param p95: The 95th percentile of the latency in seconds.
    """

    seconds: float
    events: int
    p95: float

    @property
    def rate(self) -> float:
        """The events per second from the first to the last event.

        It differs from the rate that sysbench prints: the clock of sysbench
        runs until the rate is printed, which is late if a guest has to wait
        for a processor. One second in an emulated guest became 1.01 s, two
        seconds in a starved guest became 2.4 s.
        """
        return self.events / self.seconds


def parse(
    result: base.CommandResult, arguments: base.Arguments, *lines: str
) -> SysbenchReport:
    """Parse a result of sysbench into a Report.

    :param lines: The lines of the output that repeat other arguments.
    :raises base.WorkloadError: If the run had other arguments, or is not
        complete.
    """
    OUTPUT.check_lines(
        result.stdout, *lines, f"Number of threads: {arguments['threads']}"
    )
    rate = arguments.get("rate", 0)
    rates = _TARGET_RATE.findall(result.stdout)
    if rates != ([f"{rate}"] if rate else []):
        raise OUTPUT.error(
            f"did not run with rate={rate} (0 for as fast as possible)"
        )
    figures = OUTPUT.match(
        result.stdout,
        _END,
        "did not print the totals, latencies and threads of version 1.0 or "
        "1.1 exactly once at the end",
    )
    seconds, events, longest, p95 = map(float, figures)
    time, longest = arguments["time"], longest / 1000
    # The last event may begin before the end of the requested time, and a
    # thread may wait for the next arrival.
    interval = LONGEST_INTERVALS / rate if rate else 0
    OUTPUT.check_time(seconds, time, 0.5 + longest + interval)
    OUTPUT.check_duration(seconds, result, _CLOCK)
    if not events:
        raise OUTPUT.error(f"completed no event in {seconds:g} s")
    if rate:
        seconds = min(seconds, time + longest)
    return SysbenchReport(seconds, int(events), p95 / 1000)


def check_queue(result: base.CommandResult, rate: int) -> None:
    """Reject a run that ended because too many events waited.

    :param rate: The requested events per second.
    :raises base.WorkloadError: If the queue of events was full.
    """
    if result.exit_status and _QUEUE_FULL in result.stdout:
        raise base.WorkloadError(
            f"sysbench: rate={rate}: is so much higher than the rate of the "
            f"machine that {_QUEUE_LENGTH} events waited, and the run ended "
            "without a result; reduce rate or time, or raise max_prime"
        )
