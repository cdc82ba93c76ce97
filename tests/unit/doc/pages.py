# SPDX-License-Identifier: Apache-2.0
"""The pages that users read, and the blocks in them."""

import dataclasses
import pathlib
import re
import textwrap

ROOT = pathlib.Path(__file__).parents[3]
SOURCE = ROOT / "doc" / "source"
PAGES = {
    str(path.relative_to(ROOT)): path
    for path in sorted([*ROOT.glob("*.rst"), *SOURCE.rglob("*.rst")])
}
_MARKER = re.compile(r"(?P<indent> *)\.\. code-block:: *(?P<kind>\w+) *$")
_LITERAL = re.compile(r"(?P<indent> *)(?!\.\. ).*::$")
_INLINE = re.compile(r"``(.+?)``", re.DOTALL)


@dataclasses.dataclass(frozen=True)
class Block:
    """A block of text that is shown as it is.

    :param kind: such as yaml; empty for blocks that only ``::`` marks
    """

    page: str
    line: int
    kind: str
    text: str

    def __str__(self):
        return f"{self.page}:{self.line}"


def text(page):
    """Return a page's source."""
    return PAGES[page].read_text()


def blocks(*kinds):
    """Return the blocks of these kinds in all pages."""
    return [
        block
        for page in PAGES
        for block in _blocks(page)
        if block.kind in kinds
    ]


def inlines():
    """Return page and text of everything in double backquotes."""
    return [
        (page, " ".join(literal.split()))
        for page in PAGES
        for literal in _INLINE.findall(_prose(page))
    ]


def command_lines(program):
    """Return place and words of each line in a block that runs a program.

    The optional parts of a synopsis, in brackets, count as given.
    """
    examples = []
    for block in blocks("", "console"):
        joined = re.sub(r"\\\n\s*", " ", block.text)
        examples += [
            (str(block), re.sub(r"[][]", "", match[1] or ""))
            for match in re.finditer(
                rf"^(?:sudo )?(?:\S*/)?{program}( .*)?$", joined, re.MULTILINE
            )
        ]
    return examples


def _prose(page):
    shown = {line for b in _blocks(page) for line in _span(b)}
    lines = text(page).splitlines()
    return "\n".join(
        line for number, line in enumerate(lines, 1) if number not in shown
    )


def _span(block):
    return range(block.line, block.line + block.text.count("\n") + 2)


def _blocks(page):
    lines = text(page).splitlines()
    for number, line in enumerate(lines):
        match = _MARKER.match(line) or _LITERAL.match(line)
        if not match:
            continue
        body = []
        for following in lines[number + 1 :]:
            indent = len(following) - len(following.lstrip())
            if following.strip() and indent <= len(match["indent"]):
                break
            body.append(following)
        content = textwrap.dedent("\n".join(body)).strip("\n")
        kind = match.groupdict().get("kind", "")
        yield Block(page, number + 2, kind, content)
