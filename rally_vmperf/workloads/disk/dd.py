"""Disk workload: dd."""

import re

from rally_vmperf import sanitize
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import arguments as rules
from rally_vmperf.workloads import base
from rally_vmperf.workloads import limits
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import tools

DIRECTIONS = ("write", "read")

#: When a write has reached the disk -> the operand that asks for it.
SYNC = {
    "none": (),
    "fdatasync": ("conv=fdatasync",),
    "fsync": ("conv=fsync",),
    "dsync": ("oflag=dsync",),
}

#: Bytes per second of the slowest disk that is waited for, and of a usual one.
_SLOWEST, _USUAL = 2 * 10**6, 200 * 10**6

_BLOCKS = "bs={block_size} count={count}"

#: What dd says at its end; until 2016 without "1.0 GiB".
_SUMMARY = re.compile(
    r"^(?:([0-9]{1,20})\+0 records in\n([0-9]{1,20})\+0 records out\n)?"
    r"([0-9]{1,20}) bytes?(?: \(([^()\n]{1,40})\))? copied, "
    r"(\S{1,40}) s, ([0-9]{1,6}(?:\.[0-9])?) ([kMGTPE]?)B/s\n?\Z",
    re.MULTILINE,
)
#: A size in parentheses, by powers of 1000 or of 1024.
_SIZE = re.compile(r"([0-9]{1,6}(?:\.[0-9])?) ([kKMGTPE]?)(i?)B")
_PREFIXES = dict(zip(["", *"kMGTPE"], range(0, 21, 3), strict=True))


class Copy(base.Workload):
    """A file written from /dev/zero, and one read to /dev/null.

    Every write truncates its file, as a user of dd would.  A write that runs
    again while other machines still work may be stopped halfway, so reads
    use a file of their own.
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
            "When a write ends: none (data are in the page cache), "
            "fdatasync or fsync (all data are on the disk), dsync (each "
            "block is on the disk before the next).",
            SYNC,
            default="fdatasync",
        ),
        direct=rules.flag("Bypass the page cache (O_DIRECT)", default=False),
    )
    TOOLS = (tools.of("dd", package="coreutils"),)

    def prepare(self, arguments: base.Arguments) -> tuple[base.Command, ...]:
        """Return the first write of each file: storage may be thin."""
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
        return (("page_cache_measured", seen),)

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
                *base.argv(
                    f"dd if=read.data of=/dev/null {_BLOCKS}", arguments
                ),
                *(["iflag=direct"] if arguments["direct"] else []),
            ),
        }
        return tuple(
            _command(one, lines[one], arguments)
            for one in _directions(arguments)
        )

    def read(
        self, arguments: base.Arguments, outcome: base.Outcome
    ) -> list[sample.Sample]:
        """Return the rate, from the bytes and seconds that dd prints."""
        size, blocks = _bytes(arguments), arguments["count"]
        value = rate(outcome.stderr, outcome.name, size, blocks)
        return [limits.measured(_metric(outcome.name), value)]


def rate(text: str, direction: str, size: int, blocks: int = 0) -> float:
    """Return the bytes per second in what dd said at its end.

    The rate is computed, because dd prints only two digits, and is checked
    against the printed one.

    :param size: bytes that were to be copied
    :param blocks: in how many blocks; 0 where nobody knows
    :raises base.WorkloadError: when it copied others, or contradicts itself
    """
    found = _SUMMARY.findall(text[: base.LONGEST])
    if len(found) != 1 or text.count(" copied, ") != 1:
        raise _error(
            direction,
            f"said {sanitize.line(text, 80)!r} instead of how many bytes "
            "were copied; it has to be GNU dd",
        )
    read, wrote, copied, sizes, time, printed, prefix = found[0]
    if blocks and not read == wrote == str(blocks):
        raise _error(
            direction,
            f"read {read or 'no'} and wrote {wrote or 'no'} blocks instead of "
            f"{blocks}",
        )
    if int(copied) != size or not all(
        _is_size(word, size) for word in sizes.split(", ") if sizes
    ):
        raise _error(
            direction,
            f"copied {copied} bytes{sizes and f' ({sizes})'} instead of "
            f"{size}",
        )
    seconds = outputs.number(time, f"dd: {direction}: seconds")
    told = outputs.number(printed, f"dd: {direction}: rate")
    if not seconds > 0:
        raise _error(direction, f"took {seconds:g} s")
    value = size / seconds
    unit = 10.0 ** _PREFIXES[prefix]
    # Six digits of the time are printed, and two or three of the rate.
    if abs(value / unit - told) > outputs.slack(printed) + 1e-5 * told:
        raise _error(
            direction,
            f"took {time} s, which is not {printed} {prefix}B/s",
        )
    return value


def _is_size(told: str, size: int) -> bool:
    """Return whether a size that dd abbreviates is this one in bytes."""
    found = _SIZE.fullmatch(told)
    if not found:
        return False
    power = _PREFIXES[found[2].replace("K", "k")] // 3
    unit = (1024.0 if found[3] else 1000.0) ** power
    return abs(size / unit - float(found[1])) <= 2 * outputs.slack(found[1])


def _directions(arguments: base.Arguments) -> list[str]:
    return [one for one in DIRECTIONS if one in arguments["directions"]]


def _metric(direction: str) -> sample.Metric:
    return sample.Metric(f"disk.dd.{direction}.bandwidth", "B/s", "higher")


def _bytes(arguments: base.Arguments) -> int:
    block = rules.size_bytes(arguments["block_size"])
    return block * int(arguments["count"])


def _write(
    arguments: base.Arguments, direction: str, sync: str
) -> tuple[str, ...]:
    return (
        *base.argv(
            f"dd if=/dev/zero of={direction}.data {_BLOCKS}", arguments
        ),
        *SYNC[sync],
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
