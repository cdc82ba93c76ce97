# SPDX-License-Identifier: Apache-2.0
"""JSON files that may be damaged."""

import pathlib
import typing as t

from rally_vmperf import documents


def read(path: pathlib.Path) -> dict[str, t.Any] | None:
    """Return what a file holds; None when it is missing or broken.

    :param path: a file with one JSON object
    """
    try:
        content = documents.read_json(path)
    except documents.DocumentError:
        return None
    return content if isinstance(content, dict) else None
