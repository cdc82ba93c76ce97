"""Network workload: TCP with iperf, version 2."""

import math
import re
import typing as t

from rally_vmperf import sanitize
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import arguments as rules
from rally_vmperf.workloads import base
from rally_vmperf.workloads import limits
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import tools
from rally_vmperf.workloads.network import _directed

#: A line of iperf's table.  Outputs that were published lack the first column.
_ROW = re.compile(
    r"^(?:\[ {0,3}(?P<id>\*?[0-9]{1,5}|SUM)\] +)?"
    r"(?P<begin>[0-9.]{1,20})- ?(?P<end>[0-9.]{1,20}) sec +"
    r"(?P<bytes>[0-9.]{1,20}) (?P<size>[KMGT]?)Bytes +"
    r"(?P<bits>[0-9.]{1,20}) (?P<rate>[KMGT]?)bits/sec$",
    re.M,
)
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}

#: Share of the time below which a run has ended early.
_LEAST = 0.9

_OLDEST_FOR_REVERSE = tools.AtLeast(
    version="2.1",
    why="it cannot receive from the peer (-R)",
    remedy="install one of a newer release of the distribution, or leave "
    "from_peer out of 'directions'",
)


class Throughput(_directed.Served):
    """Throughput of TCP as iperf 2 reports it; iperf3 reports more."""

    name = "iperf2"
    title = "Network: TCP with iperf 2"
    part = "network"
    DIRECTIONS = _directed.BOTH_WAYS
    ARGUMENTS = rules.schema(
        directions=_directed.choices(DIRECTIONS, default=("to_peer",)),
        time=rules.integer(
            "Seconds that are measured for each direction", 1, 3600, default=10
        ),
        streams=rules.integer(
            "Connections at the same time", 1, 128, default=1
        ),
        window_kib=rules.integer(
            "Socket buffer that is asked for on both ends, KiB",
            0,
            65536,
            default=0,
            note="0 leaves it to the system",
        ),
    )
    TOOLS = (tools.of("iperf", "-v"),)

    def tools(self, arguments: base.Arguments) -> tuple[tools.Tool, ...]:
        """Return iperf; from_peer needs a version that can be reversed."""
        if "from_peer" not in arguments["directions"]:
            return self.TOOLS
        return tools.newer(self.TOOLS, "iperf", _OLDEST_FOR_REVERSE)

    def metrics(self, arguments: base.Arguments) -> tuple[sample.Metric, ...]:
        """Return the throughput of each direction that is asked for."""
        return tuple(throughput(one) for one in self.directions(arguments))

    def commands(
        self, arguments: base.Arguments, ends: base.Ends
    ) -> tuple[base.Command, ...]:
        """Return a client and its server for each direction.

        :raises base.WorkloadError: when the address of an end is missing
        """
        return tuple(
            _command(one, arguments, address, self.DIRECTIONS[one], port)
            for one, address, port in self.each(arguments, ends)
        )

    def read(
        self, arguments: base.Arguments, outcome: base.Outcome
    ) -> list[sample.Sample]:
        """Return the throughput, of several connections their sum.

        :raises base.WorkloadError: with iperf's words where it has failed:
            its exit status is 0 then as well
        """
        one, streams = outcome.name, arguments["streams"]
        value, lasted = rate(outcome.stdout, one, streams, outcome.stderr)
        if lasted < _LEAST * arguments["time"]:
            raise _error(
                one, f"ended after {lasted:g} s of {arguments['time']} s"
            )
        return [limits.measured(throughput(one), value)]


def throughput(direction: str) -> sample.Metric:
    """Return the metric of a direction."""
    return sample.Metric(
        f"network.iperf2.{direction}.throughput", "bit/s", "higher"
    )


def rate(
    text: str, direction: str, streams: int, said: str = ""
) -> tuple[float, float]:
    """Return the bits per second in iperf's table, and the seconds.

    The printed rate is checked against the printed bytes.

    :param said: on standard error, where iperf says why there is no table
    :raises base.WorkloadError: when the table is not that of one run
    """
    rows = list(_ROW.finditer(text[: base.LONGEST]))
    sums = [row for row in rows if row["id"] == "SUM"]
    wanted = sums if streams > 1 else rows
    if len(wanted) != 1 or len(rows) - len(sums) != streams:
        shown = sanitize.line(said or text, 80)
        raise _error(
            direction,
            f"has {len(rows) - len(sums)} connections instead of {streams}: "
            f"{shown!r}",
        )
    (row,) = wanted
    begin, end, size, bits = (
        outputs.number(row[key], f"iperf2: {direction}: {key}")
        for key in ("begin", "end", "bytes", "bits")
    )
    size *= 1024 ** _POWERS[row["size"]]
    bits *= 1000 ** _POWERS[row["rate"]]
    if not end > begin:
        raise _error(direction, f"took {end - begin:g} s")
    # Three digits of each, of the begin and the end a tenth of a second.
    if not math.isclose(
        bits, size * 8 / (end - begin), rel_tol=0.011 + 0.1 / (end - begin)
    ):
        raise _error(
            direction,
            f"moved {size:g} B in {end - begin:g} s, which is not "
            f"{bits:g} bit/s",
        )
    return bits, end - begin


def _command(
    direction: str,
    arguments: base.Arguments,
    address: str,
    on: t.Literal["peer", "partner"],
    port: int,
) -> base.Command:
    options = "-p {port} -P {streams}"
    if arguments["window_kib"]:
        options += " -w {window_kib}K"
    if ":" in address:
        options += " -V"
    both = base.argv(options, arguments, port=port)
    further = "-f k -t {time}" + (" -R" if direction == "from_peer" else "")
    return base.Command(
        name=direction,
        argv=("iperf", "-c", address, *both, *base.argv(further, arguments)),
        timeout=arguments["time"] + 60,
        seconds=arguments["time"],
        # It ends when it has served so many connections.
        server=base.Server(on=on, argv=("iperf", "-s", *both), port=port),
    )


def _error(direction: str, what: str) -> base.WorkloadError:
    return base.WorkloadError(
        f"iperf2: {direction} {what}; look at the raw output"
    )
