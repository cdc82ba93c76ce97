"""The table of mbw: a line for each copy, and their average."""

import collections.abc
import dataclasses
import itertools

from rally_vmperf.workloads import outputs

_MIB = 1 << 20

#: Labels in a line of the table.
_LABELS = ["Method:", "Elapsed:", "MiB:", "Copy:"]


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

    :param label: The name of the method in the table.
    :raises base.WorkloadError: If the table is not complete, or is that of
        other arguments.
    """
    output = outputs.Reader(f"mbw: {label.lower()}")
    lines = [
        (fields[0], *_parse_line(fields, output))
        for fields in table_rows(text)
        if fields[2] == label
    ]
    counted = [line for line in lines if line[0] != "AVG"]
    if [run for run, _, _ in counted] != [str(n) for n in range(runs)]:
        raise output.error(f"has {len(counted)} runs instead of {runs}")
    # Without the average, the last lines are missing.
    if len(lines) != runs + 1:
        raise output.error(f"has {len(lines) - runs} averages instead of one")
    if any(mib != size_mib for _, mib, _ in lines):
        raise output.error(f"was not run with {size_mib} MiB")
    # The size and the rate give more exact seconds than mbw prints.
    return Copies(
        size_mib=size_mib,
        seconds=tuple(round(mib / rate, 6) for _, mib, rate in counted),
    )


def _parse_line(
    fields: list[str], output: outputs.Reader
) -> tuple[float, float]:
    """Check the words of a line of mbw; return its MiB and its MiB/s."""
    if len(fields) != 10 or fields[9] != "MiB/s":
        raise output.error("has a line with another format")
    mib, rate = output.numbers((fields[6], fields[8]))
    # A run takes between a microsecond and a day.
    if not (mib > 0 and rate > 0 and 1e-6 <= mib / rate < 86400):
        raise output.error(f"copied {mib:g} MiB at {rate:g} MiB/s")
    return mib, rate
