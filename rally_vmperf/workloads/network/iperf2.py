# SPDX-License-Identifier: Apache-2.0
"""Network workload: TCP with iperf, version 2."""

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

#: A line of iperf's table; published outputs do not have the first column.
_ROW = re.compile(
    r"^(?:\[ {0,3}(?P<id>\*?[0-9]{1,5}|SUM)\] +)?"
    r"(?P<begin>[0-9.]{1,20})- ?(?P<end>[0-9.]{1,20}) sec +"
    r"[0-9.]{1,20} [KMGT]?Bytes +"
    r"(?P<bits>[0-9.]{1,20}) (?P<rate>[KMGT]?)bits/sec$",
    re.M,
)
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}

#: A line on a connection, which tells whether the peer sends.
_CONNECTION = re.compile(r"^\[.{1,40} connected with .{0,200}$", re.M)
_WINDOW = re.compile(r"^TCP window size: .{1,80}$", re.M)
_MINIMUM_FOR_REVERSE = tools.MinimumVersion(
    version="2.1",
    reason="it cannot receive from the peer (-R)",
    remedy="use a newer release of the distribution, or remove from_peer "
    "from directions",
)


def _parse_window(text: str) -> t.Any:
    """Return the requested size in KiB of a window; 0 for the default."""
    if "(default)" in text:
        return 0
    _, _, requested = text.rpartition("requested ")
    size = (requested or text).replace("Byte", "").replace(" ", "")
    return options.parse_kib(size.rstrip(")"))


def _parse_buffer(text: str) -> t.Any:
    """Return the bytes of a buffer such as ``128 KByte``."""
    match = re.fullmatch(r"([0-9.]{1,20}) ?([KMG]?)(?:Byte|B)?", text.strip())
    return options.parse_size(match[1] + match[2]) if match else text


def _parse_tos(text: str) -> t.Any:
    """Return the number of a type of service; the text if it has a name."""
    is_number = re.fullmatch("0x[0-9a-f]{1,2}|[0-9]{1,3}", text)
    return int(text, 0 if "x" in text else 10) if is_number else text


_OPTIONS = options.OptionTable(
    options=(
        options.Option(
            names=("w", "window"),
            argument="window_kib",
            default="0",
            parse=_parse_window,
            pattern=re.compile(r"^TCP window size: {1,4}(.{1,80})$", re.M),
        ),
        options.Option(
            names=("P", "parallel"),
            argument="streams",
            default="1",
            parse=options.parse_number,
        ),
        options.Option(
            names=("M", "mss"),
            argument="segment",
            default="0",
            parse=options.parse_number,
        ),
        options.Option(names=("Z", "tcp-congestion", "linux-congestion")),
        options.Option(names=("b", "bandwidth")),
        options.Option(
            names=("l", "len"),
            argument="buffer_bytes",
            parse=_parse_buffer,
            pattern=re.compile(r"^Write buffer size: {1,4}(.{1,40})$", re.M),
        ),
        options.Option(
            names=("n", "num"),
            argument="bytes",
            default="0",
            parse=options.parse_size,
        ),
        options.Option(
            names=("S", "tos"),
            argument="tos",
            default="0",
            parse=_parse_tos,
            pattern=re.compile(r"^TOS set to (0x[0-9a-f]{1,2})\b", re.M),
        ),
        options.Option(
            names=("N", "nodelay"),
            argument="nagle",
            default="on",
            has_value=False,
            parse=lambda text: text == "on",
            pattern=re.compile(r"^TOS set to .*\(Nagle (on|off)\)", re.M),
        ),
        *options.name_options("c", "client", "t", "time", "p", "port", "i"),
        *options.name_options("interval", "f", "format", "B", "bind", "x"),
        *options.name_options("reportexclude", "y", "reportstyle", "o"),
        *options.name_options("s", "server", "R", "reverse", has_value=False),
        *options.name_options("e", "enhanced", "V", "m", has_value=False),
        *options.name_options("print_mss", "full-duplex", has_value=False),
        *options.name_options("sum-only", "D", has_value=False),
    )
)


