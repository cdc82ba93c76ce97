"""Programs of this machine that work on packages."""

import collections.abc
import subprocess


def run(
    argv: collections.abc.Sequence[str], seconds: float
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end and return what it printed, whatever its exit.

    :raises OSError: when it cannot be started
    :raises TimeoutExpired: when it takes more seconds
    """
    return subprocess.run(
        argv,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=seconds,
        check=False,
    )


def reason(said: str) -> str:
    """Return the last line of what a program said, short enough to quote."""
    lines = said.strip().splitlines() or ["it gave no reason"]
    return lines[-1].strip()[:200]
