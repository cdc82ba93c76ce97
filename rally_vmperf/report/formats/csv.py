# SPDX-License-Identifier: Apache-2.0
"""Results as CSV, a line per sample, figure and verdict.

The first line has the names of the columns. A cell with foreign text that a
spreadsheet would compute begins with an apostrophe.
"""

import collections.abc
import csv
import io
import typing as t

from rally_vmperf import sanitize
from rally_vmperf.records import table

#: The first characters of a formula in a spreadsheet; Excel also accepts the
#: full-width ones.
_FORMULA = (*"=+-@\t\r", *"\uff1d\uff0b\uff0d\uff20")


def render(
    rows: collections.abc.Callable[[], table.Rows],
) -> collections.abc.Iterator[str]:
    """Yield the names of the columns, and a line per row."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(table.Row._fields)
    for row in rows():
        writer.writerow(map(_format_cell, row))
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()
    yield buffer.getvalue()


def _format_cell(content: t.Any) -> t.Any:
    """Return the content of a cell; numbers are not changed."""
    if isinstance(content, bool):
        return str(content).lower()
    if isinstance(content, tuple):
        content = " ".join(content)
    if not isinstance(content, str):
        return content
    return format_text(content)


def format_text(content: str) -> str:
    """Return a printable text that no spreadsheet computes."""
    apostrophe = "'" if content.startswith(_FORMULA) else ""
    return f"{apostrophe}{sanitize.printable(content)}"
