# SPDX-License-Identifier: Apache-2.0
"""Disk workload: dd."""

import re

from rally_vmperf import sanitize
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import options
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import schemas
from rally_vmperf.workloads import sequence
from rally_vmperf.workloads import tools
from rally_vmperf.workloads.disk import _target

DIRECTIONS = ("write", "read")

#: Synchronisation of writes -> operand of dd.
SYNC = {
    "none": (),
    "fdatasync": ("conv=fdatasync",),
    "fsync": ("conv=fsync",),
    "dsync": ("oflag=dsync",),
}

_BLOCKS = "bs={block_size} count={count}"

#: The summary of dd; until 2016 without "1.0 GiB".
_SUMMARY = re.compile(
    r"^(?:([0-9]{1,20})\+0 records in\n([0-9]{1,20})\+0 records out\n)?"
    r"([0-9]{1,20}) bytes?(?: \(([^()\n]{1,40})\))? copied, "
    r"(\S{1,40}) s, [0-9]{1,6}(?:\.[0-9])? [kMGTPE]?B/s\n?\Z",
    re.MULTILINE,
)


#: The operands, of which each command line has all that differ from their
#: defaults. The readers of outputs interpret the flags.
_OPTIONS = options.OptionTable(
    options=(
        options.Option(
            names=("count",), argument="count", parse=options.parse_size
        ),
        options.Option(names=("skip", "iseek"), default="0"),
        options.Option(names=("seek", "oseek"), default="0"),
        options.Option(names=("cbs",)),
        *options.name_options("if", "of", "bs", "ibs", "obs", "status"),
        *options.name_options("conv", "oflag", "iflag"),
    )
)


class Dd(sequence.CommandSequenceWorkload):
    """A file written from /dev/zero, and a file read to /dev/null.

    Every write truncates its file.  A write that runs again, while other
    machines are still working, may be interrupted; therefore reads use
    another file.  On a raw device, both use the same blocks, which the
    preparation has written.
    """

    name = "dd"
    title = "Disk: files written and read with dd"
    part = "disk"
    TOOL_OPTIONS = _OPTIONS
    QUICK = schemas.short(count=256)
    ARGUMENTS = schemas.schema(
        directions=schemas.sequence(DIRECTIONS, default=("write",)),
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
        target=_target.argument("the raw device of the first one"),
    )
    OPTIONS = "directions"
    METRICS = (sample.Metric("disk.dd.{}.bandwidth", "B/s", "higher"),)
    TOOLS = (tools.load_generator("dd", package="coreutils"),)

    def disk_space(self, arguments: base.Arguments) -> base.DiskSpace:
        """Return the size of a file for each direction."""
        return base.DiskSpace(
            kept=len(self.selected(arguments)) * _size_bytes(arguments),
            arguments=("count", "block_size"),
        )

    @staticmethod
    def targets(arguments: base.Arguments) -> tuple[base.Target, ...]:
        """Return the volume whose device is measured."""
        return _target.list_volumes(
            arguments, _size_bytes(arguments), "device"
        )

    def prepare(self, arguments: base.Arguments) -> tuple[base.Command, ...]:
        """Return the commands of the first writes, which allocate space."""
        return tuple(
            _target.create_command(
                f"layout-{direction}",
                _write_argv(arguments, direction, "fdatasync"),
                _size_bytes(arguments),
            )
            for direction in self.selected(arguments)
        )

    def argument_findings(self, arguments: base.Arguments) -> base.Findings:
        """Return a finding if dd uses the page cache, else nothing."""
        if arguments["direct"]:
            return ()
        cached = ["writes with sync: none"]
        if (
            arguments["sync"] != "none"
            or "write" not in arguments["directions"]
        ):
            cached = []
        if "read" in arguments["directions"]:
            cached.append("reads")
        if not cached:
            return ()
        description = f"dd {' and '.join(cached)}, with direct: false"
        return (("page_cache_measured", description),)

    def command(
        self, option: str, arguments: base.Arguments, endpoints: base.Endpoints
    ) -> base.Command:
        """Return the dd Command of a direction."""
        if option == "write":
            argv = _write_argv(arguments, "write", arguments["sync"])
        else:
            path = _get_path(arguments, "read")
            line = f"dd if={path} of=/dev/null {_BLOCKS}"
            direct = ["iflag=direct"] if arguments["direct"] else []
            argv = (*base.argv(line, arguments), *direct)
        return _target.create_command(option, argv, _size_bytes(arguments))

    def parse(
        self, arguments: base.Arguments, result: base.CommandResult
    ) -> list[sample.Sample]:
        """Return a list with the sample of the bytes per second of dd."""
        size, blocks = _size_bytes(arguments), arguments["count"]
        value = parse_rate(result.stderr, result.name, size, blocks)
        return self.samples(result.name, value)


def parse_rate(text: str, direction: str, size: int, blocks: int = 0) -> float:
    """Parse the summary of dd into bytes per second.

    The rate is computed, because dd prints only two digits.

    :param size: The number of bytes of the command.
    :param blocks: The number of blocks of the command; 0 if unknown.
    :raises base.WorkloadError: If dd copied another number of bytes.
    """
    output = outputs.Reader(f"dd: {direction}")
    summaries = _SUMMARY.findall(text)
    if len(summaries) != 1 or text.count(" copied, ") != 1:
        raise output.error(
            f"printed {sanitize.line(text, 80)!r} instead of the number of "
            "copied bytes; GNU dd is required"
        )
    read, wrote, copied, sizes, time = summaries[0]
    if blocks and not read == wrote == str(blocks):
        raise output.error(
            f"read {read or 'no'} and wrote {wrote or 'no'} blocks instead of "
            f"{blocks}"
        )
    if int(copied) != size:
        raise output.error(
            f"copied {copied} bytes{sizes and f' ({sizes})'} instead of {size}"
        )
    seconds = output.number(time, "seconds")
    if not seconds > 0:
        raise output.error(f"took {seconds:g} s")
    return size / seconds


def _size_bytes(arguments: base.Arguments) -> int:
    """Return the number of bytes that dd reads or writes."""
    block = schemas.size_bytes(arguments["block_size"])
    return block * int(arguments["count"])


def _write_argv(
    arguments: base.Arguments, direction: str, sync: str
) -> tuple[str, ...]:
    """Return the command line words of dd that write a file."""
    line = f"dd if=/dev/zero of={_get_path(arguments, direction)} {_BLOCKS}"
    direct = ["oflag=direct"] if arguments["direct"] else []
    # Without nocreat, dd would create a file if the link is missing.
    device = ["conv=notrunc,nocreat"] if Dd.targets(arguments) else []
    return (*base.argv(line, arguments), *device, *SYNC[sync], *direct)


def _get_path(arguments: base.Arguments, direction: str) -> str:
    """Return the path of the file of a direction, or of the device."""
    paths = [target.path for target in Dd.targets(arguments)]
    return paths[0] if paths else f"{direction}.data"
