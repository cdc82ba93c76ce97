# SPDX-License-Identifier: Apache-2.0
"""The interface of workloads: arguments, commands and samples.

A workload is pure: the same object returns the same command line for bare
metal and for a guest, and converts raw output to samples.  It does not run
anything, and does not know where its commands run.
"""

import abc
import collections.abc
import dataclasses
import math
import typing as t

from rally_vmperf import errors
from rally_vmperf import sanitize
from rally_vmperf.measurement import command_result
from rally_vmperf.measurement.samples import curves
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import options
from rally_vmperf.workloads import output_bounds
from rally_vmperf.workloads import schemas
from rally_vmperf.workloads import tools as tools_

#: The result of a command, which workloads parse.
CommandResult = command_result.CommandResult

#: Arguments of a task, with or without their defaults.
Arguments = collections.abc.Mapping[str, t.Any]

#: Findings as pairs of their kinds and their details.
Findings = tuple[tuple[str, str], ...]
#: A kind of finding, its detail, and the names of the metrics.
FileFinding = tuple[str, str, tuple[str, ...]]

#: Components of a machine, by which workloads and metrics are grouped.
Component = t.Literal["cpu", "memory", "disk", "network", "application"]

#: Properties of a machine that affect the results of some workloads only.
Sensitivity = t.Literal[
    "microcode",
    "kernel",
    "mitigations",
    "governor",
    "turbo",
    "instructions",
    "huge_pages",
    "disks",
    "network_interfaces",
]
#: Properties that affect only workloads of some components.
_AFFECTED_PARTS: dict[Sensitivity, tuple[Component, ...]] = {
    "disks": ("disk", "application"),
    "network_interfaces": ("network", "application"),
}


