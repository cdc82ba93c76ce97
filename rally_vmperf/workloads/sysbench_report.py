"""The end of every output of sysbench, checked against itself and its command.

sysbench prints most figures twice.  A figure that contradicts another one is
refused; differences below the printed digits are not.
"""

import dataclasses
import math
import re

from rally_vmperf.workloads import base
from rally_vmperf.workloads import tools

TOOL = tools.of(
    "sysbench",
    advice={
        "dnf": "on RHEL and its clones sysbench is in EPEL: enable it",
        "zypper": "on SLES sysbench is in SUSE Package Hub: enable it",
    },
)

_DECIMALS_2, _DECIMALS_4 = (
    r"([0-9]{1,20}\.[0-9]{2})",
    r"([0-9]{1,20}\.[0-9]{4})",
)

#: From the totals on to the last line, of which nothing may be missing.
_END = re.compile(
    r"^General statistics:\n"
    rf" +total time: +{_DECIMALS_4}s\n"
    r" +total number of events: +([0-9]{1,20})\n"
    r"\nLatency \(ms\):\n"
    rf" +min: +{_DECIMALS_2}\n"
    rf" +avg: +{_DECIMALS_2}\n"
    rf" +max: +{_DECIMALS_2}\n"
    rf" +95th percentile: +{_DECIMALS_2}\n"
    rf" +sum: +{_DECIMALS_2}\n"
    r"\nThreads fairness:\n"
    rf" +events \(avg/stddev\): +{_DECIMALS_4}/[0-9]{{1,20}}\.[0-9]{{2}}\n"
    rf" +execution time \(avg/stddev\): +{_DECIMALS_4}/"
    r"[0-9]{1,20}\.[0-9]{2}\n\s*\Z",
    re.M,
)

#: sysbench counts latencies in 1024 classes from 1 us to 100 s, each this
#: much longer than the one before, and tells the middle of one.
_CLASS = math.log(1e8) / 1023
#: Seconds by which the time of a command and sysbench's own may differ.
_CLOCK = 0.05


@dataclasses.dataclass(frozen=True)
class Report:
    """What a run did.

    :param seconds: from the first event to the last
    :param p95: latency in seconds that 95 % of the events did not exceed
    :param elapsed: seconds that the whole command took
    """

    seconds: float
    events: int
    p95: float
    elapsed: float

    @property
    def rate(self) -> float:
        """Events per second, of the time from the first to the last.

        The rate that sysbench prints is another one: its clock goes on until
        the rate is printed, which is late where a guest has to wait for a
        processor. One second in an emulated guest became 1.01, two of a
        starved one 2.4.
        """
        return self.events / self.seconds

    def fits(self, rate: float, slack: float) -> bool:
        """Return whether a printed rate follows from the events.

        It was printed after the last event, and before the command ended.

        :param rate: events per second as printed
        :param slack: half of a unit in its last digit
        """
        slowest = self.events / (self.elapsed + _CLOCK)
        fastest = self.events / max(self.seconds - 0.001, 1e-9)
        return slowest - slack <= rate <= fastest + slack


def read(
    outcome: base.Outcome, arguments: base.Arguments, *lines: str
) -> Report:
    """Return what a run with such ``threads`` and ``time`` did.

    :param lines: of its output that repeat other arguments
    :raises base.WorkloadError: when it was another one, did not come to its
        end, or contradicts itself
    """
    text, threads = outcome.stdout, arguments["threads"]
    time = arguments["time"]
    _check_lines(text, *lines, f"Number of threads: {threads}")
    found = list(_END.finditer(text))
    if len(found) != 1:
        raise error(
            "did not end once with the totals, latencies and threads of "
            "version 1.0"
        )
    total, count, low, mean, high, p95, total_latency, per_thread, busy = map(
        float, found[0].groups()
    )
    if not 0.95 * time <= total <= 1.05 * time + 0.5 + high / 1000:
        raise error(f"took {total:g} s instead of {time} s")
    if total > outcome.seconds + _CLOCK:
        raise error(
            f"took {total:g} s of a command that took {outcome.seconds:g} s"
        )
    events = int(count)
    agreements = {
        "events of a thread": abs(per_thread * threads - count)
        <= 6e-5 * threads,
        "time of a thread": abs(busy * threads - total_latency / 1000)
        <= 6e-5 * threads + 1e-5
        and busy <= total + 0.05 + 0.01 * time,
        "mean latency": abs(mean * events - total_latency)
        <= 0.0051 * (events + 1),
        "latencies": low <= mean <= high
        and _is_percentile(p95, events, low, high, total_latency),
    }
    for what, agrees in agreements.items():
        if not agrees:
            raise error(f"contradicts itself in its {what}")
    return Report(total, events, p95 / 1000, outcome.seconds)


def _check_lines(text: str, *lines: str) -> None:
    told = text.splitlines()
    for line in lines:
        if told.count(line) != 1:
            raise error(f"did not say {line.strip()!r} once")


def figure(text: str, pattern: re.Pattern[str], label: str) -> tuple[str, ...]:
    """Return the groups of the one line that a pattern matches.

    :raises base.WorkloadError: when there is none, or several
    """
    found = list(pattern.finditer(text))
    if len(found) != 1:
        raise error(f"printed {len(found)} lines '{label}' instead of one")
    return found[0].groups()


def _is_percentile(
    p95: float, events: int, low: float, high: float, total_latency: float
) -> bool:
    """Return whether a bucket of latencies can hold the 95th percentile."""
    if not p95 > 0:
        return False
    bucket = round(math.log(p95 / 1e-3) / _CLASS)
    middle = 1e-3 * math.exp(bucket * _CLASS)
    near = math.exp(_CLASS / 2) * 1.0001
    least, greatest = middle / near - 0.005, middle * near + 0.005
    up_to = math.floor(events * 0.95 + 0.5)
    beyond = events - up_to + 1
    return (
        abs(p95 - middle) <= 0.0051 + p95 * 1e-9
        and low <= greatest
        # The last class also holds all that took longer.
        and (least <= high or bucket >= 1023)
        and beyond * least + (up_to - 1) * (low - 0.005)
        <= total_latency + 0.01
        and total_latency
        <= up_to * greatest + (events - up_to) * (high + 0.005) + 0.01
    )


def error(what: str) -> base.WorkloadError:
    """Return the error of an output that is not believed."""
    return base.WorkloadError(f"sysbench {what}; look at the raw output")
