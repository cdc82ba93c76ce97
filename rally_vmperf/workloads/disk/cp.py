# SPDX-License-Identifier: Apache-2.0
"""Disk workload: copies of a directory tree with cp."""

import dataclasses
import re

from rally_vmperf import sanitize
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import files
from rally_vmperf.workloads import options
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import schemas
from rally_vmperf.workloads import tools
from rally_vmperf.workloads.disk import _target

TIME = sample.Metric("disk.cp.copy_time", "s", "lower", additive=True)

#: Files per second of the slowest supported disk, and of a usual one.
_SLOWEST_FILES, _USUAL_FILES = 50, 20000
#: Files in a directory of the tree.
_FILES_PER_DIRECTORY = 100
#: Bytes in a block of common file systems.
_BLOCK = 4096
#: Bytes per second that tree.py writes on a current machine.
_WRITE_RATE = 100 * 10**6

_OUTPUT = outputs.Reader("cp")
_SECONDS = re.compile(r"seconds ([0-9]{1,9}\.[0-9]{3}), that is \1\n")


_OPTIONS = options.OptionTable(
    options=(
        # What is copied decides whether -r is required.
        *options.name_options("r", "R", "recursive", has_value=False),
        *options.name_options("v", "verbose", "f", "force", has_value=False),
        *options.name_options("T", "no-target-directory", has_value=False),
        options.Option(
            names=("t", "target-directory"),
            argument="place",
            default="file",
            kind="place",
            parse=options.classify_path,
        ),
        options.Option(names=("reflink",), has_value=False),
        options.Option(names=("sparse",), has_value=False),
    )
)


class Cp(base.Workload):
    """The time of ``cp -r`` within a file system, of small or large files.

    ``tree`` is written once.  Each repetition writes ``copy`` and removes it.
    """

    name = "cp"
    title = "Disk: a tree of files copied with cp"
    part = "disk"
    TOOL_OPTIONS = _OPTIONS
    QUICK = schemas.short(files=512)
    ARGUMENTS = schemas.schema(
        files=schemas.integer(
            "Number of files in the tree, 100 per directory",
            1,
            1000000,
            default=4096,
        ),
        file_kib=schemas.integer(
            "Size of each file in KiB", 1, 16777216, default=16
        ),
        seed=schemas.seed("files"),
        flush=schemas.flag(
            "Include the time until all data are on the disk", default=True
        ),
        target=_target.argument("a file system on the first one"),
    )
    METRICS = (TIME,)
    TOOLS = (
        tools.load_generator("cp", package="coreutils"),
        tools.load_generator("sync", package="coreutils"),
        tools.auxiliary("rm", package="coreutils"),
        tools.auxiliary("bash"),
        tools.auxiliary("python3"),
    )

    @staticmethod
    def targets(arguments: base.Arguments) -> tuple[base.Target, ...]:
        """Return the volume with the tree and its copy."""
        size = 2 * _size_bytes(arguments)
        return _target.list_volumes(arguments, size, "filesystem")

    def files(self, arguments: base.Arguments) -> tuple[base.File, ...]:
        """Return the scripts that write the tree and copy it, as Files."""
        return (files.script("tree.py"), files.script("copy.bash"))

    def disk_space(self, arguments: base.Arguments) -> base.DiskSpace:
        """Return the size of the tree, and of its copy."""
        blocks = -(-arguments["file_kib"] * 1024 // _BLOCK)
        directories = 2 + arguments["files"] // _FILES_PER_DIRECTORY
        size = (arguments["files"] * blocks + directories) * _BLOCK
        return base.DiskSpace(
            kept=size, temporary=size, arguments=("files", "file_kib")
        )

    def prepare(self, arguments: base.Arguments) -> tuple[base.Command, ...]:
        """Return the commands that write the tree and copy it once.

        The first copy allocates storage that is thin-provisioned.
        """
        generate = base.argv(
            "python3 tree.py --files={files} --file-kib={file_kib} "
            "--seed={seed} {path}",
            arguments,
            path=_target.join(self.targets(arguments), "tree"),
        )
        seconds = _size_bytes(arguments) / _WRITE_RATE
        return (
            _command("generate", generate, arguments, seconds),
            _command("layout", _copy_argv(arguments, flush=True), arguments),
        )

    def facts(
        self, arguments: base.Arguments, results: base.Results
    ) -> dict[str, str]:
        """Return the SHA-256 of the tree in a dict."""
        return outputs.parse_checksum(results, "tree.py", "tree_sha256")

    def argument_findings(self, arguments: base.Arguments) -> base.Findings:
        """Return a finding if the copy is not flushed, else nothing."""
        if arguments["flush"]:
            return ()
        return (("page_cache_measured", "cp writes with flush: false"),)

    def commands(
        self, arguments: base.Arguments, endpoints: base.Endpoints
    ) -> tuple[base.Command, ...]:
        """Return a tuple of the one command that copies the tree.

        A copy that runs again, while other machines are still copying, does
        the same work.
        """
        argv = _copy_argv(arguments, flush=arguments["flush"])
        return (_command("copy", argv, arguments),)

    def parse(
        self, arguments: base.Arguments, result: base.CommandResult
    ) -> list[sample.Sample]:
        """Return a list with the sample of the copy's seconds.

        :raises base.WorkloadError: If cp or sync printed a message.
        """
        match = _SECONDS.fullmatch(result.stderr)
        if match is None or result.stdout:
            output = result.stdout or result.stderr
            raise _OUTPUT.error(
                f"printed {sanitize.line(output, 80)!r} instead of its "
                "duration"
            )
        seconds = float(match[1])
        _OUTPUT.check_duration(seconds, result)
        return [outputs.create_sample(TIME, seconds)]


def _copy_argv(arguments: base.Arguments, *, flush: bool) -> tuple[str, ...]:
    """Return the command line words that copy the tree."""
    paths = [target.path for target in Cp.targets(arguments)]
    return ("bash", "copy.bash", *(["flush"] if flush else []), *paths)


def _size_bytes(arguments: base.Arguments) -> int:
    """Return the number of bytes of all files of the tree."""
    return int(arguments["files"]) * int(arguments["file_kib"]) * 1024


def _command(
    name: str,
    argv: tuple[str, ...],
    arguments: base.Arguments,
    seconds: float = 0,
) -> base.Command:
    """Return a Command with a timeout that suits the size of the tree."""
    size, file_count = _size_bytes(arguments), arguments["files"]
    command = _target.create_command(name, argv, size)
    return dataclasses.replace(
        command,
        timeout=command.timeout + file_count / _SLOWEST_FILES + 10 * seconds,
        # copy.bash removes it, unless it fails.
        temporary_files=("copy",),
        seconds=seconds or command.seconds + file_count / _USUAL_FILES,
    )
