# SPDX-License-Identifier: Apache-2.0
"""Network workload: latency of small messages with sockperf."""

import collections.abc
import re
import typing as t

from rally_vmperf import sanitize
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import options
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import schemas
from rally_vmperf.workloads import tools
from rally_vmperf.workloads.network import _directed

#: Suffix of a metric -> percentile.
_PERCENTILES = {"p50": 50.0, "p90": 90.0, "p99": 99.0, "p99_9": 99.9}

#: The unit of time of sockperf in seconds.
_MICROSECOND = 1e-6

#: Time that sockperf does not count: 0.4 s at the start, 0.05 s at the end.
_UNCOUNTED = 0.45

#: Minimum number of messages of a run with a rate, so that the rate is exact
#: to a few percent.
_MIN_MESSAGES = 20

#: Lines that the threads of a run with a rate print, at any place.
_REMARKS = re.compile(
    r"^sockperf: (?:Test end \(interrupted by signal 2\)|"
    r"Info: The requested message-per-second rate is too high\.[^\n]{0,80})\n",
    re.M,
)

#: Bold text, which sockperf also prints to files.
_BOLD = re.compile(r"\x1b\[[0-9;]{0,8}m")

_NUMBER = r" *[0-9.]{1,20}"
_COUNT = r"[0-9]{1,15}"
#: Percentiles in the order of their lines.
_SHARES = (99.999, 99.99, 99.9, 99.0, 90.0, 75.0, 50.0, 25.0)
_ROWS = "".join(
    rf"sockperf: ---> percentile {re.escape(f'{share:.3f}')} =({_NUMBER})\n"
    for share in _SHARES
)
_REPORT = re.compile(
    r"sockperf: == version #\S{1,40} == \n"
    r"sockperf\[CLIENT\] send on:[^\n]{1,120}\n\n"
    r"\[ 0\] IP = \S{1,60} +PORT = +[0-9]{1,5} # (TCP|UDP)\n"
    r"(?:sockperf: [^\n\[=#]{1,120}\n){4}"
    rf"sockperf: \[Total Run\] RunTime=({_NUMBER}) sec; "
    rf"Warm up time=[0-9]{{1,6}} msec; "
    rf"SentMessages={_COUNT}; ReceivedMessages={_COUNT}\n"
    r"sockperf: =+ Printing statistics for Server No: 0\n"
    rf"sockperf: \[Valid Duration\] RunTime=({_NUMBER}) sec; "
    rf"SentMessages={_COUNT}; ReceivedMessages=({_COUNT})\n"
    # From 3.8 on more statistics follow the standard deviation.
    rf"sockperf: =+> avg-rtt=({_NUMBER}) \(std-dev=[^()\n]{{1,300}}\)\n"
    rf"sockperf: # dropped messages = ({_COUNT}); "
    r"# duplicated messages = 0; # out-of-order messages = 0\n"
    rf"sockperf: Summary: Round trip is{_NUMBER} usec\n"
    rf"sockperf: Total {_COUNT} observations; "
    rf"each percentile contains{_NUMBER} observations\n"
    rf"sockperf: ---> <MAX> observation =({_NUMBER})\n"
    rf"{_ROWS}"
    rf"sockperf: ---> <MIN> observation =({_NUMBER})\n"
)


def _parse_time(text: str) -> t.Any:
    """Return whole seconds, of an option or of a run, which takes longer."""
    seconds = options.parse_float(text)
    return round(seconds) if isinstance(seconds, float) else text


_OPTIONS = options.OptionTable(
    options=(
        options.Option(
            names=("m", "msg-size"),
            argument="size",
            default="14",
            parse=options.parse_number,
        ),
        options.Option(
            names=("t", "time"),
            argument="time",
            default="1",
            parse=_parse_time,
            pattern=re.compile(
                r"^sockperf: \[Total Run\] RunTime=([0-9.]{1,20}) sec", re.M
            ),
        ),
        options.Option(
            names=("b", "burst"),
            argument="burst",
            default="1",
            parse=lambda text: options.parse_number(text or "1"),
            pattern=re.compile(
                r"^sockperf: Summary: (?:Latency|Round trip)"
                r"(?: of burst of ([0-9]{1,9}) messages)? is ",
                re.M,
            ),
        ),
        options.Option(
            names=("i", "ip"),
            argument="path",
            kind="place",
            parse=options.classify_host,
            pattern=re.compile(r"^\[ ?[0-9]{1,3}\] IP = (\S{1,100})", re.M),
        ),
        options.Option(
            names=("mps", "pps"),
            argument="rate",
            default="max",
            parse=lambda text: (
                0 if text == "max" else options.parse_number(text)
            ),
        ),
        options.Option(names=("reply-every",), default="1"),
        # The output states the protocol, and what its times are.
        *options.name_options("p", "port", "client_port", "client_ip"),
        *options.name_options("full-log", "dontwarmup"),
        *options.name_options("tcp", "full-rtt", has_value=False),
    )
)


