# SPDX-License-Identifier: Apache-2.0
"""Disk workload: iozone."""

import dataclasses
import re

from rally_vmperf import sanitize
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import options
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import schemas
from rally_vmperf.workloads import tools
from rally_vmperf.workloads.disk import _target

#: Test -> name of its processes in the output of iozone.
_SEQUENTIAL = {
    "write": "initial writers",
    "rewrite": "rewriters",
    "read": "readers",
    "reread": "re-readers",
}
_RANDOM = {"random_read": "random readers", "random_write": "random writers"}

_RATE = r"=\s{1,20}([0-9.]{1,30}) kB/sec\s*?$"
#: The sum of the processes in a test.
_TEST = re.compile(
    r"^\tChildren see throughput for {1,2}([0-9]{1,5}) "
    rf"([a-z -]{{1,30}}?)\s+{_RATE}",
    re.M,
)
_SIZE = re.compile(
    r"^\tEach process writes a ([0-9]{1,15}) kByte file in ([0-9]{1,9}) "
    r"kByte records$",
    re.M,
)
_END = "\niozone test complete.\n"
#: Argument -> the line that iozone prints if it is true.
_LINES = {
    "flush": "\tInclude fsync in write timing\n",
    "direct": "\tO_DIRECT feature enabled\n",
}
_COMMAND = re.compile(r"^\tCommand line used: (.{1,2000})$", re.M)

_OUTPUT = outputs.Reader("iozone")

_ADVICE = "iozone is not free software: "


_OPTIONS = options.OptionTable(
    options=(
        # The output states these: processes, sizes, tests and modes.
        *options.name_options("t", "l", "u", "s", "r", "i"),
        *options.name_options("e", "I", "o", "R", "M", has_value=False),
        options.Option(
            names=("f",),
            argument="place",
            default="file",
            kind="place",
            parse=options.classify_path,
        ),
        # Operands of -F are the files of the processes; others are logs.
        *options.name_options("F", has_value=False),
        *options.name_options("b", "O", "Q"),
        *(
            options.Option(names=(name,))
            for name in ("j", "H", "k", "S", "L", "y", "q", "g", "n", "P")
        ),
        *(
            options.Option(names=(name,), has_value=False)
            for name in ("c", "p", "x", "w", "W", "B", "m", "N", "K", "D", "G")
        ),
    )
)


