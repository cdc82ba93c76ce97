"""The last section of sysbench's output, checked for consistency.

sysbench prints most figures twice.  Figures that contradict each other are
rejected; differences below the printed digits are accepted.
"""

import dataclasses
import re

from rally_vmperf.workloads import base
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import tools

TOOL = tools.define(
    "sysbench",
    advice={
        "dnf": "on RHEL and its clones sysbench is in EPEL: enable it",
        "zypper": "on SLES sysbench is in SUSE Package Hub: enable it",
    },
)

OUTPUT = outputs.Reader("sysbench")

_DECIMALS_2 = r"([0-9]{1,20}\.[0-9]{2})"
_DECIMALS_4 = r"([0-9]{1,20}\.[0-9]{4})"

#: The complete text from the totals to the last line, of version 1.0 and 1.1.
_END = re.compile(
    r"^(?:General statistics:\n +total time:"
    r"|Throughput:\n +events/s \(eps\): +[0-9]{1,20}\.[0-9]{4}\n"
    r" +time elapsed:)"
    rf" +{_DECIMALS_4}s\n"
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

#: Maximum difference of the duration of a command and that in its output, s.
_CLOCK = 0.05


@dataclasses.dataclass(frozen=True)
class Report:
    """The results of a run.

    :param seconds: The time from the first event to the last, in seconds.
    :param p95: The 95th percentile of the latency in seconds.
    :param elapsed: The duration of the command in seconds.
    """

    seconds: float
    events: int
    p95: float
    elapsed: float

    @property
    def rate(self) -> float:
        """The events per second from the first to the last event.

        It differs from the rate that sysbench prints: the clock of sysbench
        runs until the rate is printed, which is late if a guest has to wait
        for a processor. One second in an emulated guest became 1.01 s, two
        seconds in a starved guest became 2.4 s.
        """
        return self.events / self.seconds

    def matches_rate(self, rate: float, slack: float) -> bool:
        """Return whether a printed rate agrees with the events.

        The rate is printed after the last event and before the end of the
        command.

        :param rate: The printed rate in events per second.
        :param slack: Half a unit in the last digit of the rate.
        """
        slowest = self.events / (self.elapsed + _CLOCK)
        fastest = self.events / max(self.seconds - 0.001, 1e-9)
        return slowest - slack <= rate <= fastest + slack


def parse(
    result: base.CommandResult, arguments: base.Arguments, *lines: str
) -> Report:
    """Parse a result of sysbench and check it; return a Report.

    :param lines: The lines of the output that repeat other arguments.
    :raises base.WorkloadError: If the run had other arguments, is not
        complete, or contradicts itself.
    """
    text, threads = result.stdout, arguments["threads"]
    time = arguments["time"]
    _check_lines(text, *lines, f"Number of threads: {threads}")
    matches = list(_END.finditer(text))
    if len(matches) != 1:
        raise OUTPUT.error(
            "did not print the totals, latencies and threads of version 1.0 "
            "or 1.1 exactly once at the end"
        )
    total, count, low, mean, high, p95, total_latency, per_thread, busy = map(
        float, matches[0].groups()
    )
    if not 0.95 * time <= total <= 1.05 * time + 0.5 + high / 1000:
        raise OUTPUT.error(f"took {total:g} s instead of {time} s")
    OUTPUT.check_duration(total, result, _CLOCK)
    events = int(count)
    agreements = {
        "events of a thread": abs(per_thread * threads - count)
        <= 6e-5 * threads,
        "time of a thread": abs(busy * threads - total_latency / 1000)
        <= 6e-5 * threads + 1e-5
        and busy <= total + 0.05 + 0.01 * time,
        "mean latency": abs(mean * events - total_latency)
        <= 0.0051 * (events + 1),
        # Latencies below 5 us are printed as 0.00, also as percentiles.
        "latencies": low <= mean <= high,
    }
    for agreement, agrees in agreements.items():
        if not agrees:
            raise OUTPUT.error(f"contradicts itself in its {agreement}")
    return Report(total, events, p95 / 1000, result.seconds)


def _check_lines(text: str, *lines: str) -> None:
    """Reject an output that lacks or repeats one of the lines."""
    output_lines = text.splitlines()
    for line in lines:
        if output_lines.count(line) != 1:
            raise OUTPUT.error(f"did not print {line.strip()!r} exactly once")


def match_line(
    text: str, pattern: re.Pattern[str], label: str
) -> tuple[str, ...]:
    """Return the groups of the single matching line as texts.

    :raises base.WorkloadError: If not exactly one line matches.
    """
    matches = list(pattern.finditer(text))
    if len(matches) != 1:
        raise OUTPUT.error(
            f"printed {len(matches)} lines '{label}' instead of one"
        )
    return matches[0].groups()
