"""Network workload: latency of small messages with sockperf."""

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

    def command(
        self, option: str, arguments: base.Arguments, endpoints: base.Endpoints
    ) -> base.Command:
        """Return the client Command of a direction, with its server."""
        port, seconds = self.port(option, endpoints), arguments["time"]
        tcp = ("--tcp",) if arguments["protocol"] == "tcp" else ()
        line = "-i {address} -p {port} -t {time} -m {size} --full-rtt"
        address = self.address(option, endpoints)
        options = base.argv(line, arguments, address=address, port=port)
        return base.Command(
            name=option,
            argv=("sockperf", "ping-pong", *options, *tcp),
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
        match = _REPORT.fullmatch(_BOLD.sub("", result.stdout))
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
        if not (
            0.95 * time <= total <= 1.1 * time + 1
            and 0.9 * (time - _UNCOUNTED) <= seconds
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
        return self.samples(
            result.name, answered / seconds, *latencies, int(dropped)
        )
