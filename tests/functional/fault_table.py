"""The tables of faults, as the contributors' documentation has them."""

import pathlib
import re
import typing as t

PAGE = (
    pathlib.Path(__file__).parent.parent.parent
    / "doc/source/contributor/faults.rst"
)

_CALL = re.compile(r"^   \* - ``(\w+ [A-Z]+ /\S*)``$", re.MULTILINE)
_TEST = re.compile(r"``(tests\.[\w.]+\.test_\w+)``")


class CallRow(t.NamedTuple):
    """A call to the cloud."""

    call: str


def calls() -> list[CallRow]:
    """Return the calls that have a row."""
    return [CallRow(call) for call in _CALL.findall(PAGE.read_text())]


def tests() -> list[str]:
    """Return the tests that rows name, by their full names."""
    text = re.sub(r"\s*\\\n\s*", "", PAGE.read_text())
    return _TEST.findall(text)
