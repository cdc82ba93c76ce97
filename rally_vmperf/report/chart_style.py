"""The style of charts, and their conversion to SVG."""

import collections.abc
import contextlib
import io
import math
import typing as t

import markupsafe
import matplotlib
from matplotlib import figure

from rally_vmperf import sanitize

ItemT = t.TypeVar("ItemT")

#: The markers of verdicts, which differ without colour.
GLYPHS = {
    "passed": "●",
    "failed": "✖",
    "inconclusive": "◆",
    "void": "■",
    "none": "●",
}
GUEST = "#0072b2"
BARE = "#6b6b6b"
#: The colours of conditions in a chart, from the first to the last.
CONDITIONS = ("#56b4e9", "#0072b2", "#8b3f82", "#3f1d4b")
#: The width of a chart in inches, which a phone shows without scaling.
WIDTH = 4.3
INK = "#1f2933"
FAINT = "#d5dae0"

_SETTINGS = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "text.parse_math": False,
    "text.color": INK,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 9,
    "axes.axisbelow": True,
    "axes.unicode_minus": False,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
}
#: The colours that differ on dark pages, with their names in ``page.css``.
_VARIABLES = {
    GUEST: "none",
    BARE: "void",
    CONDITIONS[0]: "first",
    CONDITIONS[2]: "third",
    CONDITIONS[-1]: "last",
    INK: "ink",
    FAINT: "line",
    "#ffffff": "paper",
}
_NO_METADATA = dict.fromkeys(("Date", "Creator", "Format", "Type"))


@contextlib.contextmanager
def settings(name: str) -> collections.abc.Iterator[None]:
    """Apply the chart style of the report within a with statement.

    :param name: The salt of identifiers within the chart.
    """
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_SETTINGS)
        matplotlib.rcParams["svg.hashsalt"] = name
        yield


def shorten(text: str, longest: int) -> str:
    """Return the start of a text, so that it leaves room for the chart.

    :param longest: The maximum length in characters.
    """
    text = " ".join(sanitize.printable(text).split())
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def spread_horizontally(
    centre: float, count: int, width: float
) -> list[float]:
    """Return horizontal positions of points around a centre, a list."""
    step = width / max(1, count - 1)
    first = centre - width / 2 if count > 1 else centre
    return [first + place * step for place in range(count)]


def select_evenly(
    choices: collections.abc.Sequence[ItemT], most: int
) -> list[ItemT]:
    """Return a few of several items at even distances, first and last too."""
    if len(choices) <= most:
        return list(choices)
    step = (len(choices) - 1) / (most - 1)
    return [choices[round(index * step)] for index in range(most)]


def list_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return round numbers between two ends, ascending, as a list.

    :param most: The maximum number of intervals between them.
    """
    span = (high - low or 1.0) / most
    power = 10.0 ** math.floor(math.log10(span))
    step = power * next(
        factor for factor in (1, 2, 5, 10) if factor * power >= span
    )
    first = math.ceil(low / step)
    ticks = [step * (first + index) for index in range(most + 1)]
    return [tick for tick in ticks if low <= tick <= high]


def create_panel(
    name: str, title: str, height: float
) -> tuple[figure.Figure, t.Any]:
    """Return a figure of the width of a phone, and its axes.

    :param name: The identifier of the axes.
    :param height: The height in inches.
    """
    drawn = figure.Figure(figsize=(WIDTH, height), layout="constrained")
    axes = drawn.add_subplot(gid=name)
    axes.set_title(sanitize.printable(title), loc="left", fontweight="bold")
    axes.tick_params(labelsize=8)
    return drawn, axes


def arrange(
    panels: collections.abc.Iterable[markupsafe.Markup],
) -> markupsafe.Markup:
    """Return charts that stand next to each other if the page is wide."""
    return markupsafe.Markup('<div class="panels">{}</div>').format(
        markupsafe.Markup().join(panels)
    )


def draw_legend(
    drawn: figure.Figure, boxes: list[t.Any], **form: t.Any
) -> None:
    """Draw the legend above a figure."""
    drawn.legend(
        handles=boxes, loc="outside upper center", frameon=False, **form
    )


def to_svg(drawn: figure.Figure, title: str) -> markupsafe.Markup:
    """Return a figure as reproducible SVG markup for a page.

    :param title: The label for screen readers.
    """
    out = io.StringIO()
    drawn.savefig(out, format="svg", metadata=_NO_METADATA)
    content = out.getvalue()
    element = content[content.index("<svg") :]
    for colour, variable in _VARIABLES.items():
        element = element.replace(colour, f"var(--{variable})")
    label = markupsafe.escape(sanitize.printable(title))
    start_tag = f'<svg role="img" aria-label="{label}"'
    # matplotlib escapes the content with an XML writer.
    return markupsafe.Markup(start_tag + element[len("<svg") :])  # noqa: S704
