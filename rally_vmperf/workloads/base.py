"""What every workload declares: its arguments, its commands, its samples.

A workload is pure: the same object gives the same command line to bare metal
and to a guest, and turns raw output into samples.  It neither runs anything
nor knows where its commands will run.
"""

import abc
import collections.abc
import dataclasses
import typing as t

from rally_vmperf import errors
from rally_vmperf import sanitize
from rally_vmperf.measurement.samples import course as courses
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import arguments as rules
from rally_vmperf.workloads import tools as tools_

#: Arguments as a task gives them, or with their defaults filled in.
Arguments = collections.abc.Mapping[str, t.Any]

#: Parts of a machine, by which workloads and metrics are grouped.
Part = t.Literal["cpu", "memory", "disk", "network", "application"]

#: What may differ between two machines and matter to some workloads only.
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
#: That of programs that do little but read and write memory.
MEMORY: frozenset[Sensitivity] = frozenset(
    {"microcode", "kernel", "governor", "turbo", "instructions", "huge_pages"}
)
#: Of these only workloads of some parts see anything, whatever they say.
_SEEN_BY: dict[Sensitivity, tuple[Part, ...]] = {
    "disks": ("disk", "application"),
    "network_interfaces": ("network", "application"),
}


#: Characters of an output beyond which it is not looked at.
LONGEST = 1 << 20


class WorkloadError(errors.VMPerfError):
    """A workload cannot be used as asked, or its output cannot be read."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class File:
    """A file that is brought to every machine before it is prepared.

    The peer gets it too, where a workload needs one.

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
class Ports:
    """How many ports a workload needs at its other ends.

    :param own: those that each machine has for itself
    :param shared: those that all machines use
    """

    own: int = 0
    shared: int = 0


@dataclasses.dataclass(frozen=True, kw_only=True)
class Server:
    """The other end of a command: on the peer, or on the partner guest.

    It runs in the workload's folder there, and is stopped when no command
    needs it any more.

    :param port: where it listens: one of ``Ends.own_ports`` or
        ``Ends.shared_ports``
    :param lifetime: whether it serves one command, or all commands of a
        repetition that name the same port
    :param clients: one machine, at a port of its own, or many at the same
    :param files: texts that are written into its folder before it starts, by
        their names; a configuration that has to name the port, for example
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
    """What a command printed, and the times that its machine measured.

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

    def checked(self, longest: int = LONGEST) -> t.Self:
        """Return the outcome itself, if its output can be read.

        :param longest: characters beyond which its output is not looked at
        :raises WorkloadError: when the command failed or printed too much
        """
        if self.exit_status != 0:
            said = sanitize.line(self.stderr or self.stdout)
            raise WorkloadError(
                f"command {self.name} ended with exit status "
                f"{self.exit_status} and said {said!r}; run it by hand to see "
                "why"
            )
        if len(self.stdout) > longest:
            raise WorkloadError(
                f"command {self.name} printed {len(self.stdout)} characters; "
                f"more than {longest} are not read"
            )
        return self


