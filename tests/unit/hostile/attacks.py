# SPDX-License-Identifier: Apache-2.0
"""The table of attacks."""

import pathlib

import yaml

_TABLE = yaml.safe_load(
    (pathlib.Path(__file__).parent / "attacks.yaml").read_text()
)
#: Name -> what a guest says where it may say something.
WORDS: dict[str, str] = _TABLE["words"]
#: What a guest says where a figure is wanted.
NUMBERS: list[str] = _TABLE["numbers"]
#: Bytes that are no text at all.
NO_TEXT = b"\xff\xfe\xc3\x28\xed\xa0\x80\xf4\x90\x80\x80\x00"


def everything() -> bytes:
    """Return all words, a line each, as a guest would print them."""
    lines = [*WORDS.values(), *NUMBERS]
    printed = "\n".join(lines).encode("utf-8", "surrogatepass")
    return printed + b"\n" + NO_TEXT + b"\n"
