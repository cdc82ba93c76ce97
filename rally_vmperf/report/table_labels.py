# SPDX-License-Identifier: Apache-2.0
"""The names of tables and the titles of columns in their cells.

A table that is wider than the page can be scrolled with the keyboard; on a
narrow page a row is a card.
"""

import re

_TABLE = re.compile(
    r"<(?P<heading>h[2-4]|summary)\b[^<>]*>"
    r"(?P<title>(?:(?!<(?:h[2-4]|summary)\b).)*?)</(?P=heading)>"
    r'|<div class="scroll">|<table\b(?:(?!<table\b).)*?</table>',
    re.DOTALL,
)
_TAG = re.compile(r"<[^<>]*>")
_CELL = re.compile(
    r"<(?P<tag>thead|tbody|tr|th|td)\b(?P<attributes>[^<>]*)>"
    r"(?P<content>(?:[^<]|<(?:br|wbr|small|a)\b[^<>]*>|</(?:small|a)>)*)"
)
_NUMBER = re.compile(r'\b(col|row)span="(\d+)"')
_ROLES = {"thead": "rowgroup", "tbody": "rowgroup", "tr": "row", "td": "cell"}


def add(html: str) -> str:
    """Return a page whose tables have names, and cells their column's title.

    The name of a table is the heading above it. Roles are explicit, because
    browsers drop those of tables that are drawn as cards. No-break spaces
    become characters, so that they also are in titles, and take fewer bytes.
    """
    title = ""

    def label(part: re.Match[str]) -> str:
        """Return a heading, the start of a scrolled region or a table."""
        nonlocal title
        if part["heading"]:
            title = _flatten(part["title"])
        elif part[0].startswith("<div"):
            return (
                '<div class="scroll" tabindex="0" role="group" '
                f'aria-label="{title}">'
            )
        else:
            return _label_table(part[0])
        return part[0]

    return _TABLE.sub(label, html.replace("&nbsp;", "\N{NO-BREAK SPACE}"))


def _flatten(content: str) -> str:
    """Return the text of an element for an attribute."""
    text = _TAG.sub(" ", content.replace("<wbr>", ""))
    return " ".join(text.split()).replace('"', "&quot;")


def _label_table(table: str) -> str:
    """Return a table whose cells have the title of their column."""
    titles: list[str] = []
    spans: dict[int, int] = {}
    column, is_head, heading = 0, False, ""

    def label(cell: re.Match[str]) -> str:
        """Return a start tag with a role and the title of the column.

        A row below a heading of several rows has the text of the heading.
        """
        nonlocal column, is_head, heading
        tag, attributes = cell["tag"], cell["attributes"]
        role = _ROLES.get(tag, "columnheader" if is_head else "rowheader")
        added = f' role="{role}"'
        if tag in ("thead", "tbody"):
            is_head = tag == "thead"
        elif tag == "tr":
            column = 0
            if spans.get(0):
                added += f' data-heading="{heading}"'
        else:
            while spans.get(column, 0):
                spans[column] -= 1
                column += 1
            span = dict(_NUMBER.findall(attributes))
            width = int(span.get("col", 1))
            if is_head:
                titles.extend([_flatten(cell["content"])] * width)
            elif tag == "td" and width == 1 and column < len(titles):
                added += f' data-label="{titles[column]}"'
            if "row" in span:
                spans[column] = int(span["row"]) - 1
                heading = _flatten(cell["content"])
            column += width
        return f"<{tag}{attributes}{added}>{cell['content']}"

    return _CELL.sub(label, table).replace("<table", '<table role="table"', 1)
