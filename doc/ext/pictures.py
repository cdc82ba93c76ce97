# SPDX-License-Identifier: Apache-2.0
"""Pictures of the pages, drawn as SVG."""

import dataclasses

_WIDTH = 640
#: The margin left of the axis, for the statuses.
_LEFT = 120
_ROW = 34
#: The largest loss on the axis, in percent.
_MAXIMUM = 30
_LIMIT = 15
_STYLE = (
    "text{font:14px sans-serif;fill:#222}.axis{stroke:#888}"
    ".limit{stroke:#b00;stroke-dasharray:4 3}.passed{stroke:#1a7f37}"
    ".failed{stroke:#b00020}.inconclusive{stroke:#9a6700}"
    ".interval{stroke-width:4}.box{fill:#eef4fb;stroke:#4a78a8}"
    ".small{font-size:12px}.head{fill:#888}"
)


@dataclasses.dataclass(frozen=True)
class _Interval:
    """An interval of losses in percent with its status."""

    low: float
    high: float
    status: str


_INTERVALS = (
    _Interval(6, 11, "passed"),
    _Interval(-3, 1, "passed"),
    _Interval(19, 24, "failed"),
    _Interval(12, 18, "inconclusive"),
)


def draw_verdict() -> str:
    """Return the intervals of four metrics on a line with a limit."""
    height = _ROW * (len(_INTERVALS) + 2)
    bottom = height - _ROW
    limit = _position(_LIMIT)
    parts = [
        f'<line class="axis" x1="{_LEFT}" y1="{bottom}" x2="{_WIDTH - 10}" '
        f'y2="{bottom}"/>',
        f'<line class="limit" x1="{limit}" y1="24" x2="{limit}" '
        f'y2="{bottom}"/>',
        _text(limit, 16, f"limit {_LIMIT} %"),
    ]
    for loss in range(-5, _MAXIMUM, 5):
        parts.append(_text(_position(loss), bottom + 18, f"{loss} %"))
    for number, interval in enumerate(_INTERVALS, 1):
        parts += _draw_interval(interval, number * _ROW + 10)
    return _picture(_WIDTH, height, parts)


def _draw_interval(interval: _Interval, y: int) -> list[str]:
    """Return the line of an interval, its mean and its status."""
    low, high = _position(interval.low), _position(interval.high)
    return [
        f'<text x="6" y="{y + 5}">{interval.status}</text>',
        f'<line class="interval {interval.status}" x1="{low}" y1="{y}" '
        f'x2="{high}" y2="{y}"/>',
        f'<circle class="{interval.status}" cx="{(low + high) / 2}" cy="{y}" '
        'r="5" fill="#fff" stroke-width="3"/>',
    ]


def _text(x: float, y: float, text: str) -> str:
    """Return a centred text."""
    return f'<text x="{x}" y="{y}" text-anchor="middle">{text}</text>'


def _position(loss: float) -> float:
    """Return the horizontal position of a loss in percent."""
    share = (loss + 7) / (_MAXIMUM + 7)
    return round(_LEFT + share * (_WIDTH - _LEFT - 10), 1)


#: The boxes of the pipeline: column, row, title and command.
_BOXES = (
    (0, 0, "Bare metal", "baseline record"),
    (0, 1, "Guests", "rally task start"),
    (1, 0, "Baseline", "samples, fingerprint"),
    (1, 1, "Journal", "samples, findings"),
    (2, 0.5, "Comparison", "loss and interval"),
    (3, 0, "Verdict", "exit code, judge"),
    (3, 1, "Report", "HTML, CSV, JUnit"),
)
_ARROWS = ((0, 2), (1, 3), (2, 4), (3, 4), (4, 5), (4, 6))
_BOX = (140, 48)
_GAP = (30, 32)


def draw_pipeline() -> str:
    """Return the steps from machines to a report."""
    width = 4 * _BOX[0] + 3 * _GAP[0] + 20
    height = 2 * _BOX[1] + _GAP[1] + 20
    parts = [
        '<marker id="head" viewBox="0 0 10 10" refX="10" refY="5" '
        'markerWidth="8" markerHeight="8" orient="auto">'
        '<path class="head" d="M0 0L10 5L0 10z"/></marker>'
    ]
    for start, end in _ARROWS:
        x1, y1 = _corner(start)
        x2, y2 = _corner(end)
        middle = _BOX[1] / 2
        parts.append(
            f'<line class="axis" x1="{x1 + _BOX[0]}" y1="{y1 + middle}" '
            f'x2="{x2}" y2="{y2 + middle}" marker-end="url(#head)"/>'
        )
    for index, (_, _, title, command) in enumerate(_BOXES):
        x, y = _corner(index)
        centre = x + _BOX[0] / 2
        parts += [
            f'<rect class="box" x="{x}" y="{y}" width="{_BOX[0]}" '
            f'height="{_BOX[1]}" rx="6"/>',
            _text(centre, y + 20, title),
            f'<text class="small" x="{centre}" y="{y + 38}" '
            f'text-anchor="middle">{command}</text>',
        ]
    return _picture(width, height, parts)


def _corner(index: int) -> tuple[float, float]:
    """Return the left upper corner of a box."""
    column, row, _, _ = _BOXES[index]
    return (
        10 + column * (_BOX[0] + _GAP[0]),
        10 + row * (_BOX[1] + _GAP[1]),
    )


def _picture(width: float, height: float, parts: list[str]) -> str:
    """Return an SVG document."""
    content = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" '
        f'viewBox="0 0 {width} {height}" width="{width}">\n'
        f"<style>{_STYLE}</style>\n"
        f'<rect width="100%" height="100%" fill="#fff"/>\n'
        f"{content}\n</svg>\n"
    )
