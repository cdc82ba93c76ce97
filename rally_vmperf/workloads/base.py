"""What every workload says: its arguments, its commands, its samples.

A workload is pure: the same object gives the same command line to bare metal
and to a guest, and turns raw output into samples.  It neither runs anything
nor knows where its commands will run.
"""

import abc
import collections.abc
import dataclasses
import typing as t

from rally_vmperf.measurement import course as courses
from rally_vmperf.measurement import sample
from rally_vmperf.workloads import arguments as rules
from rally_vmperf.workloads import tools as tools_

#: Arguments as a task gives them, or with their defaults filled in.
Arguments = collections.abc.Mapping[str, t.Any]

#: What may differ between two machines and matter to some workloads only.
Sensitivity = t.Literal["microcode", "kernel", "mitigations", "governor"]

#: Parts of a machine, by which workloads and metrics are grouped.
Part = t.Literal["cpu", "memory", "disk", "network", "application"]


class WorkloadError(Exception):
    """A workload cannot be used as asked, or its output cannot be read."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class File:
    """A file that is brought to every machine before it is prepared.

    :param name: what it is called in the workload's folder
    :param package: the Python package that has it; empty for a file of the
        operator's, whose checksum two machines must agree on
    :param path: where it is in that package, or its absolute path on the
        machine that runs this program
    :param sha256: what its checksum has to be, if that is known
    """

    name: str
    package: str = ""
    path: str
    sha256: str = ""
    mode: int = 0o644


@dataclasses.dataclass(frozen=True, kw_only=True)
class Server:
    """The other end of a command: on the peer, or on the partner guest.

    :param argv: runs until its client is done, then ends by itself; one for
        the whole repetition is ended
    :param lifetime: whether every command has a server of its own, or all
        commands of a repetition with the same port have one
    :param clients: how many machines use it, each with ports of its own, or
        all the same
    """

    on: t.Literal["peer", "partner"]
    argv: tuple[str, ...]
    port: int
    lifetime: t.Literal["command", "repetition"] = "command"
    clients: t.Literal["one", "many"] = "one"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Command:
    """A program with its arguments, run in the workload's own folder.

    :param timeout: seconds after which it has certainly failed
    :param seconds: about how many it takes, on a machine of today
    :param output_limit: bytes of standard output that are kept; more than
        that is an error, not a shorter result
    :param bound: what ends it: its duration, or the size of its work, which
        may then be done again in the same folder, and be ended halfway: what
        another command reads has to be its own
    """

    name: str
    argv: tuple[str, ...]
    timeout: float
    seconds: float = 10
    server: Server | None = None
    output_limit: int = 1 << 20
    bound: t.Literal["time", "size"] = "time"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a command left: its output and the machine's own account of it.

    :param seconds: wall time, measured on the machine that ran it
    :param started: start on that machine's clock, seconds since the epoch
    :param user: CPU seconds in user mode; None where nobody measured them
    :param system: CPU seconds in the kernel, likewise
    """

    name: str
    exit_status: int
    seconds: float
    started: float
    ended: float
    stdout: str
    stderr: str
    user: float | None = None
    system: float | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Work:
    """How much a command did, from its start to its end.

    :param unit: ``B`` or ``ops``
    """

    amount: float
    unit: t.Literal["B", "ops"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Ends:
    """Addresses and port of the other ends, as the running machine sees them.

    :param port: the first of the ports that this machine has for its own, as
        many as ``Workload.ports`` asks for, so that several machines can use
        one peer at the same time
    """

    peer: str = ""
    partner: str = ""
    port: int = 5201


class Workload(abc.ABC):
    """A tool with arguments; subclasses are named in the registry.

    All methods but ``complete`` want arguments that ``complete`` returned.
    """

    name: t.ClassVar[str]
    title: t.ClassVar[str]
    #: What it measures; its metrics' names begin with it.
    part: t.ClassVar[Part]
    #: JSON Schema of the arguments; closed; every property has a description
    #: and a default.
    ARGUMENTS: t.ClassVar[dict[str, t.Any]]
    TOOLS: t.ClassVar[tuple[tools_.Tool, ...]]
    #: What two machines must agree on for its figures to be comparable;
    #: unless said, everything.
    SENSITIVE_TO: t.ClassVar[frozenset[Sensitivity]] = frozenset(
        t.get_args(Sensitivity)
    )

    def complete(self, arguments: Arguments) -> dict[str, t.Any]:
        """Return the arguments with every default filled in.

        :raises WorkloadError: naming the key, the value and what is allowed
        """
        try:
            return rules.complete(self.ARGUMENTS, arguments)
        except ValueError as error:
            raise WorkloadError(f"workload {self.name}: {error}") from None

    def tools(self, arguments: Arguments) -> tuple[tools_.Tool, ...]:
        """Return the tools that are needed with these arguments."""
        return self.TOOLS

    def ports(self, arguments: Arguments) -> int:
        """Return how many ports each machine needs at its other ends."""
        return 0

    def needs(self, arguments: Arguments) -> frozenset[str]:
        """Return which other ends are needed: ``peer``, ``partner``."""
        return frozenset()

    def narrowed(self, arguments: Arguments, ends: Ends) -> dict[str, t.Any]:
        """Return the arguments of what a machine with these ends does.

        In a pair of guests only one has a partner; the other runs all but
        the work that needs one.
        """
        return dict(arguments)

    def files(self, arguments: Arguments) -> tuple[File, ...]:
        """Return what must be in its folder before ``prepare``."""
        return ()

    def prepare(self, arguments: Arguments) -> tuple[Command, ...]:
        """Return what is run once per machine, before any repetition."""
        return ()

    def facts(
        self,
        arguments: Arguments,
        outcomes: collections.abc.Mapping[str, Outcome],
    ) -> dict[str, str]:
        """Return what preparing told that two machines must agree on.

        :param outcomes: those of ``prepare``, by the names of its commands
        :raises WorkloadError: when an output is not what the tool prints
        """
        return {}

    def course(
        self, arguments: Arguments, outcome: Outcome
    ) -> courses.Course | None:
        """Return how much of its work a command had done when, if it tells.

        Where several machines run it at once, its metrics are cut to the
        time in which all were at work.

        :param outcome: of a command that ``parse`` could read; moments are
            by the same clock
        :raises WorkloadError: when an output is not what the tool prints
        """
        return None

    def work(self, arguments: Arguments, outcome: Outcome) -> Work | None:
        """Return how much a command did, if its output tells.

        Its CPU seconds are then shown per gigabyte or thousand operations.

        :param outcome: of any command, and whatever became of it
        :raises WorkloadError: when an output is not what the tool prints
        """
        return None

    def cautions(self, arguments: Arguments) -> tuple[tuple[str, str], ...]:
        """Return findings that the arguments alone give cause for.

        Each is a kind of finding and what was seen.
        """
        return ()

    @abc.abstractmethod
    def metrics(self, arguments: Arguments) -> tuple[sample.Metric, ...]:
        """Return every metric that a complete run yields."""

    @abc.abstractmethod
    def commands(
        self, arguments: Arguments, ends: Ends
    ) -> tuple[Command, ...]:
        """Return the measured commands, in their order."""

    @abc.abstractmethod
    def parse(
        self,
        arguments: Arguments,
        outcomes: collections.abc.Mapping[str, Outcome],
    ) -> list[sample.Sample]:
        """Return the samples in the outputs of the commands, by name.

        Outcomes may be fewer than the commands: those of commands that
        failed are absent, and so are their samples.

        :raises WorkloadError: when an output is not what the tool prints
        """