class Iozone(base.Workload):
    """Concurrent processes that write and read a file each."""

    name = "iozone"
    title = "Disk: files of several processes with iozone"
    part = "disk"
    TOOL_OPTIONS = _OPTIONS
    QUICK = schemas.short(size_mib=128)
    ARGUMENTS = schemas.schema(
        processes=schemas.concurrency("processes, each with a file", 64),
        size_mib=schemas.integer(
            "Size of each file in MiB", 1, 1048576, default=512
        ),
        record_size=schemas.size("Size of a request", default="64k"),
        random=schemas.flag("Measure random reads and writes", default=False),
        flush=schemas.flag(
            "Include the time until all data are on the disk", default=True
        ),
        direct=schemas.flag("Bypass the page cache (O_DIRECT)", default=True),
        target=_target.argument("a file system on the first one"),
    )
    TOOLS = (
        tools.load_generator(
            "iozone",
            version_argument="",
            package="iozone3",
            packages={"dnf": "iozone", "zypper": "iozone"},
            advice={
                "apt": f"{_ADVICE}enable Debian's section non-free (Ubuntu: "
                "multiverse)",
                "dnf": f"{_ADVICE}build it from iozone.org's source",
                "zypper": f"{_ADVICE}build it from iozone.org's source",
            },
        ),
    )

    def check_arguments(self, arguments: base.Arguments) -> None:
        """Reject a request that is larger than the file.

        :raises ValueError: If the size of a request is too large.
        """
        size = arguments["record_size"]
        if schemas.size_bytes(size) > arguments["size_mib"] << 20:
            raise ValueError(
                f"record_size={size}: must be at most the file of "
                f"{arguments['size_mib']} MiB; raise size_mib"
            )

    def disk_space(self, arguments: base.Arguments) -> base.DiskSpace:
        """Return the size of all files, which iozone removes."""
        return base.DiskSpace(
            temporary=arguments["processes"] * (arguments["size_mib"] << 20),
            arguments=("size_mib", "processes"),
        )

    @staticmethod
    def targets(arguments: base.Arguments) -> tuple[base.Target, ...]:
        """Return the volume with the files of the processes."""
        size = int(arguments["processes"]) * (int(arguments["size_mib"]) << 20)
        return _target.list_volumes(arguments, size, "filesystem")

    def argument_findings(self, arguments: base.Arguments) -> base.Findings:
        """Return a finding if iozone uses the page cache, else nothing."""
        if arguments["direct"]:
            return ()
        operations = "reads" if arguments["flush"] else "reads and writes"
        detail = f"iozone {operations}, with direct: false"
        return (("page_cache_measured", detail),)

    def metrics(self, arguments: base.Arguments) -> tuple[sample.Metric, ...]:
        """Return the bandwidth metric definition of each test."""
        return tuple(
            sample.Metric(f"disk.iozone.{test}.bandwidth", "B/s", "higher")
            for test in _selected_tests(arguments)
        )

    def commands(
        self, arguments: base.Arguments, endpoints: base.Endpoints
    ) -> tuple[base.Command, ...]:
        """Return a tuple of the one command that runs all tests."""
        processes = arguments["processes"]
        size = processes * (arguments["size_mib"] << 20)
        size *= len(_selected_tests(arguments))
        line = (
            "iozone -l {processes} -u {processes} -s {size_mib}m -r {record}k "
            "-i 0 -i 1"
        )
        names = tuple(f"{number}.data" for number in range(1, processes + 1))
        argv = (
            *base.argv(line, arguments, record=_record_kib(arguments)),
            *(("-i", "2") if arguments["random"] else ()),
            *(("-e",) if arguments["flush"] else ()),
            *(("-I",) if arguments["direct"] else ()),
            "-F",
            *(_target.join(self.targets(arguments), name) for name in names),
        )
        command = _target.create_command("iozone", argv, size)
        # iozone removes them, unless it fails.
        left = () if self.targets(arguments) else names
        return (dataclasses.replace(command, temporary_files=left),)

    def parse(
        self, arguments: base.Arguments, result: base.CommandResult
    ) -> list[sample.Sample]:
        """Return the bandwidth samples, summed over all processes."""
        (command,) = self.commands(arguments, base.Endpoints())
        _check_settings(result.stdout, arguments, command.argv)
        rates_by_title = parse_rates(
            result.stdout,
            arguments["processes"],
            arguments["size_mib"] * 1024,
            _record_kib(arguments),
        )
        tests = _selected_tests(arguments)
        if sorted(rates_by_title) != sorted(tests.values()):
            raise _OUTPUT.error(
                f"ran {len(rates_by_title)} tests, which are not the "
                f"{len(tests)} requested tests"
            )
        rates = map(rates_by_title.__getitem__, tests.values())
        return outputs.create_samples(self.metrics(arguments), rates)


def _check_settings(
    text: str, arguments: base.Arguments, argv: tuple[str, ...]
) -> None:
    """Reject an output with another command line or other settings."""
    commands = _COMMAND.findall(text)
    expected = " ".join(argv[1:])
    if [command.split()[1:] for command in commands] != [expected.split()]:
        raise _OUTPUT.error(
            f"ran with {sanitize.line('; '.join(commands), 80)!r} instead of "
            f"{expected!r}"
        )
    for key, line in _LINES.items():
        if (line in text) is not arguments[key]:
            raise _OUTPUT.error(
                f"did not run with {key}: {arguments[key]}, because it "
                f"{'did not print' if arguments[key] else 'printed'} "
                f"{line.strip()!r}"
            )


def parse_rates(
    text: str, processes: int, size_kib: int, record_kib: int
) -> dict[str, float]:
    """Parse an output into bytes per second by iozone's test title.

    :raises base.WorkloadError: If the output has other arguments, or is not
        complete.
    """
    sizes = _SIZE.findall(text)
    if sizes != [(str(size_kib), str(record_kib))] or _END not in text:
        raise _OUTPUT.error(
            f"printed {sanitize.line(text[-400:], 80)!r} at its end, which is "
            f"not valid for files of {size_kib} KiB in records of "
            f"{record_kib} KiB"
        )
    rates_by_title = {}
    for count, title, rate in _TEST.findall(text):
        if int(count) != processes:
            raise _OUTPUT.error(f"has {count} {title} instead of {processes}")
        total = outputs.Reader(f"iozone: {title}").number(rate)
        rates_by_title[title] = total * 1024
    return rates_by_title


def _selected_tests(arguments: base.Arguments) -> dict[str, str]:
    """Return the titles in iozone's output by the names of the tests."""
    return {**_SEQUENTIAL, **(_RANDOM if arguments["random"] else {})}


def _record_kib(arguments: base.Arguments) -> int:
    """Return the size of a request in KiB."""
    return schemas.size_bytes(arguments["record_size"]) // 1024
