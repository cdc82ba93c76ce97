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
    ".interval{stroke-width:4}"
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
    content = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" '
        f'viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}">\n'
        f"<style>{_STYLE}</style>\n"
        f'<rect width="100%" height="100%" fill="#fff"/>\n'
        f"{content}\n</svg>\n"
    )


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
