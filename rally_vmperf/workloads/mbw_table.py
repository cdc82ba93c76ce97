"""The table that mbw prints: a line for each run, and their average."""

import dataclasses
import math

from rally_vmperf.workloads import base
from rally_vmperf.workloads import outputs

_LABELS = ["Method:", "Elapsed:", "MiB:", "Copy:"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Line:
    run: str
    elapsed: float
    mib: float
    copy: float

    @property
    def seconds(self) -> float:
        """What mbw measured; finer than the five decimals of Elapsed."""
        return self.mib / self.copy


def rate(text: str, method: str, runs: int, size_mib: int) -> float:
    """Return the bytes copied in all runs by the seconds of all runs.

    That is what mbw's own average means; it is computed from the runs and
    held against the average that is printed, so that no line is missed.

    :raises base.WorkloadError: when the table is not complete and coherent
    """
    lines = [
        _line(words, method)
        for words in map(str.split, text.splitlines())
        if words[1:9:2] == _LABELS and words[2] == method.upper()
    ]
    counted = [line for line in lines if line.run != "AVG"]
    averages = [line for line in lines if line.run == "AVG"]
    if [line.run for line in counted] != [str(n) for n in range(runs)]:
        raise _error(method, f"has {len(counted)} runs instead of {runs}")
    if len(averages) != 1:
        raise _error(method, f"has {len(averages)} averages instead of one")
    if any(line.mib != size_mib for line in lines):
        raise _error(method, f"was not run with {size_mib} MiB")
    mean = runs * size_mib / sum(line.seconds for line in counted)
    if not math.isclose(mean, averages[0].copy, rel_tol=1e-4, abs_tol=2e-3):
        raise _error(
            method,
            f"has runs of {mean:.3f} MiB/s in the mean, but an average of "
            f"{averages[0].copy:.3f} MiB/s",
        )
    return mean * 1024 * 1024


def _line(words: list[str], method: str) -> _Line:
    if len(words) != 10 or words[9] != "MiB/s":
        raise _error(method, "has a line of another form")
    elapsed, mib, copy = (
        outputs.number(words[at], f"mbw: {method}: {words[at - 1][:-1]}")
        for at in (4, 6, 8)
    )
    if not (mib > 0 and copy > 0 and math.isfinite(mib / copy)):
        raise _error(method, f"copied {mib:g} MiB at {copy:g} MiB/s")
    line = _Line(run=words[0], elapsed=elapsed, mib=mib, copy=copy)
    if not math.isclose(line.seconds, elapsed, rel_tol=1e-3, abs_tol=1e-5):
        raise _error(
            method, f"took {elapsed:g} s, which is not {copy:g} MiB/s"
        )
    return line


def _error(method: str, what: str) -> base.WorkloadError:
    return base.WorkloadError(f"mbw: {method} {what}; look at the raw output")
