# SPDX-License-Identifier: Apache-2.0
"""Results as lines of JSON for the bulk interface of OpenSearch.

A line with the action, which has the index ``vmperf`` and an identifier,
precedes the line of each row. If the results of a run are sent again, they
replace the earlier ones.
"""

import collections.abc
import hashlib
import json

from rally_vmperf.records import table

#: The columns that together identify a row.
_KEY = (
    *("row", "run", "title", "criterion", "figure", "condition", "guests"),
    *("side", "guest", "metric", "repetition", "position", "status", "reason"),
)


def render(
    rows: collections.abc.Callable[[], table.Rows],
) -> collections.abc.Iterator[str]:
    """Yield two lines per row: the action, and the document."""
    for row in rows():
        action = {"index": {"_index": "vmperf", "_id": _identify(row)}}
        yield f"{json.dumps(action)}\n{json.dumps(row.as_document())}\n"


def _identify(row: table.Row) -> str:
    """Return the identifier of a row, a digest of its key columns."""
    key = json.dumps([getattr(row, column) for column in _KEY])
    return hashlib.blake2b(key.encode(), digest_size=16).hexdigest()
