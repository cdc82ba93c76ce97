"""Network workload: ping."""

import math
import re
import statistics
import typing as t

from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import arguments as rules
from rally_vmperf.workloads import base
from rally_vmperf.workloads import limits
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import tools
from rally_vmperf.workloads.network import _directed

#: What is told of the latencies of one run, in seconds.
_SUMMARIES: dict[str, t.Callable[[list[float]], float]] = {
    "latency_min": min,
    "latency_mean": statistics.fmean,
    "latency_p50": lambda times: _percentile(times, 50),
    "latency_p95": lambda times: _percentile(times, 95),
    "latency_max": max,
}

#: Bytes of the header of ICMP, which are in what an answer is told to have.
_HEADER = 8

_ANSWER = re.compile(
    r"^([0-9]{1,6}) bytes from \S{1,80} icmp_seq=([0-9]{1,6}) ttl=[0-9]{1,3} "
    r"time=(\S{1,20}) ms$",
    re.M,
)
_COUNTS = re.compile(
    r"^([0-9]{1,9}) packets transmitted, ([0-9]{1,9}) received,"
    r"(?: \+[0-9]{1,9} (?:duplicates|errors|corrupted),){0,3} "
    r"(\S{1,20})% packet loss, time [0-9]{1,12}ms$",
    re.M,
)
#: The first line: bytes of payload.
_ASKED = re.compile(
    r"^PING \S.{1,300}? ([0-9]{1,6})(?:\([0-9]{1,6}\) bytes of data\.| data "
    r"bytes)$",
    re.M,
)
#: The last line, of which nothing may be missing.
_SUMMARY = re.compile(
    r"^rtt min/avg/max/mdev = ([0-9.]{1,20})/([0-9.]{1,20})/([0-9.]{1,20})/"
    r"([0-9.]{1,20}) ms(?:, pipe [0-9]{1,9})?"
    r"(?:, ipg/ewma [0-9.]{1,20}/[0-9.]{1,20} ms)?\n\s*\Z",
    re.M,
)


class Latency(_directed.Directed):
    """Round-trip times of small packets, one after the other."""

    name = "ping"
    title = "Network: latency with ping"
    part = "network"
    DIRECTIONS = _directed.ANSWERED
    ARGUMENTS = rules.schema(
        directions=_directed.choices(DIRECTIONS, default=("to_peer",)),
        count=rules.integer("Packets that are sent", 2, 10000, default=50),
        interval=rules.number(
            "Seconds between two packets",
            0.002,
            60,
            default=0.2,
            note="below 0.2 older versions need root",
        ),
        size=rules.integer(
            "Bytes of payload of a packet", 16, 65507, default=56
        ),
    )
    TOOLS = (
        tools.of(
            "ping",
            "-V",
            package="iputils-ping",
            packages={"dnf": "iputils", "zypper": "iputils"},
        ),
    )

    def metrics(self, arguments: base.Arguments) -> tuple[sample.Metric, ...]:
        """Return the latencies and the loss of each direction."""
        return tuple(
            metric
            for direction in self.directions(arguments)
            for metric in (*_latencies(direction), _loss(direction))
        )

    def commands(
        self, arguments: base.Arguments, ends: base.Ends
    ) -> tuple[base.Command, ...]:
        """Return one run for each direction; none needs a server.

        :raises base.WorkloadError: when the address of an end is missing
        """
        return tuple(
            _command(direction, arguments, self.address(direction, ends))
            for direction in self.directions(arguments)
        )

    def read(
        self, arguments: base.Arguments, outcome: base.Outcome
    ) -> list[sample.Sample]:
        """Return the latencies and the loss of a direction."""
        direction, count = outcome.name, arguments["count"]
        times = latencies(outcome.stdout, direction, count, arguments["size"])
        lost = (count - len(times)) / count * 100
        return [
            *(
                limits.measured(metric, summary(times))
                for metric, summary in zip(
                    _latencies(direction), _SUMMARIES.values(), strict=True
                )
            ),
            limits.measured(_loss(direction), lost),
        ]


