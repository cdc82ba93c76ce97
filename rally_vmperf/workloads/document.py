"""JSON that a tool printed, read without trusting it."""

import copy
import json
import math
import typing as t

from rally_vmperf import sanitize
from rally_vmperf.workloads import base


def _refuse(constant: str) -> t.NoReturn:
    raise ValueError(f"{constant} is no number")


_DECODER = json.JSONDecoder(parse_constant=_refuse)


class Document:
    """A JSON object from a tool, asked for values by their path.

    Warnings may stand before it (old versions of fio print theirs there),
    so it starts at the first line that begins with a brace.

    :param start: where in the text to begin
    :raises base.WorkloadError: when there is no object in the text
    """

    def __init__(self, text: str, tool: str, start: int = 0) -> None:
        self._tool = tool
        if not text.startswith("{", start):
            start = text.find("\n{", start) + 1
        try:
            self._root, self.end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            raise base.WorkloadError(
                f"{tool} printed no JSON that can be read, but "
                f"{sanitize.line(text, 80)!r}; look at the raw output"
            ) from None

    @classmethod
    def each(cls, text: str, tool: str) -> "list[Document]":
        """Return all objects of a tool that prints one after another.

        :raises base.WorkloadError: when one cannot be read, or there is none
        """
        found = [cls(text, tool)]
        while text.find("\n{", found[-1].end) >= 0:
            found.append(cls(text, tool, found[-1].end))
        return found

    @classmethod
    def only(cls, text: str, tool: str) -> "Document":
        """Return the one object of a tool that prints nothing after it.

        :raises base.WorkloadError: when it cannot be read, or is not the end
        """
        found = cls(text, tool)
        if text[found.end :].strip():
            raise base.WorkloadError(
                f"{tool} printed something after its result; look at the raw "
                "output"
            )
        return found

    def find(self, *path: str | int) -> t.Any:
        """Return the value at a path, or None where there is none."""
        node = self._root
        for step in path:
            try:
                node = node[step]
            except (KeyError, IndexError, TypeError):
                return None
        return node

    def part(self, name: str) -> "Document":
        """Return an object in it as a document of its own.

        :raises base.WorkloadError: when there is none of that name
        """
        found = copy.copy(self)
        found._root = self.find(name)
        found._tool = f"{self._tool}: {name}"
        if not isinstance(found._root, dict):
            raise base.WorkloadError(
                f"{found._tool} should be an object; look at the raw output"
            )
        return found

    def number(self, *path: str | int) -> float:
        """Return the finite number at a path.

        :raises base.WorkloadError: when there is none
        """
        value = self.find(*path)
        try:
            found = math.nan if isinstance(value, bool) else float(value)
        except (TypeError, ValueError, OverflowError):
            found = math.nan
        if isinstance(value, str) or not math.isfinite(found):
            where = ".".join(str(step) for step in path)
            kind = "missing" if value is None else type(value).__name__
            raise base.WorkloadError(
                f"{self._tool}: {where} should be a finite number, but is "
                f"{kind}; look at the raw output"
            )
        return found
