"""Network workload: latency of small messages with sockperf."""

import dataclasses
import re

from rally_vmperf import sanitize
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import arguments as rules
from rally_vmperf.workloads import base
from rally_vmperf.workloads import limits
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import tools
from rally_vmperf.workloads.network import _directed

#: End of a metric's name -> percentile.
_PERCENTILES = {
    "latency_p50": 50.0,
    "latency_p90": 90.0,
    "latency_p99": 99.0,
    "latency_p99_9": 99.9,
}

#: Its unit of time, in seconds.
_MICROSECOND = 1e-6

#: Seconds that sockperf does not count: 0.4 before, 0.05 after.
_UNCOUNTED = 0.45

#: Share of the time in which a message is on its way: the next is sent as
#: soon as one is answered.
_LEAST_ON_THE_WAY = 0.7

#: Headings in bold, in files too.
_BOLD = re.compile(r"\x1b\[[0-9;]{0,8}m")

_NUMBER = r" *([0-9.]{1,20})"
_COUNT = r"([0-9]{1,15})"
#: Percentiles in the order of their lines.
_SHARES = (99.999, 99.99, 99.9, 99.0, 90.0, 75.0, 50.0, 25.0)
_ROWS = "".join(
    rf"sockperf: ---> percentile {re.escape(f'{share:.3f}')} ={_NUMBER}\n"
    for share in _SHARES
)
_REPORT = re.compile(
    r"sockperf: == version #\S{1,40} == \n"
    r"sockperf\[CLIENT\] send on:[^\n]{1,120}\n\n"
    r"\[ 0\] IP = \S{1,60} +PORT = +[0-9]{1,5} # (TCP|UDP)\n"
    r"(?:sockperf: [^\n\[=#]{1,120}\n){4}"
    rf"sockperf: \[Total Run\] RunTime={_NUMBER} sec; "
    rf"Warm up time=[0-9]{{1,6}} msec; "
    rf"SentMessages={_COUNT}; ReceivedMessages={_COUNT}\n"
    r"sockperf: =+ Printing statistics for Server No: 0\n"
    rf"sockperf: \[Valid Duration\] RunTime={_NUMBER} sec; "
    rf"SentMessages={_COUNT}; ReceivedMessages={_COUNT}\n"
    rf"sockperf: =+> avg-rtt={_NUMBER} \(std-dev=[0-9.]{{1,20}}\)\n"
    rf"sockperf: # dropped messages = {_COUNT}; # duplicated messages = 0; "
    r"# out-of-order messages = 0\n"
    rf"sockperf: Summary: Round trip is{_NUMBER} usec\n"
    rf"sockperf: Total {_COUNT} observations; "
    rf"each percentile contains{_NUMBER} observations\n"
    rf"sockperf: ---> <MAX> observation ={_NUMBER}\n"
    rf"{_ROWS}"
    rf"sockperf: ---> <MIN> observation ={_NUMBER}\n"
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Report:
    """What sockperf reports of one run; its times are those of round trips.

    :param total: seconds of the run, with those that it does not count
    :param seconds: those that it counts
    :param answered: messages in them, likewise ``dropped``
    :param latencies: seconds, by the names of their metrics
    """

    protocol: str
    total: float
    seconds: float
    answered: int
    dropped: int
    latencies: dict[str, float]


class SmallMessages(_directed.Served):
    """Round-trip times of small messages, one after the other."""

    name = "sockperf"
    title = "Network: latency of small messages with sockperf"
    part = "network"
    DIRECTIONS = _directed.ANSWERED
    ARGUMENTS = rules.schema(
        directions=_directed.choices(DIRECTIONS, default=("to_peer",)),
        protocol=rules.choice(
            "Protocol of the messages: tcp, udp.",
            ("tcp", "udp"),
            default="tcp",
        ),
        time=rules.integer("Seconds of each direction", 2, 3600, default=10),
        size=rules.integer("Bytes of a message", 14, 65507, default=64),
    )
    TOOLS = (tools.of("sockperf"),)

    def metrics(self, arguments: base.Arguments) -> tuple[sample.Metric, ...]:
        """Return the rate, the latencies and the loss of each direction."""
        return tuple(
            metric
            for direction in self.directions(arguments)
            for metric in _metrics(direction).values()
        )

    def commands(
        self, arguments: base.Arguments, ends: base.Ends
    ) -> tuple[base.Command, ...]:
        """Return a client and its server for each direction.

        :raises base.WorkloadError: when the address of an end is missing
        """
        return tuple(
            self._command(direction, arguments, address, port)
            for direction, address, port in self.each(arguments, ends)
        )

    def _command(
        self,
        direction: str,
        arguments: base.Arguments,
        address: str,
        port: int,
    ) -> base.Command:
        tcp = ("--tcp",) if arguments["protocol"] == "tcp" else ()
        return base.Command(
            name=direction,
            argv=(
                *("sockperf", "ping-pong", "-i", address, "-p", f"{port}"),
                *("-t", f"{arguments['time']}", "-m", f"{arguments['size']}"),
                *("--full-rtt", *tcp),
            ),
            timeout=arguments["time"] + 60,
            seconds=arguments["time"],
            server=base.Server(
                on=self.DIRECTIONS[direction],
                argv=("sockperf", "server", "-p", f"{port}", *tcp),
                port=port,
                transport=arguments["protocol"],
            ),
        )

    def read(
        self, arguments: base.Arguments, outcome: base.Outcome
    ) -> list[sample.Sample]:
        """Return the rate, the latencies and the loss of a direction.

        :raises base.WorkloadError: with sockperf's words where it has failed:
            its exit status is 0 then as well
        """
        found = report(outcome.stdout, outcome.name, outcome.stderr)
        _check_asked(found, outcome.name, arguments)
        rate = found.answered / found.seconds
        values = {"rate": rate, "dropped": found.dropped, **found.latencies}
        return [
            limits.measured(metric, values[name])
            for name, metric in _metrics(outcome.name).items()
            if name in values
        ]


def report(text: str, direction: str, said: str = "") -> Report:
    """Return the report of one run.

    A percentile with fewer than ten messages beyond it is left out.

    :param said: on standard error
    :raises base.WorkloadError: when it is none, or contradicts itself
    """
    found = _REPORT.fullmatch(_BOLD.sub("", text[: base.LONGEST]))
    if not found:
        last = (said or text).rstrip().rpartition("\n")[2]
        raise _error(
            direction,
            f"has no whole report, and ends with {sanitize.line(last, 80)!r}",
        )
    protocol, *words = found.groups()
    numbers = [
        outputs.number(word, f"sockperf: {direction}") for word in words
    ]
    total, sent_in_all, answered_in_all, seconds, sent, answered = numbers[:6]
    mean, dropped, again, counted, each, largest = numbers[6:12]
    *percentiles, smallest = numbers[12:]
    if not (
        0 < answered == counted == sent - dropped
        and abs(each - counted / 100) < 0.006
        and answered <= answered_in_all <= sent_in_all >= sent
        and 0 < seconds <= total
    ):
        raise _error(
            direction,
            f"counted {answered:g} answers, {counted:g} observations and "
            f"{dropped:g} dropped of {sent:g} messages",
        )
    times = [largest, *percentiles, smallest]
    if times != sorted(times, reverse=True):
        raise _error(direction, "has percentiles that are not in their order")
    busy = mean * _MICROSECOND * answered / seconds
    if mean != again or not (
        smallest <= mean <= largest and _LEAST_ON_THE_WAY <= busy <= 1.01
    ):
        raise _error(
            direction,
            f"told {mean:g} us in the mean and {again:g} us in its summary, "
            f"of {answered:g} messages in {seconds:g} s",
        )
    by_share = dict(zip(_SHARES, percentiles, strict=True))
    micros = {
        "latency_min": smallest,
        "latency_mean": mean,
        **{
            name: by_share[share]
            for name, share in _PERCENTILES.items()
            if answered * (100 - share) / 100 >= 10
        },
        "latency_max": largest,
    }
    return Report(
        protocol=protocol.lower(),
        total=total,
        seconds=seconds,
        answered=int(answered),
        dropped=int(dropped),
        latencies={key: one * _MICROSECOND for key, one in micros.items()},
    )


def _check_asked(
    found: Report, direction: str, arguments: base.Arguments
) -> None:
    """Check a report against the arguments.

    :raises base.WorkloadError: when it is that of another run
    """
    if found.protocol != arguments["protocol"]:
        raise _error(
            direction,
            f"sent by {found.protocol} instead of {arguments['protocol']}",
        )
    time = arguments["time"]
    counted = time - _UNCOUNTED
    if not (
        0.95 * time <= found.total <= 1.1 * time + 1
        and 0.9 * counted <= found.seconds
    ):
        raise _error(
            direction,
            f"ran for {found.total:g} s, of which {found.seconds:g} s count, "
            f"instead of {time} s",
        )


def _metrics(direction: str) -> dict[str, sample.Metric]:
    """Return the metrics of a direction, by the ends of their names."""
    begin = f"network.sockperf.{direction}"
    latencies = ("latency_min", "latency_mean", *_PERCENTILES, "latency_max")
    return {
        "rate": sample.Metric(
            f"{begin}.rate", "ops/s", "higher", additive=True
        ),
        **{
            name: sample.Metric(
                f"{begin}.{name}",
                "s",
                "lower",
                additive=False,
                step=_MICROSECOND / 2000,
                optional=name in _PERCENTILES,
            )
            for name in latencies
        },
        "dropped": sample.Metric(
            f"{begin}.dropped", "1", "lower", scale="count"
        ),
    }


def _error(direction: str, what: str) -> base.WorkloadError:
    return base.WorkloadError(
        f"sockperf: {direction} {what}; look at the raw output"
    )
