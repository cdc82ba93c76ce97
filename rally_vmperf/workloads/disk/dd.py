"""Disk workload: dd."""

import re

from rally_vmperf import sanitize
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import limits
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import schemas
from rally_vmperf.workloads import tools

DIRECTIONS = ("write", "read")

#: Synchronisation of writes -> operand of dd.
SYNC = {
    "none": (),
    "fdatasync": ("conv=fdatasync",),
    "fsync": ("conv=fsync",),
    "dsync": ("oflag=dsync",),
}

#: Bytes per second of the slowest supported disk, and of a usual one.
_SLOWEST, _USUAL = 2 * 10**6, 200 * 10**6

_BLOCKS = "bs={block_size} count={count}"

#: The summary of dd; until 2016 without "1.0 GiB".
_SUMMARY = re.compile(
    r"^(?:([0-9]{1,20})\+0 records in\n([0-9]{1,20})\+0 records out\n)?"
    r"([0-9]{1,20}) bytes?(?: \(([^()\n]{1,40})\))? copied, "
    r"(\S{1,40}) s, ([0-9]{1,6}(?:\.[0-9])?) ([kMGTPE]?)B/s\n?\Z",
    re.MULTILINE,
)
#: A size in parentheses with powers of 1000 or of 1024.
_SIZE = re.compile(r"([0-9]{1,6}(?:\.[0-9])?) ([kKMGTPE]?)(i?)B")
_PREFIXES = dict(zip(["", *"kMGTPE"], range(0, 21, 3), strict=True))


class Dd(base.Workload):
    """A file written from /dev/zero, and a file read to /dev/null.

    Every write truncates its file.  A write that runs again, while other
    machines are still working, may be interrupted; therefore reads use
    another file.
    """

    name = "dd"
    title = "Disk: files written and read with dd"
    part = "disk"
    ARGUMENTS = schemas.schema(
        directions=schemas.choices(
            "Measured one after the other: write, read.",
            DIRECTIONS,
            default=("write",),
        ),
        block_size=schemas.size("Size of a block", default="1M"),
        count=schemas.integer("Number of blocks", 1, 1048576, default=1024),
        sync=schemas.choice(
            "End of a write: none (data are in the page cache), "
            "fdatasync or fsync (all data are on the disk), dsync (each "
            "block is on the disk before the next).",
            SYNC,
            default="fdatasync",
        ),
        direct=schemas.flag("Bypass the page cache (O_DIRECT)", default=False),
    )
    TOOLS = (tools.define("dd", package="coreutils"),)

    def prepare(self, arguments: base.Arguments) -> tuple[base.Command, ...]:
        """Return the commands of the first writes, which allocate space."""
        return tuple(
            _command(
                f"layout-{direction}",
                _write_argv(arguments, direction, "fdatasync"),
                arguments,
            )
            for direction in _selected_directions(arguments)
        )

    def argument_findings(
        self, arguments: base.Arguments
    ) -> tuple[tuple[str, str], ...]:
        """Return a finding if dd uses the page cache, else nothing."""
        if arguments["direct"]:
            return ()
        cached = [
            description
            for direction, description in (
                ("write", "writes with sync: none"),
                ("read", "reads"),
            )
            if direction in arguments["directions"]
            and (direction == "read" or arguments["sync"] == "none")
        ]
        if not cached:
            return ()
        description = f"dd {' and '.join(cached)}, with direct: false"
        return (("page_cache_measured", description),)

    def metrics(self, arguments: base.Arguments) -> tuple[sample.Metric, ...]:
        """Return the bandwidth metric definition of each direction."""
        return tuple(
            _metric(direction) for direction in _selected_directions(arguments)
        )

    def commands(
        self, arguments: base.Arguments, endpoints: base.Endpoints
    ) -> tuple[base.Command, ...]:
        """Return one dd command per selected direction, with its name."""
        lines = {
            "write": _write_argv(arguments, "write", arguments["sync"]),
            "read": (
                *base.argv(
                    f"dd if=read.data of=/dev/null {_BLOCKS}", arguments
                ),
                *(["iflag=direct"] if arguments["direct"] else []),
            ),
        }
        return tuple(
            _command(direction, lines[direction], arguments)
            for direction in _selected_directions(arguments)
        )

    def parse(
        self, arguments: base.Arguments, outcome: base.Outcome
    ) -> list[sample.Sample]:
        """Return a list with the sample of the bytes per second of dd."""
        size, blocks = _size_bytes(arguments), arguments["count"]
        value = parse_rate(outcome.stderr, outcome.name, size, blocks)
        return [limits.create_sample(_metric(outcome.name), value)]


