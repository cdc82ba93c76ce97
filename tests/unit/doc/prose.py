# SPDX-License-Identifier: Apache-2.0
"""The sentences of the pages that are written by hand."""

import pathlib
import re

from doc.ext import pages as generated
from tests.unit.doc import pages

#: The pages that are written by hand, by their path from the top.
BY_HAND = {
    name: path
    for name, path in pages.PAGES.items()
    if name.startswith("doc/source/") and path not in generated.PAGES
}
#: Lines of markup: directives, options, rules, targets and rows of tables.
_MARKUP = re.compile(
    r"\s*(\.\. .*|:[\w-]+:.*|[=\-~^+]{3,}[=\-~^+ ]*|__ .*)$|.*[^\s.]  +\S.*"
)
_BULLET = re.compile(r"\s*(?:[*-]|#\.|\* -) ")
_ROLE = re.compile(r":\w+:`(?:([^`<]*?)\s*<)?[^`]*`")
_LITERAL = re.compile(r"``.+?``", re.DOTALL)


def read_sentences(path: pathlib.Path) -> list[str]:
    """Return the sentences of a page, without titles, blocks and terms."""
    sentences = []
    for paragraph in _read_paragraphs(path.read_text()):
        text = _ROLE.sub(r"\1link", paragraph)
        text = _LITERAL.sub("code", text)
        sentences += [
            sentence.strip()
            for sentence in re.split(r"(?<=[.:;?!])\s+", text)
            if len(sentence.split()) > 3
        ]
    return sentences


def count_words(sentences: list[str]) -> float:
    """Return the mean number of words of complete sentences."""
    text = " ".join(sentences)
    ends = len(re.findall(r"[.?!:](?=\s|$)", text))
    return len(text.split()) / max(ends, 1)


def _read_paragraphs(text: str) -> list[str]:
    """Return paragraphs and elements of lists, each in one line."""
    lines = text.splitlines()
    paragraphs: list[str] = []
    current: list[str] = []
    literal = None
    for number, line in enumerate(lines):
        margin = len(line) - len(line.lstrip())
        if literal is not None and (not line.strip() or margin > literal):
            continue
        literal = None
        following = lines[number + 1] if number + 1 < len(lines) else ""
        is_title = bool(re.fullmatch(r"([=\-~^])\1{2,}", following.strip()))
        starts = bool(_BULLET.match(line))
        deeper = len(following) - len(following.lstrip()) > margin
        is_term = deeper and bool(following.strip()) and not starts
        if not line.strip() or _MARKUP.match(line) or is_title or starts:
            paragraphs.append(" ".join(current))
            current = []
        if line.lstrip().startswith(".. ") and "list-table" not in line:
            literal = margin
            continue
        if is_term or is_title or _MARKUP.match(line):
            continue
        if line.strip():
            current.append(_BULLET.sub("", line).strip())
        if line.rstrip().endswith("::"):
            literal = margin
    paragraphs.append(" ".join(current))
    return [paragraph for paragraph in paragraphs if paragraph]
