"""Disk workload: copy a tree of files with cp."""

import collections.abc
import re

from rally_vmperf.measurement import sample
from rally_vmperf.workloads import arguments as rules
from rally_vmperf.workloads import base
from rally_vmperf.workloads import limits
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import tools

TIME = sample.Metric(
    name="disk.cp.copy_time", unit="s", better="lower", adds_up=True
)

#: Bytes and files per second of the slowest disk that is waited for, and of a
#: usual one.
_SLOWEST_BYTES, _USUAL_BYTES = 2 * 10**6, 200 * 10**6
_SLOWEST_FILES, _USUAL_FILES = 50, 20000
#: Bytes per second that tree.py makes on a machine of today.
_MADE = 100 * 10**6

_CHECKSUM = re.compile("sha256 ([0-9a-f]{64})")
_SECONDS = re.compile(r"seconds ([0-9]{1,9}\.[0-9]{3})\n")


class TreeCopy(base.Workload):
    """``cp -r`` within one file system, timed: many small files or few large.

    ``tree`` is made once.  ``copy`` is made anew by each repetition, and
    removed.
    """

    name = "cp"
    title = "Disk: a tree of files copied with cp"
    part = "disk"
    ARGUMENTS = rules.schema(
        files=rules.integer(
            "Files of the tree, a hundred in a folder",
            1,
            1000000,
            default=4096,
        ),
        file_kib=rules.integer(
            "Size of each file in KiB", 1, 16777216, default=16
        ),
        seed=rules.integer(
            "Number from which the files are generated",
            0,
            2147483647,
            default=1,
            note="the same seed gives the same files",
        ),
        flush=rules.flag(
            "The time goes on until all of the copy is on the disk",
            default=True,
        ),
    )
    TOOLS = (
        tools.Tool(
            command="cp", package="coreutils", version=("cp", "--version")
        ),
        tools.Tool(
            command="sync", package="coreutils", version=("sync", "--version")
        ),
        tools.Tool(
            command="rm",
            package="coreutils",
            version=("rm", "--version"),
            measures=False,
        ),
        tools.Tool(
            command="bash",
            package="bash",
            version=("bash", "--version"),
            measures=False,
        ),
        tools.Tool(
            command="python3",
            package="python3",
            version=("python3", "--version"),
            measures=False,
        ),
    )

    def files(self, arguments: base.Arguments) -> tuple[base.File, ...]:
        """Return the programs that make the tree, and that copy it."""
        return tuple(
            base.File(
                name=name,
                package="rally_vmperf.workloads.scripts",
                path=name,
                mode=0o755,
            )
            for name in ("tree.py", "copy.bash")
        )

    def prepare(self, arguments: base.Arguments) -> tuple[base.Command, ...]:
        """Return how the tree comes to be.

        It is copied once: storage may be thin.
        """
        generate = (
            "python3",
            "tree.py",
            f"--files={arguments['files']}",
            f"--file-kib={arguments['file_kib']}",
            f"--seed={arguments['seed']}",
            "tree",
        )
        return (
            _command(
                "generate", generate, arguments, _bytes(arguments) / _MADE
            ),
            _command("layout", ("bash", "copy.bash", "flush"), arguments),
        )

    def facts(
        self,
        arguments: base.Arguments,
        outcomes: collections.abc.Mapping[str, base.Outcome],
    ) -> dict[str, str]:
        """Return the SHA-256 of the tree, equal wherever it is equal."""
        outcome = outputs.taken(outcomes, "generate")
        if outcome is None:
            return {}
        found = _CHECKSUM.fullmatch(outcome.stdout.strip())
        if not found:
            raise base.WorkloadError(
                "tree.py printed "
                f"{outputs.printable(outcome.stdout, 80)!r} instead of "
                "'sha256 ' and 64 digits; look at the raw output"
            )
        return {"tree_sha256": found.group(1)}

    def cautions(
        self, arguments: base.Arguments
    ) -> tuple[tuple[str, str], ...]:
        """Return a caution when nothing waits for the disk."""
        if arguments["flush"]:
            return ()
        return (("cache_not_direct", "cp writes with flush: false"),)

    def metrics(self, arguments: base.Arguments) -> tuple[sample.Metric, ...]:
        """Return the time of one copy."""
        return (TIME,)

    def commands(
        self, arguments: base.Arguments, ends: base.Ends
    ) -> tuple[base.Command, ...]:
        """Return the one copy, which is removed by the same command.

        So the same is done when it is done again, as long as others copy.
        """
        return (_command("copy", _copy(arguments), arguments),)

    def parse(
        self,
        arguments: base.Arguments,
        outcomes: collections.abc.Mapping[str, base.Outcome],
    ) -> list[sample.Sample]:
        """Return the seconds that the copy took, of those of the command.

        :raises base.WorkloadError: when cp or sync said something, too
        """
        outcome = outputs.taken(outcomes, "copy")
        if outcome is None:
            return []
        found = _SECONDS.fullmatch(outcome.stderr)
        if found is None or outcome.stdout:
            said = outcome.stdout or outcome.stderr
            raise base.WorkloadError(
                f"cp said {outputs.printable(said, 80)!r} instead of nothing "
                "but 'seconds' and how many; look at the raw output"
            )
        seconds = float(found[1])
        if seconds > outcome.seconds + 0.01:
            raise base.WorkloadError(
                f"cp took {seconds:g} s of a command that took "
                f"{outcome.seconds:g} s; look at the raw output"
            )
        return [limits.measured(TIME, seconds)]


def _copy(arguments: base.Arguments) -> tuple[str, ...]:
    return ("bash", "copy.bash", *(["flush"] if arguments["flush"] else []))


def _bytes(arguments: base.Arguments) -> int:
    return int(arguments["files"]) * int(arguments["file_kib"]) * 1024


def _command(
    name: str,
    argv: tuple[str, ...],
    arguments: base.Arguments,
    seconds: float = 0,
) -> base.Command:
    size, files = _bytes(arguments), arguments["files"]
    return base.Command(
        name=name,
        argv=argv,
        timeout=120
        + size / _SLOWEST_BYTES
        + files / _SLOWEST_FILES
        + 10 * seconds,
        seconds=seconds or size / _USUAL_BYTES + files / _USUAL_FILES,
        bound="size",
    )
