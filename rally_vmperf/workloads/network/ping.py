# SPDX-License-Identifier: Apache-2.0
"""Network workload: ping."""

import math
import re
import statistics

from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import options
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import schemas
from rally_vmperf.workloads import tools
from rally_vmperf.workloads.network import _directed

_REPLY = re.compile(
    r"^[0-9]{1,6} bytes from \S{1,80} icmp_seq=[0-9]{1,6} ttl=[0-9]{1,3} "
    r"time=(\S{1,20}) ms$",
    re.M,
)
_COUNTS = re.compile(
    r"^([0-9]{1,9}) packets transmitted, ([0-9]{1,9}) received,"
    r"(?: \+[0-9]{1,9} (?:duplicates|errors|corrupted),){0,3} "
    r"\S{1,20}% packet loss, time [0-9]{1,12}ms$",
    re.M,
)
#: The first line: bytes of payload.
_REQUEST = re.compile(
    r"^PING \S.{1,300}? ([0-9]{1,6})(?:\([0-9]{1,6}\) bytes of data\.| data "
    r"bytes)$",
    re.M,
)
#: The complete last line.
_SUMMARY = re.compile(
    r"^rtt min/avg/max/mdev = [0-9.]{1,20}(?:/[0-9.]{1,20}){3} ms"
    r"(?:, pipe [0-9]{1,9})?"
    r"(?:, ipg/ewma [0-9.]{1,20}/[0-9.]{1,20} ms)?\n\s*\Z",
    re.M,
)


_OPTIONS = options.OptionTable(
    options=(
        options.Option(
            names=("i", "interval"),
            argument="interval",
            default="1",
            parse=options.parse_float,
        ),
        options.Option(
            names=("destination",),
            argument="path",
            kind="place",
            parse=options.classify_host,
            pattern=re.compile(
                r"^PING (?:\S{1,200}? ?\()?([^\s()]{1,100})", re.M
            ),
        ),
        options.Option(names=("M", "Q", "l", "p", "S", "m")),
        # The output states the size and the number of packets.
        *options.name_options("c", "s", "w", "W", "I", "t", "T"),
        *options.name_options(
            *("4", "6", "a", "b", "D", "L", "n", "O", "q", "U", "v"),
            has_value=False,
        ),
    )
)


class Ping(_directed.DirectionalWorkload):
    """Round-trip times of small packets in sequence."""

    name = "ping"
    title = "Network: latency with ping"
    part = "network"
    TOOL_OPTIONS = _OPTIONS
    DIRECTIONS = _directed.ANSWERED
    QUICK = schemas.short(count=10)
    ARGUMENTS = schemas.schema(
        directions=_directed.directions_argument(DIRECTIONS),
        count=schemas.integer("Number of packets", 2, 10000, default=50),
        interval=schemas.number(
            "Time between two packets, s",
            0.002,
            60,
            default=0.2,
            note="below 0.2 older versions require root",
        ),
        size=schemas.integer(
            "Payload of a packet, bytes", 16, 65507, default=56
        ),
    )
    METRICS = (
        *(
            sample.Metric(f"network.ping.{{}}.latency_{name}", "s", "lower")
            for name in ("min", "mean", "p50", "p95", "max")
        ),
        sample.Metric("network.ping.{}.loss", "%", "lower", scale="count"),
    )
    TOOLS = (
        tools.load_generator(
            "ping",
            "-V",
            package="iputils-ping",
            packages={"dnf": "iputils", "zypper": "iputils"},
        ),
    )

    def command(
        self, option: str, arguments: base.Arguments, endpoints: base.Endpoints
    ) -> base.Command:
        """Return the ping Command of a direction."""
        seconds = arguments["count"] * arguments["interval"]
        argv = base.argv(
            "ping -n -c {count} -i {interval:g} -s {size} {address}",
            arguments,
            address=self.address(option, endpoints),
        )
        return base.Command(
            name=option, argv=argv, timeout=2 * seconds + 60, seconds=seconds
        )

    def parse(
        self, arguments: base.Arguments, result: base.CommandResult
    ) -> list[sample.Sample]:
        """Return the samples of latencies and loss of a direction."""
        direction, count = result.name, arguments["count"]
        times = parse_latencies(
            result.stdout, direction, count, arguments["size"]
        )
        return self.samples(
            direction,
            min(times),
            statistics.fmean(times),
            find_percentile(times, 50),
            find_percentile(times, 95),
            max(times),
            (count - len(times)) / count * 100,
        )


def parse_latencies(
    text: str, direction: str, count: int, size: int
) -> list[float]:
    """Return the sorted latencies of answered packets in seconds.

    Duplicate answers are not counted.  The summary of ping includes them.

    :raises base.WorkloadError: If the run had other arguments, or is not
        complete.
    """
    output = outputs.Reader(f"ping: {direction}")
    counts, summaries = _COUNTS.findall(text), _SUMMARY.findall(text)
    if len(counts) != 1 or len(summaries) != 1:
        raise output.error(
            "did not print counts and latencies at its end; ping of iputils "
            "is required"
        )
    sent, received = map(int, counts[0])
    if _REQUEST.findall(text) != [str(size)]:
        raise output.error(f"did not start once with {size} bytes")
    if sent != count:
        raise output.error(f"sent {sent} packets instead of {count}")
    answers = _REPLY.findall(text)
    if not answers or len(answers) != received:
        raise output.error(
            f"printed {len(answers)} answers, but counted {received}"
        )
    return sorted(output.number(answer, "time") / 1000 for answer in answers)


def find_percentile(times: list[float], percent: int) -> float:
    """Return a percentile of sorted times by the nearest rank."""
    return times[math.ceil(len(times) * percent / 100) - 1]
