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
_FIGURE = ("criterion", "metric", "figure", "condition")
#: Family -> its help text, and the column with its values.
_FIGURES = {
    "vmperf_figure": ("A figure that a limit can apply to.", "value"),
    "vmperf_figure_low": ("The lower end of its interval.", "low"),
    "vmperf_figure_high": ("The upper end of its interval.", "high"),
    "vmperf_limit": ("The limit of the figure.", "limit"),
}
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


def render(
    rows: collections.abc.Callable[[], table.Rows],
) -> collections.abc.Iterator[str]:
    """Yield the families; the rows are read once for each of them."""
    runs: dict[str, table.Row] = {}
    for row in rows():
        runs.setdefault(row.run, row)
    yield _head("vmperf_run", "info", "A run.")
    for run, row in runs.items():
        labels: Labels = {
            "run": run,
            "question": row.question,
            "title": row.title,
        }
        yield _line("vmperf_run_info", labels, 1, row.time)
    units = sorted({_format_unit(row.unit) for row in rows() if row.unit})
    for unit in units:
        yield from _render_family(
            rows, "vmperf_sample", "A sample of a machine.", unit, "value"
        )
    for family, (text, column) in _FIGURES.items():
        for unit in units:
            yield from _render_family(rows, family, text, unit, column)
    yield _head("vmperf_missing", "gauge", "A missing or skipped measurement.")
    for row in rows():
        if row.row == "sample" and row.value is None:
            yield _line("vmperf_missing", _sample_labels(row), 1, row.time)
    yield _head("vmperf_verdict", "stateset", "The status of a limit.")
    for row in rows():
        if row.row != "sample" and row.status is not None:
            yield from _render_states(row)
    yield "# EOF\n"


def _render_family(
    rows: collections.abc.Callable[[], table.Rows],
    family: str,
    text: str,
    unit: str,
    column: str,
) -> collections.abc.Iterator[str]:
    """Yield the family of one unit with its lines; nothing without any.

    :param unit: The unit as a suffix of the name; "" for numbers.
    :param column: The column with the values.
    """
    name = "_".join(filter(None, (family, unit)))
    is_sample = family == "vmperf_sample"
    is_first = True
    for row in rows():
        number = getattr(row, column)
        if number is None or _format_unit(row.unit) != unit:
            continue
        if (row.row == "sample") is not is_sample:
            continue
        if is_first:
            is_first = False
            yield _head(name, "gauge", text, unit)
        labels = _sample_labels(row) if is_sample else _list_labels(row)
        number = number / 100 if row.unit == "%" else number
        yield _line(name, labels, number, row.time)


def _render_states(row: table.Row) -> collections.abc.Iterator[str]:
    """Yield a line per status, 1 for that of a figure or verdict."""
    for status in _STATUSES:
        labels = {**_list_labels(row), "vmperf_verdict": status}
        is_state = int(row.status == status)
        yield _line("vmperf_verdict", labels, is_state, row.time)


@functools.cache
def _format_unit(unit: str) -> str:
    """Return a unit as the suffix of a name: ``bytes_per_second``."""
    parts = [_UNITS.get(part, part) for part in unit.split("/")]
    if parts[1:] == ["seconds"]:
        parts[1] = "second"
    name = "_per_".join(parts).lower()
    return re.sub(r"[^a-z0-9]+", "_", name).strip("_")


def _list_labels(row: table.Row) -> Labels:
    """Return the labels of a figure or verdict."""
    return {column: getattr(row, column) for column in ("run", *_FIGURE)}


def _sample_labels(row: table.Row) -> Labels:
    """Return the labels of a sample or missing measurement."""
    labels: Labels = {
        column: getattr(row, column) for column in ("run", *_SAMPLE)
    }
    labels["position"] = row.position if row.position != 1 else None
    labels["counted"] = str(row.counted).lower()
    labels["status"] = row.status
    if row.metric is None:
        labels["reason"] = row.reason
    return labels


def _head(family: str, kind: str, text: str, unit: str = "") -> str:
    """Return the lines that describe a family."""
    lines = f"# HELP {family} {text}\n# TYPE {family} {kind}\n"
    return f"{lines}# UNIT {family} {unit}\n" if unit else lines


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
