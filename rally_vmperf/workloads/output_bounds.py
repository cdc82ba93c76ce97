# SPDX-License-Identifier: Apache-2.0
"""Bounds of outputs, which are checked before any pattern searches them."""

import dataclasses
import typing as t

from rally_vmperf import documents
from rally_vmperf.measurement import command_result

#: The default maximum length of an output in characters.
MAX_CHARACTERS = 1 << 20
#: The maximum length of a line of text in characters. The time of a search may
#: grow with the square of the length of a line.
MAX_LINE_CHARACTERS = 4096
#: The maximum number of values in JSON; a run of fio has up to 350,000.
MAX_JSON_VALUES = 500_000
#: The maximum number of nested levels in JSON; fio has eight.
_MAX_JSON_LEVELS = 64


@dataclasses.dataclass(frozen=True, kw_only=True)
class OutputBounds:
    """The bounds of the output of a command.

    :param format: The format of standard output: text for patterns, or JSON
        for its parser. Standard error is text.
    :param max_characters: The maximum length of a stream in characters.
    """

    format: t.Literal["text", "json"] = "text"
    max_characters: int = MAX_CHARACTERS

    def describe_excess(self, result: command_result.CommandResult) -> str:
        """Return the bound that an output exceeds as a sentence, or ""."""
        subject = f"command {result.name} printed"
        for text in (result.stdout, result.stderr):
            if len(text) > self.max_characters:
                return (
                    f"{subject} {len(text)} characters; the maximum is "
                    f"{self.max_characters}"
                )
        is_json = self.format == "json"
        if is_json and documents.may_exceed(result.stdout, MAX_JSON_VALUES):
            return f"{subject} more than {MAX_JSON_VALUES} values"
        texts = (result.stderr,) if is_json else (result.stdout, result.stderr)
        for text in texts:
            if number := find_long_line(text):
                return (
                    f"{subject} more than {MAX_LINE_CHARACTERS} characters in "
                    f"line {number}"
                )
        return ""


TEXT = OutputBounds()
JSON = OutputBounds(format="json")


def find_long_line(text: str) -> int:
    """Return the number of the first line that is too long; 0 without one.

    Lines end with a line feed only, as in regular expressions.
    """
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > MAX_LINE_CHARACTERS:
            return number
    return 0


def is_too_deep(document: t.Any) -> bool:
    """Return whether a value of JSON has too many nested levels."""
    level = [document]
    for _ in range(_MAX_JSON_LEVELS + 1):
        level = [
            child
            for container in level
            if isinstance(container, dict | list)
            for child in (
                container.values()
                if isinstance(container, dict)
                else container
            )
        ]
        if not level:
            return False
    return True
