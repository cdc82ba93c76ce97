"""Disk workload: dd."""

import collections.abc
import math
import re

from rally_vmperf.measurement import sample
from rally_vmperf.workloads import arguments as rules
from rally_vmperf.workloads import base
from rally_vmperf.workloads import limits
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import tools

DIRECTIONS = ("write", "read")

#: When a write has reached the disk -> the operand that asks for it.
_SYNC = {
    "none": (),
    "fdatasync": ("conv=fdatasync",),
    "fsync": ("conv=fsync",),
    "dsync": ("oflag=dsync",),
}

#: Bytes per second of the slowest disk that is waited for, and of a usual one.
_SLOWEST, _USUAL = 2 * 10**6, 200 * 10**6

#: What dd says at its end; until 2016 without "1.0 GiB".
_SUMMARY = re.compile(
    r"^([0-9]{1,20}) bytes?(?: \([^()\n]{1,40}\))? copied, "
    r"(\S{1,40}) s, (\S{1,40}) ([kMGTPE]?)B/s$",
    re.MULTILINE,
)
_PREFIXES = dict(zip(["", *"kMGTPE"], range(0, 21, 3), strict=True))


class Copy(base.Workload):
    """A file written from /dev/zero, and one read to /dev/null.

    Every write makes its file anew, as a user of dd would.  One that is done
    again while others still work may be ended halfway, so what is read is
    another file.
    """

    name = "dd"
    title = "Disk: files written and read with dd"
    part = "disk"
    ARGUMENTS = rules.schema(
        directions=rules.choices(
            "Measured one after the other: write, read.",
            DIRECTIONS,
            default=("write",),
        ),
        block_size=rules.size("Size of a block", default="1M"),
        count=rules.integer("Blocks of the file", 1, 1048576, default=1024),
        sync=rules.choice(
            "When a write is over: none (it is in the page cache), fdatasync "
            "or fsync (all is on the disk), dsync (each block was before the "
            "next).",
            _SYNC,
            default="fdatasync",
        ),
        direct=rules.flag("Go past the page cache (O_DIRECT)", default=False),
    )
    TOOLS = (
        tools.Tool(
            command="dd", package="coreutils", version=("dd", "--version")
        ),
    )

    def prepare(self, arguments: base.Arguments) -> tuple[base.Command, ...]:
        """Return how each file is written once: storage may be thin."""
        return tuple(
            _command(
                f"layout-{one}", _write(arguments, one, "fdatasync"), arguments
            )
            for one in _directions(arguments)
        )

    def cautions(
        self, arguments: base.Arguments
    ) -> tuple[tuple[str, str], ...]:
        """Return a caution when the page cache is read or written."""
        if arguments["direct"]:
            return ()
        cached = [
            seen
            for direction, seen in (
                ("write", "writes with sync: none"),
                ("read", "reads"),
            )
            if direction in arguments["directions"]
            and (direction == "read" or arguments["sync"] == "none")
        ]
        if not cached:
            return ()
        seen = f"dd {' and '.join(cached)}, with direct: false"
        return (("cache_not_direct", seen),)

    def metrics(self, arguments: base.Arguments) -> tuple[sample.Metric, ...]:
        """Return the rate of each direction that is asked for."""
        return tuple(_metric(one) for one in _directions(arguments))

    def commands(
        self, arguments: base.Arguments, ends: base.Ends
    ) -> tuple[base.Command, ...]:
        """Return one copy for each direction, named after it."""
        lines = {
            "write": _write(arguments, "write", arguments["sync"]),
            "read": (
                "dd",
                "if=read.data",
                "of=/dev/null",
                *_blocks(arguments),
                *(["iflag=direct"] if arguments["direct"] else []),
            ),
        }
        return tuple(
            _command(one, lines[one], arguments)
            for one in _directions(arguments)
        )

    def parse(
        self,
        arguments: base.Arguments,
        outcomes: collections.abc.Mapping[str, base.Outcome],
    ) -> list[sample.Sample]:
        """Return the rates, by the bytes and seconds that dd tells."""
        samples = []
        for direction in _directions(arguments):
            outcome = outputs.taken(outcomes, direction)
            if outcome is not None:
                value = rate(outcome.stderr, direction, _bytes(arguments))
                samples.append(limits.measured(_metric(direction), value))
        return samples


def rate(text: str, direction: str, size: int) -> float:
    """Return the bytes per second in what dd said at its end.

    They are computed, for dd prints two digits of them, and held against
    what it printed.

    :param size: bytes that were to be copied
    :raises base.WorkloadError: when it copied others, or contradicts itself
    """
    found = _SUMMARY.findall(text[: outputs.LONGEST])
    if len(found) != 1:
        raise _error(
            direction,
            f"said {outputs.printable(text, 80)!r} instead of how many bytes "
            "were copied; it has to be GNU dd",
        )
    copied, time, printed, prefix = found[0]
    if int(copied) != size:
        raise _error(direction, f"copied {copied} bytes instead of {size}")
    seconds = outputs.number(time, f"dd: {direction}: seconds")
    told = outputs.number(printed, f"dd: {direction}: rate")
    if not seconds > 0:
        raise _error(direction, f"took {seconds:g} s")
    value = size / seconds
    if not math.isclose(value, told * 10 ** _PREFIXES[prefix], rel_tol=0.06):
        raise _error(
            direction,
            f"took {time} s, which is not {printed} {prefix}B/s",
        )
    return value


def _directions(arguments: base.Arguments) -> list[str]:
    return [one for one in DIRECTIONS if one in arguments["directions"]]


def _metric(direction: str) -> sample.Metric:
    return sample.Metric(
        name=f"disk.dd.{direction}.bandwidth", unit="B/s", better="higher"
    )


def _bytes(arguments: base.Arguments) -> int:
    block = rules.size_bytes(arguments["block_size"])
    return block * int(arguments["count"])


def _blocks(arguments: base.Arguments) -> tuple[str, ...]:
    return (f"bs={arguments['block_size']}", f"count={arguments['count']}")


def _write(
    arguments: base.Arguments, direction: str, sync: str
) -> tuple[str, ...]:
    return (
        "dd",
        "if=/dev/zero",
        f"of={direction}.data",
        *_blocks(arguments),
        *_SYNC[sync],
        *(["oflag=direct"] if arguments["direct"] else []),
    )


def _command(
    name: str, argv: tuple[str, ...], arguments: base.Arguments
) -> base.Command:
    return base.Command(
        name=name,
        argv=argv,
        timeout=120 + _bytes(arguments) / _SLOWEST,
        seconds=_bytes(arguments) / _USUAL,
        bound="size",
    )


def _error(direction: str, what: str) -> base.WorkloadError:
    return base.WorkloadError(
        f"dd: {direction} {what}; look at the raw output"
    )
