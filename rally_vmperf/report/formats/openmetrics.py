# SPDX-License-Identifier: Apache-2.0
"""Results as OpenMetrics text, for databases that read this format.

The families vmperf_sample, vmperf_figure, vmperf_figure_low,
vmperf_figure_high and vmperf_limit have a suffix for their unit;
vmperf_verdict, vmperf_missing and vmperf_run have none. The time of a sample
is the end of its repetition.
"""

import collections.abc
import datetime
import functools
import re

from rally_vmperf import sanitize
from rally_vmperf.records import table

Labels = dict[str, object]
#: The family, the suffix of the unit, the labels and the number of lines.
Lines = collections.abc.Iterator[tuple[str, str, Labels, float]]

_STATUSES = ("passed", "failed", "inconclusive", "void")
_UNITS = {
    "1": "",
    "%": "ratio",
    "B": "bytes",
    "bit": "bits",
    "ops": "operations",
    "s": "seconds",
    "Hz": "hertz",
}
_SAMPLE = ("side", "guest", "host", "metric", "condition", "repetition")
_FIGURE = (
    *("criterion", "host", "metric", "figure", "subject", "guest"),
    "condition",
)
#: Family -> its type, and its help text.
_FAMILIES = {
    "vmperf_run": ("info", "A run."),
    "vmperf_sample": ("gauge", "A sample of a machine."),
    "vmperf_figure": ("gauge", "A figure that a limit can apply to."),
    "vmperf_figure_low": ("gauge", "The lower end of its interval."),
    "vmperf_figure_high": ("gauge", "The upper end of its interval."),
    "vmperf_limit": ("gauge", "The limit of the figure."),
    "vmperf_missing": ("gauge", "A missing or skipped measurement."),
    "vmperf_verdict": ("stateset", "The status of a limit."),
}
#: The families without a unit, which are described even without lines.
_WITHOUT_UNIT = ("vmperf_run", "vmperf_missing", "vmperf_verdict")
#: Column with a number of a figure -> its family.
_NUMBERS = {
    "value": "vmperf_figure",
    "low": "vmperf_figure_low",
    "high": "vmperf_figure_high",
    "limit": "vmperf_limit",
}
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


def render(
    rows: collections.abc.Callable[[], table.Rows],
) -> collections.abc.Iterator[str]:
    """Yield the families, each with its lines."""
    families: dict[str, dict[str, list[str]]] = {
        family: {} for family in _FAMILIES
    }
    for family in _WITHOUT_UNIT:
        families[family][""] = []
    runs = set()
    for row in rows():
        if row.run not in runs:
            runs.add(row.run)
            labels = {
                column: getattr(row, column)
                for column in ("run", "question", "title")
            }
            line = _line("vmperf_run_info", labels, 1, row.time)
            families["vmperf_run"][""].append(line)
        list_lines = _list_sample if row.row == "sample" else _list_judged
        for family, unit, labels, number in list_lines(row):
            name = "_".join(filter(None, (family, unit)))
            line = _line(name, labels, number, row.time)
            families[family].setdefault(unit, []).append(line)
    for family, units in families.items():
        for unit, lines in sorted(units.items()):
            yield _head(family, unit)
            yield from lines
    yield "# EOF\n"


def _list_sample(row: table.Row) -> Lines:
    """Yield the line of a sample or of a missing measurement."""
    labels: Labels = {
        column: getattr(row, column) for column in ("run", *_SAMPLE)
    }
    labels["position"] = row.position if row.position != 1 else None
    labels["counted"] = str(row.counted).lower()
    labels["status"] = row.status
    if row.value is not None:
        yield "vmperf_sample", *_convert(row.unit, labels, row.value)
        return
    if row.metric is None:
        labels["reason"] = row.reason
    yield "vmperf_missing", "", labels, 1


def _list_judged(row: table.Row) -> Lines:
    """Yield the lines of a figure or verdict: its numbers and states."""
    labels = {column: getattr(row, column) for column in ("run", *_FIGURE)}
    for column, family in _NUMBERS.items():
        number = getattr(row, column)
        if number is not None:
            yield family, *_convert(row.unit, labels, number)
    for status in _STATUSES if row.status else ():
        state = {**labels, "vmperf_verdict": status}
        yield "vmperf_verdict", "", state, int(row.status == status)


def _convert(
    unit: str | None, labels: Labels, number: float
) -> tuple[str, Labels, float]:
    """Return the suffix of a unit, the labels, and the converted number."""
    ratio = number / 100 if unit == "%" else number
    return _format_unit(unit or ""), labels, ratio


@functools.cache
def _format_unit(unit: str) -> str:
    """Return a unit as the suffix of a name: ``bytes_per_second``."""
    parts = [_UNITS.get(part, part) for part in unit.split("/")]
    if parts[1:] == ["seconds"]:
        parts[1] = "second"
    name = "_per_".join(parts).lower()
    return re.sub(r"[^a-z0-9]+", "_", name).strip("_")


def _head(family: str, unit: str) -> str:
    """Return the lines that describe a family.

    :param unit: The unit as the suffix of the name, or "".
    """
    kind, text = _FAMILIES[family]
    name = "_".join(filter(None, (family, unit)))
    lines = f"# HELP {name} {text}\n# TYPE {name} {kind}\n"
    return f"{lines}# UNIT {name} {unit}\n" if unit else lines


def _line(name: str, labels: Labels, number: float, time: str | None) -> str:
    """Return the line of a number, with the time in seconds if known.

    :param labels: The labels; those that are None are omitted.
    """
    pairs = ",".join(
        f'{label}="{sanitize.printable(str(content)).translate(_ESCAPES)}"'
        for label, content in labels.items()
        if content is not None
    )
    line = f"{name}{{{pairs}}} {number!r}"
    if time is None:
        return f"{line}\n"
    seconds = datetime.datetime.fromisoformat(time).timestamp()
    return f"{line} {seconds:.3f}\n"
