# SPDX-License-Identifier: Apache-2.0
"""Processor workload: openssl speed."""

import math
import re

from rally_vmperf import sanitize
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import options
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import schemas
from rally_vmperf.workloads import sensitivities
from rally_vmperf.workloads import tools

ALGORITHMS = (
    *("aes-128-gcm", "aes-256-gcm", "aes-256-cbc", "chacha20-poly1305"),
    *("sha256", "sha512"),
)

RATE = sample.Metric(name="cpu.openssl.rate", unit="B/s", better="higher")

#: Output of one process: the size of its blocks, and its bytes per second.
_SIZE = re.compile(r"^Got: \+H:([0-9]{1,20}) from ([0-9]{1,9})$", re.M)
_RATE = re.compile(
    r"^Got: \+F:[0-9]{1,9}:(\S{1,40}):([0-9]{1,20}\.[0-9]{2}) from "
    r"([0-9]{1,9})$",
    re.M,
)
#: Line of each process on standard error at its start: name, seconds and
#: bytes of a block.
_STARTED = re.compile(r"^\+DT:([^:\s]{1,40}):([0-9]{1,6}):([0-9]{1,9})$", re.M)
#: The last line: the sum in 1000 B/s, with the name "evp" until 1.1.1.
_SUM = re.compile(r"(\S{1,40}) +[0-9]{1,20}\.[0-9]{2}k")

_OUTPUT = outputs.Reader("openssl")

_MINIMUM_VERSION = tools.MinimumVersion(
    version="1.1.1",
    reason="its command speed has no options for duration and block size",
    remedy="use a newer release of the distribution",
)


_OPTIONS = options.OptionTable(
    options=(
        options.Option(
            names=("seconds",),
            argument="time",
            default="3",
            parse=options.parse_number,
            pattern=re.compile(
                r"^(?:Doing .{1,80} for (?=[0-9]{1,6}s)|\+DTP?:[^:\s]{1,40}:)"
                r"([0-9]{1,6})",
                re.M,
            ),
        ),
        # The variables that exclude instructions of the processor.
        options.Option(
            names=(
                *("OPENSSL_ia32cap", "OPENSSL_armcap", "OPENSSL_ppccap"),
                *("OPENSSL_s390xcap", "OPENSSL_riscvcap"),
            ),
            argument="capabilities",
            default="all",
        ),
        options.Option(names=("engine", "provider", "async_jobs", "misalign")),
        # Before 3.0, it measures low-level functions without it.
        options.Option(
            names=("evp",),
            argument="interface",
            parse=options.ignore_text("EVP"),
        ),
        # The output states these.
        *options.name_options("multi", "bytes"),
        *options.name_options("elapsed", "mr", has_value=False),
    )
)


class Openssl(base.Workload):
    """Encryption or digests of one block, repeated for a fixed time."""

    name = "openssl"
    title = "Processor: encryption and digests with openssl speed"
    part = "cpu"
    TOOL_OPTIONS = _OPTIONS
    QUICK = schemas.short(time=3)
    ARGUMENTS = schemas.schema(
        algorithm=schemas.choice(
            f"Cipher or digest: {', '.join(ALGORITHMS)}.",
            ALGORITHMS,
            default="aes-256-gcm",
        ),
        threads=schemas.concurrency("processes"),
        time=schemas.duration("Duration of a run"),
        block_size=schemas.integer(
            "Block size, bytes", 16, 1048576, default=16384
        ),
    )
    METRICS = (RATE,)
    TOOLS = (
        tools.define("openssl", "version", minimum_version=_MINIMUM_VERSION),
    )
    SENSITIVE_TO = sensitivities.INSTRUCTIONS

    def commands(
        self, arguments: base.Arguments, endpoints: base.Endpoints
    ) -> tuple[base.Command, ...]:
        """Return a tuple of the one command that runs openssl speed.

        Without ``-elapsed`` openssl measures processor time, which does not
        show that a guest receives only half of a processor.
        """
        argv = base.argv(
            "openssl speed -elapsed -multi {threads} -seconds {time} "
            "-bytes {block_size} -evp {algorithm}",
            arguments,
        )
        seconds = arguments["time"]
        command = base.Command(
            name="openssl",
            argv=argv,
            timeout=2 * seconds + 60,
            seconds=seconds,
        )
        return (command,)

    def parse(
        self, arguments: base.Arguments, result: base.CommandResult
    ) -> list[sample.Sample]:
        """Return a list with the sample of the total rate of processes."""
        keys = ("algorithm", "threads", "block_size")
        settings = (arguments[key] for key in keys)
        total = parse_rate(result.stdout, *settings)
        _check_processes(result, arguments)
        return [outputs.create_sample(RATE, total)]


def parse_rate(
    text: str, algorithm: str, threads: int, block_size: int
) -> float:
    """Parse an output into the bytes per second of all processes.

    :raises base.WorkloadError: If a process is missing or had other
        arguments, or their sum is not the last line.
    """
    processes = {str(number) for number in range(threads)}
    sizes = _SIZE.findall(text)
    once = f"instead of once for each of {threads} processes"
    if sorted(number for _, number in sizes) != sorted(processes):
        raise _OUTPUT.error(
            f"printed the block size {len(sizes)} times {once}"
        )
    for size, number in sizes:
        if int(size) != block_size:
            raise _OUTPUT.error(f"used blocks of {size} B in process {number}")
    rates = _RATE.findall(text)
    if sorted(number for *_, number in rates) != sorted(processes):
        raise _OUTPUT.error(f"printed {len(rates)} rates {once}")
    for name, _, number in rates:
        if name.lower() != algorithm:
            raise _OUTPUT.error(
                f"ran {sanitize.line(name)} in process {number}"
            )
    total = math.fsum(
        _OUTPUT.number(rate_text, f"rate of process {number}")
        for _, rate_text, number in rates
    )
    lines = text.rstrip().rsplit("\n", 1)
    last = _SUM.fullmatch(lines[-1])
    if last is None or last[1].lower() not in (algorithm, "evp"):
        raise _OUTPUT.error(f"ended with {sanitize.line(lines[-1], 80)!r}")
    return total


def _check_processes(
    result: base.CommandResult, arguments: base.Arguments
) -> None:
    """Reject standard error that contradicts the command's arguments.

    The processes write concurrently, so that lines may be fragmented.

    :raises base.WorkloadError: If a process had other arguments.
    """
    for name, time, size in _STARTED.findall(result.stderr):
        if (name.lower(), int(time), int(size)) != (
            arguments["algorithm"],
            arguments["time"],
            arguments["block_size"],
        ):
            raise _OUTPUT.error(
                f"ran {name} for {time} s on blocks of {size} B"
            )
