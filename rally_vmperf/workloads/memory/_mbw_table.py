"""The table of mbw: a line for each copy, and their average."""

import collections.abc
import dataclasses
import itertools
import re

from rally_vmperf.workloads import outputs

_MIB = 1 << 20

#: Labels in a line of the table.
_LABELS = ["Method:", "Elapsed:", "MiB:", "Copy:"]

#: The format of seconds and MiB, and of rates.
_DECIMALS = re.compile(r"[0-9]{1,20}\.(?:[0-9]{5}|[0-9]{3})")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Copies:
    """The copies of one process with one method.

    :param begin: The duration of its previous copies with other methods, in
        seconds.
    :param seconds: The duration of each copy in seconds.
    """

    size_mib: int
    begin: float = 0.0
    seconds: tuple[float, ...]

    @property
    def rate(self) -> float:
        """The bytes per second of all runs."""
        copied = len(self.seconds) * self.size_mib
        return copied / sum(self.seconds) * _MIB

    @property
    def moments(self) -> tuple[float, ...]:
        """The start of the first copy and the end of each, in seconds."""
        return tuple(itertools.accumulate(self.seconds, initial=self.begin))


def table_rows(text: str) -> collections.abc.Iterator[list[str]]:
    """Yield the words of each line of mbw's table as a list."""
    for fields in map(str.split, text.splitlines()):
        if fields[1:9:2] == _LABELS:
            yield fields


def parse_copies(text: str, label: str, runs: int, size_mib: int) -> Copies:
    """Parse mbw's output into the Copies with one method.

    Their rate is compared with the average of mbw, to detect missing lines.

    :param label: The name of the method in the table.
    :raises base.WorkloadError: If the table is not complete or contradicts
        itself.
    """
    output = outputs.Reader(f"mbw: {label.lower()}")
    lines = [
        (fields[0], *_parse_line(fields, output))
        for fields in table_rows(text)
        if fields[2] == label
    ]
    counted = [line for line in lines if line[0] != "AVG"]
    averages = [rate for run, _, rate in lines if run == "AVG"]
    if [run for run, _, _ in counted] != [str(n) for n in range(runs)]:
        raise output.error(f"has {len(counted)} runs instead of {runs}")
    if len(averages) != 1:
        raise output.error(f"has {len(averages)} averages instead of one")
    if any(mib != size_mib for _, mib, _ in lines):
        raise output.error(f"was not run with {size_mib} MiB")
    method_copies = Copies(
        size_mib=size_mib,
        seconds=tuple(round(mib / rate, 6) for _, mib, rate in counted),
    )
    mean = method_copies.rate / _MIB
    if abs(mean - averages[0]) > 0.0011 + 1e-6 * mean:
        raise output.error(
            f"has runs with a mean of {mean:.3f} MiB/s, but an average of "
            f"{averages[0]:.3f} MiB/s"
        )
    return method_copies


def _parse_line(
    fields: list[str], output: outputs.Reader
) -> tuple[float, float]:
    """Check the words of a line of mbw; return its MiB and its MiB/s."""
    if len(fields) != 10 or fields[9] != "MiB/s":
        raise output.error("has a line with another format")
    elapsed, mib, rate = (
        output.number(fields[column], fields[column - 1][:-1])
        for column in (4, 6, 8)
    )
    # A run takes between a microsecond and a day.
    if not (mib > 0 and rate > 0 and 1e-6 <= mib / rate < 86400):
        raise output.error(f"copied {mib:g} MiB at {rate:g} MiB/s")
    # The size and the rate give more exact seconds than mbw prints.
    seconds = mib / rate
    # Runs have whole microseconds, but averages may not.
    whole = round(seconds, 6)
    if (
        not all(map(_DECIMALS.fullmatch, fields[4:9:2]))
        or abs(seconds - elapsed) > 5.1e-6 + 6e-4 * seconds / rate
        or (fields[0] != "AVG" and abs(mib / whole - rate) > 6e-4)
    ):
        raise output.error(f"took {elapsed:g} s, which is not {rate:g} MiB/s")
    return mib, rate
