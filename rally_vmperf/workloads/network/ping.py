"""Network workload: ping."""

import collections.abc
import math
import re
import statistics
import typing as t

from rally_vmperf.measurement import sample
from rally_vmperf.workloads import arguments as rules
from rally_vmperf.workloads import base
from rally_vmperf.workloads import limits
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import tools

#: Direction -> who is asked.
DIRECTIONS: dict[str, t.Literal["peer", "partner"]] = {
    "to_peer": "peer",
    "guest_to_guest": "partner",
}

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
    r"\S{1,20}% packet loss, time [0-9]{1,12}ms$",
    re.M,
)
#: The last line, of which nothing may be missing.
_SUMMARY = re.compile(
    r"^rtt min/avg/max/mdev = ([0-9.]{1,20})/([0-9.]{1,20})/([0-9.]{1,20})/"
    r"[0-9.]{1,20} ms(?:, pipe [0-9]{1,9})?"
    r"(?:, ipg/ewma [0-9.]{1,20}/[0-9.]{1,20} ms)?\n",
    re.M,
)


class Latency(base.Workload):
    """How long one small packet takes there and back, many times."""

    name = "ping"
    title = "Network: latency with ping"
    part = "network"
    ARGUMENTS = rules.schema(
        directions=rules.choices(
            "Measured one after the other: to_peer, guest_to_guest (to the "
            "partner guest).",
            DIRECTIONS,
            default=("to_peer",),
        ),
        count=rules.integer("Packets that are sent", 2, 10000, default=50),
        interval=rules.number(
            "Seconds between two packets",
            0.002,
            60,
            default=0.2,
            note="below 0.2 older versions want to be root",
        ),
        size=rules.integer(
            "Bytes of payload of a packet", 16, 65507, default=56
        ),
    )
    TOOLS = (
        tools.Tool(
            command="ping",
            package="iputils-ping",
            version=("ping", "-V"),
            packages={"dnf": "iputils", "zypper": "iputils"},
        ),
    )

    def needs(self, arguments: base.Arguments) -> frozenset[str]:
        """Return the other ends of the directions that are asked for."""
        return frozenset(DIRECTIONS[d] for d in _directions(arguments))

    def narrowed(
        self, arguments: base.Arguments, ends: base.Ends
    ) -> dict[str, t.Any]:
        """Return the arguments without guest_to_guest for want of a partner.

        A missing peer is not forgiven: every machine is owed one.
        """
        kept = [
            direction
            for direction in _directions(arguments)
            if DIRECTIONS[direction] == "peer" or ends.partner
        ]
        return {**arguments, "directions": kept}

    def cautions(
        self, arguments: base.Arguments
    ) -> tuple[tuple[str, str], ...]:
        """Return what the figures do not say."""
        if "guest_to_guest" not in arguments["directions"]:
            return ()
        seen = "guest_to_guest is compared with bare metal to its peer"
        return (("partner_is_peer", seen),)

    def metrics(self, arguments: base.Arguments) -> tuple[sample.Metric, ...]:
        """Return the latencies and the loss of each direction."""
        return tuple(
            metric
            for direction in _directions(arguments)
            for metric in (*_latencies(direction), _loss(direction))
        )

    def commands(
        self, arguments: base.Arguments, ends: base.Ends
    ) -> tuple[base.Command, ...]:
        """Return one run for each direction, which wants no server.

        :raises base.WorkloadError: when the address of an end is missing
        """
        return tuple(
            _command(direction, arguments, ends)
            for direction in _directions(arguments)
        )

    def parse(
        self,
        arguments: base.Arguments,
        outcomes: collections.abc.Mapping[str, base.Outcome],
    ) -> list[sample.Sample]:
        """Return the samples of each outcome there is."""
        samples = []
        for direction in _directions(arguments):
            outcome = outputs.taken(outcomes, direction)
            if outcome is None:
                continue
            count = arguments["count"]
            times = latencies(
                outcome.stdout, direction, count, arguments["size"]
            )
            samples += [
                limits.measured(metric, summary(times))
                for metric, summary in zip(
                    _latencies(direction), _SUMMARIES.values(), strict=True
                )
            ]
            lost = (count - len(times)) / count * 100
            samples.append(limits.measured(_loss(direction), lost))
        return samples


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
    sent, received = map(int, counts[0])
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
    for length, number, _ in answers:
        if int(length) != size + _HEADER:
            raise _error(
                direction,
                f"had {length} B in answer {number} instead of "
                f"{size + _HEADER} B",
            )
    times = sorted(
        outputs.number(word, f"ping: {direction}: time") / 1000
        for *_, word in answers
    )
    for mine, printed in zip(
        (times[0], statistics.fmean(times), times[-1]),
        summaries[0],
        strict=True,
    ):
        told = outputs.number(printed, f"ping: {direction}: summary") / 1000
        # Times above a millisecond are told by three digits.
        if not math.isclose(mine, told, rel_tol=0.006, abs_tol=2e-6):
            raise _error(
                direction,
                f"told {told:g} s in its summary, and {mine:g} s before",
            )
    return times


def _percentile(times: list[float], percent: int) -> float:
    """Return the smallest time that so many percent do not exceed."""
    return times[math.ceil(len(times) * percent / 100) - 1]


def _directions(arguments: base.Arguments) -> list[str]:
    return [one for one in DIRECTIONS if one in arguments["directions"]]


def _latencies(direction: str) -> tuple[sample.Metric, ...]:
    return tuple(
        sample.Metric(
            name=f"network.ping.{direction}.{what}", unit="s", better="lower"
        )
        for what in _SUMMARIES
    )


def _loss(direction: str) -> sample.Metric:
    return sample.Metric(
        name=f"network.ping.{direction}.loss",
        unit="%",
        better="lower",
        scale="count",
    )


def _command(
    direction: str, arguments: base.Arguments, ends: base.Ends
) -> base.Command:
    on = DIRECTIONS[direction]
    address = ends.peer if on == "peer" else ends.partner
    if not address:
        raise base.WorkloadError(
            f"ping: {direction} needs a {on}, and there is none; name one or "
            "leave the direction out of 'directions'"
        )
    seconds = arguments["count"] * arguments["interval"]
    return base.Command(
        name=direction,
        argv=(
            "ping",
            "-n",
            "-c",
            f"{arguments['count']}",
            "-i",
            f"{arguments['interval']:g}",
            "-s",
            f"{arguments['size']}",
            address,
        ),
        timeout=2 * seconds + 60,
        seconds=seconds,
    )


def _error(direction: str, what: str) -> base.WorkloadError:
    return base.WorkloadError(
        f"ping: {direction} {what}; look at the raw output"
    )
