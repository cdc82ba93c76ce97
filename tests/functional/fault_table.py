# SPDX-License-Identifier: Apache-2.0
"""The tables of faults in the contributors' documentation."""

import csv
import pathlib
import re
import typing as t

DIRECTORY = pathlib.Path(__file__).parents[2] / "doc/source/contributor/faults"

_TEST = re.compile(r"``(tests\.[\w.]+\.test_\w+)``")


class CallRow(t.NamedTuple):
    """A call to the cloud."""

    call: str


def calls() -> list[CallRow]:
    """Return the calls that have a row."""
    return [
        CallRow(row["Call"].strip("`"))
        for row in _read_rows(DIRECTORY / "calls.csv")
    ]


def tests() -> list[str]:
    """Return the full names of the tests that rows name."""
    return [
        name
        for path in sorted(DIRECTORY.glob("*.csv"))
        for row in _read_rows(path)
        for name in _TEST.findall(row.get("Test", ""))
    ]


def _read_rows(path: pathlib.Path) -> list[dict[str, str]]:
    """Return the rows of a table by the names of its columns."""
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))
