# SPDX-License-Identifier: Apache-2.0
"""JSON documents from tools, parsed as untrusted input."""

import copy
import json
import math
import re
import typing as t

from rally_vmperf import sanitize
from rally_vmperf.workloads import base
from rally_vmperf.workloads import output_bounds


def _reject_constant(constant: str) -> t.NoReturn:
    """Raise ValueError for NaN or Infinity in JSON."""
    raise ValueError(f"{constant} is not a valid number")


#: The start of another object, after space.
_OBJECT = re.compile(r"\s*\{")

_DECODER = json.JSONDecoder(parse_constant=_reject_constant)


class Document:
    """A JSON object from a tool, with access to values by path.

    The object starts at the first line that begins with a brace, because
    old versions of fio print warnings before it.

    ``at`` returns a view of a part; paths are relative to it.

    :param start: The offset in the text at which parsing starts.
    :raises base.WorkloadError: If the text does not contain an object.
    """

    def __init__(self, text: str, tool: str, start: int = 0) -> None:
        self._tool = tool
        self._prefix: tuple[str | int, ...] = ()
        if not text.startswith("{", start):
            start = text.find("\n{", start) + 1
        try:
            self._root, self.end = _DECODER.raw_decode(text, start)
            if output_bounds.is_too_deep(self._root):
                raise RecursionError
        except (ValueError, RecursionError):
            raise base.WorkloadError(
                f"{tool} printed {sanitize.line(text, 80)!r} instead of valid "
                "JSON; look at the raw output"
            ) from None

    @classmethod
    def parse_all(cls, text: str, tool: str) -> "list[Document]":
        """Parse concatenated JSON objects into a list of Documents.

        :raises base.WorkloadError: If an object is not valid, or none exists.
        """
        documents = [cls(text, tool)]
        while text.find("\n{", documents[-1].end) >= 0:
            documents.append(cls(text, tool, documents[-1].end))
        return documents

    @classmethod
    def parse_single(cls, text: str, tool: str) -> "Document":
        """Parse a text with exactly one JSON object into a Document.

        :raises base.WorkloadError: If the object is not valid, or text
            follows it.
        """
        document = cls(text, tool)
        document._check_end(text)
        return document

    @classmethod
    def parse_last(cls, text: str, tool: str) -> "Document":
        """Parse a text with one or several JSON objects; return the last.

        :raises base.WorkloadError: If an object is not valid, or other text
            follows one of them.
        """
        document = cls(text, tool)
        while following := _OBJECT.match(text, document.end):
            document = cls(text, tool, following.end() - 1)
        document._check_end(text)
        return document

    def _check_end(self, text: str) -> None:
        """Reject a text that continues after the object."""
        if text[self.end :].strip():
            raise base.WorkloadError(
                f"{self._tool} printed text after its result; look at the raw "
                "output"
            )

    def at(self, *path: str | int) -> "Document":
        """Return a view of the part at a path, which may be missing."""
        view = copy.copy(self)
        view._prefix = (*self._prefix, *path)
        return view

    def find(self, *path: str | int) -> t.Any:
        """Return the value at a path, or None if the path does not exist."""
        node = self._root
        for key in (*self._prefix, *path):
            try:
                node = node[key]
            except (KeyError, IndexError, TypeError):
                return None
        return node

    def mapping(self, *path: str | int) -> dict[str, t.Any]:
        """Return the object at a path as a dict; empty for another type."""
        node = self.find(*path)
        return node if isinstance(node, dict) else {}

    def array(self, *path: str | int) -> list[t.Any]:
        """Return the array at a path as a list; empty for another type."""
        node = self.find(*path)
        return node if isinstance(node, list) else []

    def numbers(self, *keys: str | int) -> list[float]:
        """Return the finite numbers of the keys as a list of floats.

        :raises base.WorkloadError: If a value is missing or is not a finite
            number.
        """
        return [self.number(key) for key in keys]

    def number(self, *path: str | int) -> float:
        """Return the finite number at a path as a float.

        :raises base.WorkloadError: If the value is missing or is not a
            finite number.
        """
        node = self.find(*path)
        try:
            number = math.nan if isinstance(node, bool) else float(node)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if isinstance(node, str) or not math.isfinite(number):
            location = ".".join(str(key) for key in (*self._prefix, *path))
            type_name = "missing" if node is None else type(node).__name__
            raise base.WorkloadError(
                f"{self._tool}: {location} must be a finite number, but is "
                f"{type_name}; look at the raw output"
            )
        return number
