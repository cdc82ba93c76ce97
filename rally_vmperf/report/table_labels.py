"""The titles of columns in cells, for pages where a row is a card."""

import re

_TABLE = re.compile(r"<table\b.*?</table>", re.DOTALL)
_CELL = re.compile(
    r"<(?P<tag>thead|tbody|tr|th|td)\b(?P<attributes>[^>]*)>"
    r"(?P<content>(?:[^<]|<(?:br|wbr|small|a)\b[^>]*>|</(?:small|a)>)*)"
)
_NUMBER = re.compile(r'\b(col|row)span="(\d+)"')
_ROLES = {"thead": "rowgroup", "tbody": "rowgroup", "tr": "row", "td": "cell"}


def add(html: str) -> str:
    """Return a page whose table cells have the title of their column.

    Roles are explicit, because browsers drop those of tables that are drawn
    as cards.
    """
    return _TABLE.sub(lambda table: _label_table(table[0]), html)


def _label_table(table: str) -> str:
    """Return a table whose cells have the title of their column."""
    titles: list[str] = []
    spans: dict[int, int] = {}
    column, is_head = 0, False

    def label(cell: re.Match[str]) -> str:
        """Return a start tag with a role and the title of the column."""
        nonlocal column, is_head
        tag, attributes = cell["tag"], cell["attributes"]
        role = _ROLES.get(tag, "columnheader" if is_head else "rowheader")
        added = f' role="{role}"'
        if tag in ("thead", "tbody"):
            is_head = tag == "thead"
        elif tag == "tr":
            column = 0
        else:
            while spans.get(column, 0):
                spans[column] -= 1
                column += 1
            span = dict(_NUMBER.findall(attributes))
            width = int(span.get("col", 1))
            if is_head:
                title = re.sub(r"<[^>]*>", " ", cell["content"])
                titles.extend([" ".join(title.split())] * width)
            elif tag == "td" and width == 1 and column < len(titles):
                title = titles[column].replace('"', "&quot;")
                added += f' data-label="{title}"'
            if "row" in span:
                spans[column] = int(span["row"]) - 1
            column += width
        return f"<{tag}{attributes}{added}>{cell['content']}"

    return _CELL.sub(label, table).replace("<table", '<table role="table"', 1)
