"""The table that mbw prints: a line for each copy, and their average."""

import collections.abc
import dataclasses
import itertools
import re

from rally_vmperf.workloads import base
from rally_vmperf.workloads import outputs

_MIB = 1 << 20

#: Words of a line of the table that mbw prints: one for each run, and their
#: average.
_LABELS = ["Method:", "Elapsed:", "MiB:", "Copy:"]

#: As mbw prints seconds and MiB, and rates.
_DECIMALS = re.compile(r"[0-9]{1,20}\.(?:[0-9]{5}|[0-9]{3})")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Copies:
    """What one process copied by one method.

    :param begin: seconds that it had copied by other methods before
    :param seconds: of each copy
    """

    size_mib: int
    begin: float = 0.0
    seconds: tuple[float, ...]

    @property
    def rate(self) -> float:
        """Bytes copied in all runs by the seconds of all runs."""
        copied = len(self.seconds) * self.size_mib
        return copied / sum(self.seconds) * _MIB

    @property
    def moments(self) -> tuple[float, ...]:
        """The beginning of the first copy, and the end of each."""
        return tuple(itertools.accumulate(self.seconds, initial=self.begin))


def rows(text: str) -> collections.abc.Iterator[list[str]]:
    """Return the words of each line that is one of the table."""
    for fields in map(str.split, text.splitlines()):
        if fields[1:9:2] == _LABELS:
            yield fields


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Line:
    run: str
    mib: float
    copy: float

    @property
    def seconds(self) -> float:
        """The seconds that mbw measured, with more digits than it prints."""
        return self.mib / self.copy


def copies(text: str, label: str, runs: int, size_mib: int) -> Copies:
    """Return the copies of one method, in whole microseconds.

    mbw's own average means the same as their rate, which is checked against
    it, so that no line is missed.

    :param label: the method, as the table calls it
    :raises base.WorkloadError: when the table is not complete and coherent
    """
    method = label.lower()
    lines = [
        _line(fields, method) for fields in rows(text) if fields[2] == label
    ]
    counted = [line for line in lines if line.run != "AVG"]
    averages = [line for line in lines if line.run == "AVG"]
    if [line.run for line in counted] != [str(n) for n in range(runs)]:
        raise error(method, f"has {len(counted)} runs instead of {runs}")
    if len(averages) != 1:
        raise error(method, f"has {len(averages)} averages instead of one")
    if any(line.mib != size_mib for line in lines):
        raise error(method, f"was not run with {size_mib} MiB")
    found = Copies(
        size_mib=size_mib,
        seconds=tuple(round(line.seconds * 1e6) / 1e6 for line in counted),
    )
    mean = found.rate / _MIB
    if abs(mean - averages[0].copy) > 0.0011 + 1e-6 * mean:
        raise error(
            method,
            f"has runs of {mean:.3f} MiB/s in the mean, but an average of "
            f"{averages[0].copy:.3f} MiB/s",
        )
    return found


def _line(fields: list[str], method: str) -> _Line:
    if len(fields) != 10 or fields[9] != "MiB/s":
        raise error(method, "has a line of another form")
    elapsed, mib, copy = (
        outputs.number(fields[at], f"mbw: {method}: {fields[at - 1][:-1]}")
        for at in (4, 6, 8)
    )
    # A run takes a microsecond at least, and a day at most.
    if not (mib > 0 and copy > 0 and 1e-6 <= mib / copy < 86400):
        raise error(method, f"copied {mib:g} MiB at {copy:g} MiB/s")
    line = _Line(run=fields[0], mib=mib, copy=copy)
    # A run takes whole microseconds, an average may not.
    whole = round(line.seconds * 1e6) / 1e6
    if not all(
        map(_DECIMALS.fullmatch, (fields[4], fields[6], fields[8]))
    ) or (
        abs(line.seconds - elapsed) > 5.1e-6 + 6e-4 * line.seconds / copy
        or (fields[0] != "AVG" and abs(mib / whole - copy) > 6e-4)
    ):
        raise error(method, f"took {elapsed:g} s, which is not {copy:g} MiB/s")
    return line


def error(method: str, what: str) -> base.WorkloadError:
    """Return the error that a method was not measured as asked."""
    return base.WorkloadError(f"mbw: {method} {what}; look at the raw output")
