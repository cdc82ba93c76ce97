"""Processor workload: openssl speed."""

import collections.abc
import math
import re

from rally_vmperf.measurement import sample
from rally_vmperf.workloads import arguments as rules
from rally_vmperf.workloads import base
from rally_vmperf.workloads import limits
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import tools

ALGORITHMS = (
    *("aes-128-gcm", "aes-256-gcm", "aes-256-cbc", "chacha20-poly1305"),
    *("sha256", "sha512"),
)

RATE = sample.Metric(name="cpu.openssl.rate", unit="B/s", better="higher")

#: What one process says: the size of its blocks, and its bytes per second.
_SIZE = re.compile(r"^Got: \+H:([0-9]{1,20}) from ([0-9]{1,9})$", re.M)
_RATE = re.compile(
    r"^Got: \+F:[0-9]{1,9}:(\S{1,40}):(\S{1,40}) from ([0-9]{1,9})$", re.M
)
#: The last line: the sum in 1000 B/s, which until 1.1.1 is that of "evp".
_SUM = re.compile(r"(\S{1,40}) +(\S{1,40})k")

_OLDEST = tools.AtLeast(
    version="1.1.1",
    why="its speed cannot be told a time or a size",
    remedy="install one of a newer release of the distribution",
)


class Cryptography(base.Workload):
    """Encrypt or digest one block over and over, for a fixed time."""

    name = "openssl"
    title = "Processor: encryption and digests with openssl speed"
    part = "cpu"
    ARGUMENTS = rules.schema(
        algorithm=rules.choice(
            f"Cipher or digest: {', '.join(ALGORITHMS)}.",
            ALGORITHMS,
            default="aes-256-gcm",
        ),
        threads=rules.integer(
            "Processes that work at the same time", 1, 1024, default=1
        ),
        time=rules.integer("Seconds of a run", 1, 3600, default=10),
        block_size=rules.integer(
            "Bytes of a block", 16, 1048576, default=16384
        ),
    )
    TOOLS = (
        tools.Tool(
            command="openssl",
            package="openssl",
            version=("openssl", "version"),
            at_least=_OLDEST,
        ),
    )
    SENSITIVE_TO = frozenset({"microcode", "governor"})

    def metrics(self, arguments: base.Arguments) -> tuple[sample.Metric, ...]:
        """Return the rate of all processes."""
        return (RATE,)

    def commands(
        self, arguments: base.Arguments, ends: base.Ends
    ) -> tuple[base.Command, ...]:
        """Return the one run, timed by the clock.

        Without ``-elapsed`` openssl counts the processor time that it is
        given, and a guest that gets half of it would seem as fast.
        """
        argv = (
            "openssl",
            "speed",
            "-elapsed",
            "-multi",
            f"{arguments['threads']}",
            "-seconds",
            f"{arguments['time']}",
            "-bytes",
            f"{arguments['block_size']}",
            "-evp",
            arguments["algorithm"],
        )
        return (
            base.Command(
                name="openssl",
                argv=argv,
                timeout=2 * arguments["time"] + 60,
                seconds=arguments["time"],
            ),
        )

    def parse(
        self,
        arguments: base.Arguments,
        outcomes: collections.abc.Mapping[str, base.Outcome],
    ) -> list[sample.Sample]:
        """Return the sum of what the processes tell."""
        outcome = outputs.taken(outcomes, "openssl")
        if outcome is None:
            return []
        value = rate(
            outcome.stdout,
            arguments["algorithm"],
            arguments["threads"],
            arguments["block_size"],
        )
        return [limits.measured(RATE, value)]


def rate(text: str, algorithm: str, threads: int, block_size: int) -> float:
    """Return the bytes per second of all processes.

    :raises base.WorkloadError: when one of them is missing or did something
        else, or their sum is not the last line
    """
    processes = {str(number) for number in range(threads)}
    sizes = _SIZE.findall(text)
    if sorted(number for _, number in sizes) != sorted(processes):
        raise _error(f"told the block size {len(sizes)} times", threads)
    for size, number in sizes:
        if int(size) != block_size:
            raise _error(f"took blocks of {size} B in process {number}")
    told = _RATE.findall(text)
    if sorted(number for *_, number in told) != sorted(processes):
        raise _error(f"told {len(told)} rates", threads)
    for name, _, number in told:
        if name.lower() != algorithm:
            raise _error(f"ran {outputs.printable(name)} in process {number}")
    value = math.fsum(
        outputs.number(word, f"openssl: rate of process {number}")
        for _, word, number in told
    )
    lines = text.rstrip().rsplit("\n", 1)
    last = _SUM.fullmatch(lines[-1])
    if last is None or last[1].lower() not in (algorithm, "evp"):
        raise _error(f"ended with {outputs.printable(lines[-1], 80)!r}")
    printed = outputs.number(last[2], "openssl: sum") * 1000
    if not math.isclose(value, printed, rel_tol=1e-4, abs_tol=10):
        raise _error(
            f"has processes of {value:.0f} B/s, but a sum of {printed:.0f} B/s"
        )
    return value


def _error(what: str, threads: int = 0) -> base.WorkloadError:
    wanted = f" instead of once for each of {threads} processes"
    return base.WorkloadError(
        f"openssl {what}{wanted if threads else ''}; look at the raw output"
    )