class WorkloadError(errors.VMPerfError):
    """A workload has invalid arguments or an invalid output."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class File:
    """A file that is copied to every machine before it is prepared.

    It is also copied to the peer if a workload needs one.

    :param name: The name of the file in the directory of the workload.
    :param package: The Python package that contains the file; empty for a
        file of the operator, whose checksum must be equal on two machines.
    :param path: The path within the package, or an absolute local path.
    :param sha256: The expected checksum; empty if it is not known.
    """

    name: str
    package: str = ""
    path: str
    sha256: str = ""
    mode: int = 0o644


@dataclasses.dataclass(frozen=True, kw_only=True)
class DiskSpace:
    """The size of the files that a workload writes in its directory.

    Files that the caller copies there (see ``Workload.files``) are not
    included.

    :param kept: The bytes of files that remain until the end of the run.
    :param temporary: The most bytes of other files that exist at one time,
        which are removed before the next command.
    :param on_peer: The bytes of files on the peer.
    :param arguments: The names of the arguments that determine the size.
    """

    kept: int = 0
    temporary: int = 0
    on_peer: int = 0
    arguments: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True)
class Target:
    """A volume of the machine that a workload uses in place of its root disk.

    The machine provides it in the directory of the workload: the raw device
    as ``volume-1``, or an empty directory of a file system on it as
    ``volume-1.fs``; both are symbolic links.

    :param number: The number of the volume, from 1.
    :param form: The form in which the workload uses it.
    :param size: The bytes that the workload needs on it.
    """

    number: int = 1
    form: t.Literal["device", "filesystem"]
    size: int

    @property
    def path(self) -> str:
        """The path in the directory of the workload."""
        suffix = ".fs" if self.form == "filesystem" else ""
        return f"volume-{self.number}{suffix}"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Ports:
    """The number of ports that a workload needs at its endpoints.

    :param own: The number of ports that each machine reserves for itself.
    :param shared: The number of ports that all machines share.
    """

    own: int = 0
    shared: int = 0


@dataclasses.dataclass(frozen=True, kw_only=True)
class Server:
    """The server of a command, on the peer or on the partner guest.

    On the peer, it runs as an unprivileged user in a directory of its own,
    while a command needs it.

    :param port: The port on which it listens: one of ``Endpoints.own_ports``
        or ``Endpoints.shared_ports``.
    :param lifetime: The scope of the server: one command, or all commands of
        a repetition with the same port.
    :param clients: The number of clients: one machine with a port of its
        own, or many machines with the same port.
    :param files: The texts that are written into the directory of the
        workload before it starts, by file name, such as a configuration with
        the port.
    :param prepared_files: The names of other files in the directory of the
        workload that it reads.
    :param as_root: Whether it requires root, and drops its rights itself; it
        then runs in the directory of the workload.
    """

    on: t.Literal["peer", "partner"]
    argv: tuple[str, ...]
    port: int
    transport: t.Literal["tcp", "udp"] = "tcp"
    lifetime: t.Literal["command", "repetition"] = "command"
    clients: t.Literal["one", "many"] = "one"
    files: collections.abc.Mapping[str, str] = dataclasses.field(
        default_factory=dict
    )
    prepared_files: tuple[str, ...] = ()
    as_root: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class Command:
    """A program with its arguments, run in the directory of the workload.

    :param timeout: The timeout in seconds.
    :param seconds: The estimated duration in seconds on a current machine.
    :param output_limit: The maximum size of standard output in bytes; a
        longer output is an error and is not truncated.
    :param bound: The limit that ends the command: its duration, or the size
        of its work.  A command with a size may run again in the same
        directory and be interrupted, so that no other command may read the
        files that it writes.
    :param temporary_files: The names of files and directories in the
        directory of the workload that it may leave and that no other command
        reads.  They are removed before the next command, which is not
        measured, also after a failure.  Files on a volume are not possible.
    """

    name: str
    argv: tuple[str, ...]
    timeout: float
    seconds: float = 10
    server: Server | None = None
    output_limit: int = 1 << 20
    bound: t.Literal["time", "size"] = "time"
    temporary_files: tuple[str, ...] = ()


def check_result(
    result: CommandResult,
    bounds: output_bounds.OutputBounds = output_bounds.TEXT,
) -> CommandResult:
    """Return the result itself; reject failure and long output.

    :raises WorkloadError: If the command failed or printed too much.
    """
    check_exit_status(result)
    if excess := bounds.describe_excess(result):
        raise WorkloadError(excess)
    return result


def check_exit_status(result: CommandResult) -> None:
    """Reject the result of a failed command by raising WorkloadError."""
    if result.exit_status != 0:
        message = sanitize.line(result.stderr or result.stdout)
        raise WorkloadError(
            f"command {result.name} ended with exit status "
            f"{result.exit_status} and printed {message!r}; to see the "
            "cause, run it manually"
        )


#: The maximum relative difference of a requested rate and the nearest rate
#: that the tool accepts.
_MAX_ROUNDING = 0.2

#: The results of commands by the names of the commands.
Results = collections.abc.Mapping[str, CommandResult]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Work:
    """The amount of work of a command, from its start to its end.

    :param unit: The unit: ``B`` or ``ops``.
    """

    amount: float
    unit: t.Literal["B", "ops"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Offer:
    """The rate at which a command is requested to work.

    :param command: The name of the command.
    :param metric: The name, without a label, of the rate metric that shows
        the achieved rate: the total of a machine.
    :param rate: The offered rate in the unit of the metric; None if the
        command works at full speed.
    :param late: The names of metrics, with those of percentiles, of times
        that begin when a request is issued and not when it is due; they
        are too short if the rate is not achieved.
    :param is_random: Whether requests arrive at random (Poisson), so that a
        count of n requests has the standard deviation sqrt(n).
    """

    command: str
    metric: str
    rate: float | None = None
    late: tuple[str, ...] = ()
    is_random: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class Endpoints:
    """Addresses and ports of the servers, as seen by the running machine.

    :param listen_address: The address to which servers on the peer are bound;
        empty for all addresses of the peer.
    :param own_ports: The ports that are reserved for this machine, as many
        as ``Workload.ports`` requests, so that several machines can use one
        peer at the same time.
    :param shared_ports: The ports that all machines share, as many as
        ``Workload.ports`` requests.
    """

    peer: str = ""
    partner: str = ""
    listen_address: str = ""
    own_ports: collections.abc.Sequence[int] = ()
    shared_ports: collections.abc.Sequence[int] = ()


def argv(
    template: str, arguments: Arguments, **overrides: object
) -> tuple[str, ...]:
    """Return the words of a template with its placeholders replaced.

    :param template: The command line with placeholders, such as
        ``dd bs={block_size}``; substituted values are not split.
    :param arguments: The arguments of the workload.
    :param overrides: The values that extend or replace the arguments.
    """
    substitutions = {**arguments, **overrides}
    return tuple(word.format_map(substitutions) for word in template.split())


class Workload(abc.ABC):
    """Base class of workloads: a tool with arguments.

    All methods except ``complete`` require arguments that ``complete``
    returned, without the word ``vcpus`` for ``commands`` and ``parse``.
    """

    name: t.ClassVar[str]
    title: t.ClassVar[str]
    #: The measured component, with which the names of its metrics begin.
    part: t.ClassVar[Component]
    #: JSON Schema of the arguments; closed; every property has a description
    #: and a default.
    ARGUMENTS: t.ClassVar[dict[str, t.Any]]
    #: The arguments of a short measurement, each a number.
    QUICK: t.ClassVar[dict[str, int]] = {}
    #: The metrics, unless they depend on the arguments (see ``metrics``).
    METRICS: t.ClassVar[tuple[sample.Metric, ...]]
    TOOLS: t.ClassVar[tuple[tools_.Tool, ...]]
    #: The properties that must be equal on two machines for comparable
    #: results; by default all of them.
    SENSITIVE_TO: t.ClassVar[frozenset[Sensitivity]] = frozenset(
        t.get_args(Sensitivity)
    )
    #: Whether it reports a rate over time.
    has_time_series: t.ClassVar[bool] = False
    OUTPUT_BOUNDS: t.ClassVar[output_bounds.OutputBounds] = output_bounds.TEXT
    #: The options that outputs of its tool state.
    TOOL_OPTIONS: t.ClassVar[options.OptionTable] = options.OptionTable()

    def is_sensitive_to(self, aspect: Sensitivity) -> bool:
        """Return whether a difference between machines affects the results.

        :param aspect: The property in which the machines differ.
        """
        is_affected = self.part in _AFFECTED_PARTS.get(aspect, (self.part,))
        return is_affected and aspect in self.SENSITIVE_TO

    def complete(self, arguments: Arguments) -> dict[str, t.Any]:
        """Return the arguments with all defaults as a dict.

        :raises WorkloadError: If an argument is not valid.
        """
        try:
            completed = schemas.complete(self.ARGUMENTS, arguments)
            self.check_arguments(completed)
        except ValueError as error:
            raise WorkloadError(f"workload {self.name}: {error}") from None
        return completed

    def check_arguments(self, arguments: Arguments) -> None:  # noqa: B027
        """Reject arguments that are not valid together.

        :raises ValueError: If arguments contradict one another.
        """

    def tools(self, arguments: Arguments) -> tuple[tools_.Tool, ...]:
        """Return a tuple of the Tools that these arguments require."""
        return self.TOOLS

    def ports(self, arguments: Arguments) -> Ports:
        """Return the numbers of ports at its endpoints as Ports."""
        return Ports()

    def targets(self, arguments: Arguments) -> tuple[Target, ...]:
        """Return the volumes that it uses; empty for the root disk."""
        return ()

    def needs(self, arguments: Arguments) -> frozenset[str]:
        """Return the names of required endpoints: ``peer``, ``partner``.

        ``peer_root`` requires a login as root on the peer.
        """
        return frozenset()

    def for_endpoints(
        self, arguments: Arguments, endpoints: Endpoints
    ) -> dict[str, t.Any]:
        """Return the arguments, adapted to a machine's endpoints, as a dict.

        In a pair of guests only one guest has a partner; the other guest
        skips the work that needs one.
        """
        return dict(arguments)

    def files(self, arguments: Arguments) -> tuple[File, ...]:
        """Return the Files that ``prepare`` needs in its directory."""
        return ()

    def check_files(  # noqa: B027 - most have no files, or accept any
        self,
        arguments: Arguments,
        contents: collections.abc.Mapping[str, bytes],
    ) -> None:
        """Reject invalid contents of its files before the run.

        :param contents: The contents by the names in ``files``.
        :raises WorkloadError: If the workload cannot or must not run with
            these files.
        """

    def disk_space(self, arguments: Arguments) -> DiskSpace:
        """Return the size of the files that its commands write.

        If it uses volumes, ``targets`` has their size.
        Files of which only the machine knows the size, such as those of a
        program of the operator, are not included.
        """
        return DiskSpace()

    def prepare(self, arguments: Arguments) -> tuple[Command, ...]:
        """Return the commands that prepare a machine before any repetition."""
        return ()

    def prepare_peer(self, arguments: Arguments) -> tuple[Command, ...]:
        """Return the commands that prepare the peer before any repetition."""
        return ()

    def facts(self, arguments: Arguments, results: Results) -> dict[str, str]:
        """Return facts that two machines must share, as texts by name.

        :param results: The results of the commands in ``prepare``.
        :raises WorkloadError: If an output is invalid.
        """
        return {}

    def progress(
        self, arguments: Arguments, result: CommandResult
    ) -> curves.ProgressCurve | None:
        """Return a command's work over time as a curve, or None.

        If several machines run a command concurrently, its metrics are
        restricted to the time in which all of them were working.

        :param result: The result of a command that ``parse`` accepted;
            times are on the same clock.
        :raises WorkloadError: If the output is invalid.
        """
        return None

    def work_done(
        self, arguments: Arguments, result: CommandResult
    ) -> Work | None:
        """Return the amount of a command's work, or None if not known.

        CPU seconds are then reported per gigabyte or thousand operations.

        :param result: The result of any command, even if it failed.
        :raises WorkloadError: If the output is invalid.
        """
        return None

    def argument_findings(self, arguments: Arguments) -> Findings:
        """Return the findings that the arguments cause, as pairs of texts."""
        return ()

    def file_findings(
        self,
        arguments: Arguments,
        contents: collections.abc.Mapping[str, bytes],
    ) -> tuple[FileFinding, ...]:
        """Return the findings that the files of a user cause.

        :param contents: The content of each file of the workload by name.
        """
        return ()

    def offers(self, arguments: Arguments) -> tuple[Offer, ...]:
        """Return the Offers of the commands; none if it has no such rate."""
        return ()

    def check_drivable(self, arguments: Arguments) -> None:
        """Reject arguments with which no rate can be offered.

        :raises WorkloadError: If ``at_rates`` is not possible with them.
        """
        if not self.offers(arguments):
            raise WorkloadError(
                f"workload {self.name}: cannot be driven at a rate"
            )

    def at_rates(
        self,
        arguments: Arguments,
        rates: collections.abc.Mapping[str, float],
    ) -> dict[str, t.Any]:
        """Return the arguments with which commands offer rates, as a dict.

        ``offers`` of these arguments have the rates, rounded to those that
        the tool accepts.  Rates that differ by more than 20 % are rejected.

        :param rates: The rate of each command, by its name, in the unit of
            the metric in its Offer.
        :raises WorkloadError: If these arguments cannot offer the rates.
        """
        self.check_drivable(arguments)
        names = {offer.command for offer in self.offers(arguments)}
        if rates.keys() != names:
            raise WorkloadError(
                f"workload {self.name}: rates of "
                f"{', '.join(sorted(rates)) or 'no command'}: must be of "
                f"{', '.join(sorted(names))}"
            )
        for command, rate in rates.items():
            if not 0 < rate < math.inf:
                raise WorkloadError(
                    f"workload {self.name}: rate of {command}={rate:g}: must "
                    "be > 0"
                )
        driven = self.complete({**arguments, **self._drive(arguments, rates)})
        for offer in self.offers(driven):
            requested = rates[offer.command]
            possible = offer.rate or math.inf
            if not math.isclose(possible, requested, rel_tol=_MAX_ROUNDING):
                raise WorkloadError(
                    f"workload {self.name}: rate of {offer.command}="
                    f"{requested:g}: the nearest possible rate with these "
                    f"arguments is {possible:g}"
                )
        return driven

    def _drive(
        self,
        arguments: Arguments,
        rates: collections.abc.Mapping[str, float],
    ) -> dict[str, t.Any]:
        """Return the arguments that change if commands offer these rates."""
        raise NotImplementedError

    def metrics(self, arguments: Arguments) -> tuple[sample.Metric, ...]:
        """Return the definitions of the metrics that a run measures.

        A complete run has all metrics that are not optional.
        """
        return self.METRICS

    @abc.abstractmethod
    def commands(
        self, arguments: Arguments, endpoints: Endpoints
    ) -> tuple[Command, ...]:
        """Return the measured Commands in the order of their execution."""

    def parse_all(
        self, arguments: Arguments, results: Results
    ) -> list[sample.Reading]:
        """Return the samples in the outputs of several commands as a list.

        Commands that failed have no result, and therefore no samples.

        :raises WorkloadError: If an output is invalid.
        """
        readings: list[sample.Reading] = []
        for result in results.values():
            readings += self.parse(
                arguments, check_result(result, self.OUTPUT_BOUNDS)
            )
        return readings

    @abc.abstractmethod
    def parse(
        self, arguments: Arguments, result: CommandResult
    ) -> collections.abc.Sequence[sample.Reading]:
        """Return the samples in the output of one command as a sequence.

        Samples are values, distributions and series.  The percentiles of
        distributions are added by the caller.

        :param result: The result of a command that succeeded.
        :raises WorkloadError: If the output is invalid.
        """