#: By the names of their commands.
Outcomes = collections.abc.Mapping[str, Outcome]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Work:
    """How much a command did, from its start to its end.

    :param unit: ``B`` or ``ops``
    """

    amount: float
    unit: t.Literal["B", "ops"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Ends:
    """Addresses and ports of the other ends, as the running machine sees them.

    :param own_ports: that this machine has for itself, as many as the
        workload's ``ports`` asks for, so that several machines can use one
        peer at the same time
    :param shared_ports: that all machines use, likewise
    """

    peer: str = ""
    partner: str = ""
    own_ports: collections.abc.Sequence[int] = ()
    shared_ports: collections.abc.Sequence[int] = ()


def argv(line: str, arguments: Arguments, **more: object) -> tuple[str, ...]:
    """Return a command line, word by word, with values in their places.

    :param line: such as ``dd bs={block_size}``; no value is split
    :param arguments: of the workload
    :param more: values beside them, or in their place
    """
    values = {**arguments, **more}
    return tuple(word.format_map(values) for word in line.split())


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

    #: Characters of an output beyond which it is an error.
    LONGEST: t.ClassVar[int] = LONGEST

    def sensitive_to(self, what: Sensitivity) -> bool:
        """Return whether a difference between machines matters to it."""
        seen = self.part in _SEEN_BY.get(what, (self.part,))
        return seen and what in self.SENSITIVE_TO

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

    def ports(self, arguments: Arguments) -> Ports:
        """Return how many ports it needs at its other ends."""
        return Ports()

    def needs(self, arguments: Arguments) -> frozenset[str]:
        """Return which other ends are needed: ``peer``, ``partner``.

        ``peer_root`` requires a login as root on the peer.
        """
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

    def check_files(  # noqa: B027 - most bring none, or take any
        self,
        arguments: Arguments,
        contents: collections.abc.Mapping[str, bytes],
    ) -> None:
        """Check what is in its files, before anything else is done.

        :param contents: by the names of ``files``
        :raises WorkloadError: for what it does not run with, or should not
        """

    def prepare(self, arguments: Arguments) -> tuple[Command, ...]:
        """Return the commands that prepare a machine before any repetition."""
        return ()

    def prepare_peer(self, arguments: Arguments) -> tuple[Command, ...]:
        """Return the commands that prepare the peer before any repetition."""
        return ()

    def facts(
        self, arguments: Arguments, outcomes: Outcomes
    ) -> dict[str, str]:
        """Return the facts from preparing on which two machines must agree.

        :param outcomes: those of ``prepare``, by the names of its commands
        :raises WorkloadError: when an output is not what the tool prints
        """
        return {}

    def course(
        self, arguments: Arguments, outcome: Outcome
    ) -> courses.Course | None:
        """Return a command's progress over time, if it reports that.

        Where several machines run it at once, its metrics are cut to the
        time in which all were at work.

        :param outcome: of a command that ``parse`` could read; moments are
            by the same clock
        :raises WorkloadError: when an output is not what the tool prints
        """
        return None

    def work(self, arguments: Arguments, outcome: Outcome) -> Work | None:
        """Return how much work a command did, if its output says so.

        Its CPU seconds are then shown per gigabyte or thousand operations.

        :param outcome: of any command, and whatever became of it
        :raises WorkloadError: when an output is not what the tool prints
        """
        return None

    def cautions(self, arguments: Arguments) -> tuple[tuple[str, str], ...]:
        """Return the findings that follow from the arguments alone.

        Each is a kind of finding and its detail.
        """
        return ()

    @abc.abstractmethod
    def metrics(self, arguments: Arguments) -> tuple[sample.Metric, ...]:
        """Return every metric that a run measures.

        A complete run has all of them but optional ones.
        """

    @abc.abstractmethod
    def commands(
        self, arguments: Arguments, ends: Ends
    ) -> tuple[Command, ...]:
        """Return the measured commands, in their order."""

    def parse(
        self, arguments: Arguments, outcomes: Outcomes
    ) -> list[sample.Reading]:
        """Return the samples in the outputs of commands.

        Outcomes may be fewer than the commands: those of commands that
        failed are absent, and so are their samples.

        :raises WorkloadError: when an output is not what the tool prints
        """
        found: list[sample.Reading] = []
        for outcome in outcomes.values():
            found += self.read(arguments, outcome.checked(self.LONGEST))
        return found

    @abc.abstractmethod
    def read(
        self, arguments: Arguments, outcome: Outcome
    ) -> collections.abc.Sequence[sample.Reading]:
        """Return the samples in the output of one of the commands.

        These are values, distributions and series. Whoever runs the commands
        adds the percentiles of distributions.

        :param outcome: of a command that has not failed
        :raises WorkloadError: when it is not what the tool prints
        """