class Iperf2(_directed.ServerWorkload):
    """Throughput of TCP with iperf 2; iperf3 reports more metrics."""

    name = "iperf2"
    title = "Network: TCP with iperf 2"
    part = "network"
    TOOL_OPTIONS = _OPTIONS
    DIRECTIONS = _directed.BOTH_DIRECTIONS
    QUICK = schemas.short(time=3)
    ARGUMENTS = schemas.schema(
        directions=_directed.directions_argument(DIRECTIONS),
        time=schemas.duration("Measured time of each direction"),
        streams=_directed.STREAMS,
        window_kib=_directed.WINDOW_KIB,
    )
    METRICS = (
        sample.Metric("network.iperf2.{}.throughput", "bit/s", "higher"),
    )
    TOOLS = (tools.load_generator("iperf", "-v"),)

    def tools(self, arguments: base.Arguments) -> tuple[tools.Tool, ...]:
        """Return iperf as a Tool, with a minimum version for from_peer."""
        if "from_peer" not in arguments["directions"]:
            return self.TOOLS
        return tools.require_version(self.TOOLS, "iperf", _MINIMUM_FOR_REVERSE)

    def command(
        self, option: str, arguments: base.Arguments, endpoints: base.Endpoints
    ) -> base.Command:
        """Return the client Command of a direction, with its server."""
        address = self.address(option, endpoints)
        port = self.port(option, endpoints)
        seconds = arguments["time"]
        line = "-p {port} -P {streams}"
        if arguments["window_kib"]:
            line += " -w {window_kib}K"
        if ":" in address:
            line += " -V"
        shared_options = base.argv(line, arguments, port=port)
        reverse = ("-R",) if option == "from_peer" else ()
        return base.Command(
            name=option,
            argv=(
                *("iperf", "-c", address, *shared_options),
                *("-f", "k", "-t", f"{seconds}", *reverse),
            ),
            timeout=seconds + 60,
            seconds=seconds,
            # It ends after this number of connections.
            server=base.Server(
                on=self.DIRECTIONS[option],
                argv=(
                    *("iperf", "-s", *shared_options),
                    *self.listen_options("-B", option, endpoints),
                ),
                port=port,
            ),
        )

    def parse(
        self, arguments: base.Arguments, result: base.CommandResult
    ) -> list[sample.Sample]:
        """Return a list with the sample of the total throughput.

        :raises base.WorkloadError: If iperf failed, with its message; its
            exit status is 0 in this case, too.
        """
        direction, streams = result.name, arguments["streams"]
        bit_rate, duration = parse_rate(
            result.stdout, direction, streams, result.stderr
        )
        output = outputs.Reader(f"iperf2: {direction}")
        output.check_time(duration, arguments["time"])
        is_reverse = direction == "from_peer"
        for line in _CONNECTION.findall(result.stdout):
            if ("(reverse)" in line) is not is_reverse:
                raise output.error(
                    "measured the other direction: "
                    f"{sanitize.line(line, 80)!r}"
                )
        for line in _WINDOW.findall(result.stdout):
            if ("(default)" in line) is bool(arguments["window_kib"]):
                raise output.error(
                    f"did not run with window_kib: {arguments['window_kib']}: "
                    f"{sanitize.line(line, 80)!r}"
                )
        return self.samples(direction, bit_rate)


def throughput_metric(direction: str) -> sample.Metric:
    """Return the Metric of the throughput of a direction."""
    (metric,) = Iperf2().option_metrics(direction)
    return metric


def parse_rate(
    text: str, direction: str, streams: int, stderr: str = ""
) -> tuple[float, float]:
    """Parse iperf's table into bits per second and seconds.

    :param stderr: The standard error, which has the reason if there is no
        table.
    :raises base.WorkloadError: If the table is not that of a single run.
    """
    output = outputs.Reader(f"iperf2: {direction}")
    rows = list(_ROW.finditer(text))
    sums = [row for row in rows if row["id"] == "SUM"]
    matching = sums if streams > 1 else rows
    if len(matching) != 1 or len(rows) - len(sums) != streams:
        raise output.error(
            f"has {len(rows) - len(sums)} connections instead of {streams}: "
            f"{sanitize.line(stderr or text, 80)!r}"
        )
    (row,) = matching
    begin, end, bits = (
        output.number(row[key], key) for key in ("begin", "end", "bits")
    )
    if not end > begin:
        raise output.error(f"took {end - begin:g} s")
    return bits * 1000 ** _POWERS[row["rate"]], end - begin
