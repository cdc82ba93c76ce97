# SPDX-License-Identifier: Apache-2.0
"""Results as a JSON document with a list of rows.

Each row is an object with the columns that apply to it; numbers are numbers.
"""

import collections.abc
import json

from rally_vmperf.records import table


def render(
    rows: collections.abc.Callable[[], table.Rows],
) -> collections.abc.Iterator[str]:
    """Yield the document in pieces, a line per row."""
    yield f'{{"version": {table.VERSION}, "rows": ['
    separator = "\n"
    for row in rows():
        yield f"{separator}{json.dumps(row.as_document())}"
        separator = ",\n"
    yield "\n]}\n"