def parse_rate(text: str, direction: str, size: int, blocks: int = 0) -> float:
    """Parse the summary of dd into bytes per second.

    The rate is computed, because dd prints only two digits, and is compared
    with the printed rate.

    :param size: The number of bytes of the command.
    :param blocks: The number of blocks of the command; 0 if unknown.
    :raises base.WorkloadError: If dd copied another number of bytes, or its
        summary contradicts itself.
    """
    summaries = _SUMMARY.findall(text[: base.LONGEST])
    if len(summaries) != 1 or text.count(" copied, ") != 1:
        raise _error(
            direction,
            f"printed {sanitize.line(text, 80)!r} instead of the number of "
            "copied bytes; GNU dd is required",
        )
    read, wrote, copied, sizes, time, printed, prefix = summaries[0]
    if blocks and not read == wrote == str(blocks):
        raise _error(
            direction,
            f"read {read or 'no'} and wrote {wrote or 'no'} blocks instead of "
            f"{blocks}",
        )
    if int(copied) != size or not all(
        _is_size(size_text, size) for size_text in sizes.split(", ") if sizes
    ):
        raise _error(
            direction,
            f"copied {copied} bytes{sizes and f' ({sizes})'} instead of "
            f"{size}",
        )
    seconds = outputs.parse_number(time, f"dd: {direction}: seconds")
    printed_rate = outputs.parse_number(printed, f"dd: {direction}: rate")
    if not seconds > 0:
        raise _error(direction, f"took {seconds:g} s")
    bytes_per_second = size / seconds
    unit = 10.0 ** _PREFIXES[prefix]
    # The time has six digits, and the rate has two or three.
    if (
        abs(bytes_per_second / unit - printed_rate)
        > outputs.rounding_slack(printed) + 1e-5 * printed_rate
    ):
        raise _error(
            direction,
            f"took {time} s, which is not {printed} {prefix}B/s",
        )
    return bytes_per_second


def _is_size(text: str, size: int) -> bool:
    """Return whether an abbreviated size of dd agrees with a size in bytes."""
    match = _SIZE.fullmatch(text)
    if not match:
        return False
    power = _PREFIXES[match[2].replace("K", "k")] // 3
    unit = (1024.0 if match[3] else 1000.0) ** power
    return abs(size / unit - float(match[1])) <= 2 * outputs.rounding_slack(
        match[1]
    )


def _selected_directions(arguments: base.Arguments) -> list[str]:
    """Return the selected directions as an ordered list of names."""
    return [
        direction
        for direction in DIRECTIONS
        if direction in arguments["directions"]
    ]


def _metric(direction: str) -> sample.Metric:
    """Return the Metric of the bandwidth of a direction."""
    return sample.Metric(f"disk.dd.{direction}.bandwidth", "B/s", "higher")


def _size_bytes(arguments: base.Arguments) -> int:
    """Return the number of bytes that dd reads or writes."""
    block = schemas.size_bytes(arguments["block_size"])
    return block * int(arguments["count"])


def _write_argv(
    arguments: base.Arguments, direction: str, sync: str
) -> tuple[str, ...]:
    """Return the command line words of dd that write a file."""
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
    """Return a Command with a timeout that suits the number of bytes."""
    return base.Command(
        name=name,
        argv=argv,
        timeout=120 + _size_bytes(arguments) / _SLOWEST,
        seconds=_size_bytes(arguments) / _USUAL,
        bound="size",
    )


def _error(direction: str, problem: str) -> base.WorkloadError:
    """Return a WorkloadError that describes a problem of a direction."""
    return base.WorkloadError(
        f"dd: {direction} {problem}; look at the raw output"
    )