def latencies(text: str, direction: str, count: int, size: int) -> list[float]:
    """Return the seconds of each packet that was answered, sorted.

    :raises base.WorkloadError: when others were sent than were asked for, or
        ping counted other answers than it told
    """
    counts, summaries = _COUNTS.findall(text), _SUMMARY.findall(text)
    if len(counts) != 1 or len(summaries) != 1:
        raise _error(
            direction,
            "has no counts or no latencies at its end; it has to be that of "
            "iputils",
        )
    sent, received = map(int, counts[0][:2])
    loss = outputs.number(counts[0][2], f"ping: {direction}: loss")
    if _ASKED.findall(text) != [str(size)]:
        raise _error(direction, f"did not begin once with {size} bytes")
    if sent != count:
        raise _error(direction, f"sent {sent} packets instead of {count}")
    answers = _ANSWER.findall(text)
    numbers = {int(number) for _, number, _ in answers}
    if len(answers) != received or len(numbers) != received:
        raise _error(
            direction,
            f"told {len(answers)} answers, and counted {received}",
        )
    if not numbers or not 1 <= min(numbers) <= max(numbers) <= count:
        raise _error(direction, f"told answers to others than {count} packets")
    # Until 2019 a whole number was told.
    if not 0 <= (sent - received) / sent * 100 - loss < 1 and not math.isclose(
        (sent - received) / sent * 100, loss, rel_tol=1e-5
    ):
        raise _error(direction, f"told {loss:g} % of loss at its end")
    for length, number, _ in answers:
        if int(length) != size + _HEADER:
            raise _error(
                direction,
                f"had {length} B in answer {number} instead of "
                f"{size + _HEADER} B",
            )
    shown = [word for *_, word in answers]
    times = sorted(
        outputs.number(word, f"ping: {direction}: time") / 1000
        for word in shown
    )
    _check_summary(direction, times, shown, summaries[0])
    return times


def _check_summary(
    direction: str,
    times: list[float],
    shown: list[str],
    summary: tuple[str, ...],
) -> None:
    """Check the summary, in whole microseconds, against the answers.

    ping prints answers of less than a millisecond to the microsecond, and
    longer ones with three digits.

    :raises base.WorkloadError: when they are not those of one run
    """
    least, mean, most, deviation = (
        outputs.number(word, f"ping: {direction}: summary") * 1000
        for word in summary
    )
    micros = [time * 1e6 for time in times]
    unsure = [
        10 ** (3 - len(word.partition(".")[2])) if word[-4:-3] != "." else 0
        for word in shown
    ]
    largest, average = max(unsure), statistics.fmean(unsure)
    mine = statistics.fmean(micros)
    spread = statistics.pstdev(micros)
    # The mean is cut, and so is what it is subtracted from for mdev.
    slack = 2 * spread * largest + largest**2 + 2 * spread + 2
    if not (
        abs(least - micros[0]) <= largest + 0.01
        and abs(most - micros[-1]) <= largest + 0.01
        and mean - average - 0.01 <= mine < mean + 1.01 + average
        and -slack <= deviation**2 - spread**2 <= slack + 2 * mean
    ):
        raise _error(
            direction,
            f"told {'/'.join(summary)} ms in its summary, which is not what "
            f"it told before: {mine / 1000:.3f} ms in the mean",
        )


def _percentile(times: list[float], percent: int) -> float:
    """Return the smallest time that so many percent of them do not exceed."""
    return times[math.ceil(len(times) * percent / 100) - 1]


def _latencies(direction: str) -> tuple[sample.Metric, ...]:
    return tuple(
        sample.Metric(f"network.ping.{direction}.{what}", "s", "lower")
        for what in _SUMMARIES
    )


def _loss(direction: str) -> sample.Metric:
    return sample.Metric(
        f"network.ping.{direction}.loss", "%", "lower", scale="count"
    )


def _command(
    direction: str, arguments: base.Arguments, address: str
) -> base.Command:
    seconds = arguments["count"] * arguments["interval"]
    return base.Command(
        name=direction,
        argv=base.argv(
            "ping -n -c {count} -i {interval:g} -s {size} {address}",
            arguments,
            address=address,
        ),
        timeout=2 * seconds + 60,
        seconds=seconds,
    )


def _error(direction: str, what: str) -> base.WorkloadError:
    return base.WorkloadError(
        f"ping: {direction} {what}; look at the raw output"
    )
