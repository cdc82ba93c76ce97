"""Processor workload: openssl speed."""

import math
import re

from rally_vmperf import sanitize
from rally_vmperf.measurement.samples import sample
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
    r"^Got: \+F:[0-9]{1,9}:(\S{1,40}):([0-9]{1,20}\.[0-9]{2}) from "
    r"([0-9]{1,9})$",
    re.M,
)
#: What each process says on standard error when it begins, and when it ends:
#: name, seconds and bytes of a block; blocks and seconds.
_BEGUN = re.compile(r"^\+DT:([^:\s]{1,40}):([0-9]{1,6}):([0-9]{1,9})$", re.M)
_ENDED = re.compile(
    r"^\+R:([0-9]{1,18}):[^:\s]{1,40}:([0-9]{1,6}\.[0-9]{1,9})$", re.M
)
#: The last line: the sum in 1000 B/s, which until 1.1.1 is that of "evp".
_SUM = re.compile(r"(\S{1,40}) +([0-9]{1,20}\.[0-9]{2})k")

_OLDEST = tools.AtLeast(
    version="1.1.1",
    why="its speed takes neither a time nor a size",
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
    TOOLS = (tools.of("openssl", "version", at_least=_OLDEST),)
    SENSITIVE_TO = frozenset(
        {"microcode", "governor", "turbo", "instructions"}
    )

    def metrics(self, arguments: base.Arguments) -> tuple[sample.Metric, ...]:
        """Return the rate of all processes."""
        return (RATE,)

    def commands(
        self, arguments: base.Arguments, ends: base.Ends
    ) -> tuple[base.Command, ...]:
        """Return the one run, timed by the clock.

        Without ``-elapsed`` openssl counts its processor time, and a guest
        that gets half of a processor would seem as fast.
        """
        argv = base.argv(
            "openssl speed -elapsed -multi {threads} -seconds {time} "
            "-bytes {block_size} -evp {algorithm}",
            arguments,
        )
        return (
            base.Command(
                name="openssl",
                argv=argv,
                timeout=2 * arguments["time"] + 60,
                seconds=arguments["time"],
            ),
        )

    def read(
        self, arguments: base.Arguments, outcome: base.Outcome
    ) -> list[sample.Sample]:
        """Return the sum of the rates that the processes print."""
        value = rate(
            outcome.stdout,
            arguments["algorithm"],
            arguments["threads"],
            arguments["block_size"],
        )
        _check_processes(outcome, arguments)
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
            raise _error(f"ran {sanitize.line(name)} in process {number}")
    value = math.fsum(
        outputs.number(word, f"openssl: rate of process {number}")
        for _, word, number in told
    )
    lines = text.rstrip().rsplit("\n", 1)
    last = _SUM.fullmatch(lines[-1])
    if last is None or last[1].lower() not in (algorithm, "evp"):
        raise _error(f"ended with {sanitize.line(lines[-1], 80)!r}")
    printed = outputs.number(last[2], "openssl: sum") * 1000
    # Two decimals of the sum and of each rate.
    if abs(value - printed) > 5.01 + 0.01 * threads + 1e-9 * value:
        raise _error(
            f"has processes of {value:.0f} B/s, but a sum of {printed:.0f} B/s"
        )
    return value


def _check_processes(outcome: base.Outcome, arguments: base.Arguments) -> None:
    """Check what the processes print on standard error against the command.

    They write at the same time, so a line may be broken into pieces.

    :raises base.WorkloadError: when one did something else
    """
    said = outcome.stderr[: base.LONGEST]
    for name, time, size in _BEGUN.findall(said):
        if (name.lower(), int(time), int(size)) != (
            arguments["algorithm"],
            arguments["time"],
            arguments["block_size"],
        ):
            raise _error(f"ran {name} for {time} s on blocks of {size} B")
    ended = _ENDED.findall(said)
    rates = sorted(
        int(count) * arguments["block_size"] / float(seconds)
        for count, seconds in ended
        if float(seconds) > 0
    )
    told = sorted(float(word) for _, word, _ in _RATE.findall(outcome.stdout))
    if len(rates) == len(told) == arguments["threads"] and not all(
        math.isclose(mine, printed, rel_tol=1e-6, abs_tol=0.01)
        for mine, printed in zip(rates, told, strict=True)
    ):
        raise _error("has rates that are not those of its processes' counts")


def _error(what: str, threads: int = 0) -> base.WorkloadError:
    wanted = f" instead of once for each of {threads} processes"
    return base.WorkloadError(
        f"openssl {what}{wanted if threads else ''}; look at the raw output"
    )