class Sockperf(_directed.ServerWorkload):
    """Round-trip times of small messages in sequence."""

    name = "sockperf"
    title = "Network: latency of small messages with sockperf"
    part = "network"
    DIRECTIONS = _directed.ANSWERED
    TOOL_OPTIONS = _OPTIONS
    QUICK = schemas.short(time=3)
    ARGUMENTS = schemas.schema(
        directions=_directed.directions_argument(DIRECTIONS),
        protocol=schemas.choice(
            "Protocol of the messages: tcp, udp.",
            ("tcp", "udp"),
            default="tcp",
        ),
        time=schemas.duration("Duration of each direction", smallest=2),
        size=schemas.integer(
            "Size of a message, bytes", 14, 65507, default=64
        ),
        rate=schemas.by_name(
            schemas.optional(
                "Messages per second, sent at equal intervals without waiting "
                "for the answers",
                10**6,
                "the next message after each answer",
            ),
            DIRECTIONS,
            "direction",
        ),
    )
    METRICS = (
        sample.Metric(
            "network.sockperf.{}.rate", "ops/s", "higher", additive=True
        ),
        *(
            sample.Metric(
                f"network.sockperf.{{}}.latency_{name}",
                "s",
                "lower",
                additive=False,
                step=_MICROSECOND / 2000,
                optional=name in _PERCENTILES,
            )
            for name in ("min", "mean", *_PERCENTILES, "max")
        ),
        sample.Metric(
            "network.sockperf.{}.dropped", "1", "lower", scale="count"
        ),
    )
    TOOLS = (tools.load_generator("sockperf"),)

    def check_arguments(self, arguments: base.Arguments) -> None:
        """Reject rates with too few messages in a run.

        :raises ValueError: If a rate has no direction, or is too low.
        """
        schemas.check_names(
            "rate", arguments["rate"], "directions", arguments["directions"]
        )
        seconds = arguments["time"] - _UNCOUNTED
        for direction in self.selected(arguments):
            rate = schemas.number_for(arguments["rate"], direction)
            if 0 < rate * seconds < _MIN_MESSAGES:
                raise ValueError(
                    f"rate={rate}: a run of {arguments['time']} s must have "
                    f"at least {_MIN_MESSAGES} messages in {seconds:g} s; "
                    "raise rate or time"
                )

    def offers(self, arguments: base.Arguments) -> tuple[base.Offer, ...]:
        """Return the Offer of each selected direction."""
        return tuple(
            base.Offer(
                command=direction,
                metric=f"network.sockperf.{direction}.rate",
                rate=schemas.number_for(arguments["rate"], direction) or None,
                late=tuple(
                    metric.name
                    for metric in self.option_metrics(direction)
                    if metric.unit == "s"
                ),
            )
            for direction in self.selected(arguments)
        )

    def _drive(
        self,
        arguments: base.Arguments,
        rates: collections.abc.Mapping[str, float],
    ) -> dict[str, t.Any]:
        """Return the rate of each direction; sockperf requires integers."""
        numbers = {name: max(1, round(rates[name])) for name in rates}
        return {"rate": numbers}

    def command(
        self, option: str, arguments: base.Arguments, endpoints: base.Endpoints
    ) -> base.Command:
        """Return the client Command of a direction, with its server."""
        port, seconds = self.port(option, endpoints), arguments["time"]
        tcp = ("--tcp",) if arguments["protocol"] == "tcp" else ()
        line = "-i {address} -p {port} -t {time} -m {size} --full-rtt"
        address = self.address(option, endpoints)
        options = base.argv(line, arguments, address=address, port=port)
        mode = "ping-pong"
        if rate := schemas.number_for(arguments["rate"], option):
            mode = "under-load"
            options += ("--mps", f"{rate}", "--reply-every", "1")
        return base.Command(
            name=option,
            argv=("sockperf", mode, *options, *tcp),
            timeout=seconds + 60,
            seconds=seconds,
            server=base.Server(
                on=self.DIRECTIONS[option],
                argv=(
                    *("sockperf", "server", "-p", f"{port}", *tcp),
                    *self.listen_options("-i", option, endpoints),
                ),
                port=port,
                transport=arguments["protocol"],
            ),
        )

    def parse(
        self, arguments: base.Arguments, result: base.CommandResult
    ) -> list[sample.Sample]:
        """Return the samples of rate, latencies and loss of a direction.

        Percentiles with fewer than ten messages beyond them are omitted.

        :raises base.WorkloadError: If sockperf failed, with its message; its
            exit status is 0 in this case, too.
        """
        output = outputs.Reader(f"sockperf: {result.name}")
        rate = schemas.number_for(arguments["rate"], result.name)
        text = _BOLD.sub("", result.stdout)
        match = _REPORT.fullmatch(_REMARKS.sub("", text) if rate else text)
        if not match:
            output_text = result.stderr or result.stdout
            last = output_text.rstrip().rpartition("\n")[2]
            raise output.error(
                f"did not print a complete report, and ended with "
                f"{sanitize.line(last, 80)!r}"
            )
        protocol, *figures = match.groups()
        total, seconds, answered, mean, dropped, *times = output.numbers(
            map(str.strip, figures)
        )
        largest, *percentiles, smallest = times
        if protocol.lower() != arguments["protocol"]:
            raise output.error(
                f"used {protocol.lower()} instead of {arguments['protocol']}"
            )
        time = arguments["time"]
        # The counted time is from the first to the last message.
        interval = 1 / rate if rate else 0
        if not (
            0.95 * time <= total <= 1.1 * time + 1
            and 0.9 * (time - _UNCOUNTED) - 2 * interval <= seconds
        ):
            raise output.error(
                f"ran for {total:g} s, {seconds:g} s of them counted, instead "
                f"of {time} s"
            )
        by_share = dict(zip(_SHARES, percentiles, strict=True))
        known = (
            by_share[share] if answered * (100 - share) / 100 >= 10 else None
            for share in _PERCENTILES.values()
        )
        latencies = (
            None if micros is None else micros * _MICROSECOND
            for micros in (smallest, mean, *known, largest)
        )
        intervals = answered - 1 if rate else answered
        return self.samples(
            result.name, intervals / seconds, *latencies, int(dropped)
        )
