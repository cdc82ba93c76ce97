"""How a report shows density runs."""

import collections.abc

import jinja2
import markupsafe

from rally_vmperf.questions.density.section import cells
from rally_vmperf.questions.density.section import curves
from rally_vmperf.questions.density.section import gaps
from rally_vmperf.questions.density.section import heat
from rally_vmperf.questions.density.section import overview
from rally_vmperf.questions.density.section import picture
from rally_vmperf.questions.density.section import run as runs
from rally_vmperf.questions.density.section import setting
from rally_vmperf.questions.density.section import starts
from rally_vmperf.questions.density.section import told
from rally_vmperf.report import section

#: Metrics that are drawn; the tables hold all.
MOST = 60


def _picture(run: runs.Run, name: str) -> markupsafe.Markup:
    return picture.draw(run.series[:MOST], f"{name}-picture")


def _heat(run: runs.Run, name: str) -> markupsafe.Markup:
    return heat.draw(run.strips[:MOST], f"{name}-heat")


def sum_of(
    strips: collections.abc.Iterable[cells.Strip], state: cells.State
) -> int:
    """Return how many cells of all strips are in a state."""
    return sum(one.number(state) for one in strips)


SECTION = section.Section(
    title="Degradation of guests as their number grows",
    subject="degradation",
    make=runs.Run,
    compared=setting.compared,
    functions={
        "MOST_CURVES": MOST,
        "MOST_GUESTS": heat.MOST_GUESTS,
        "overview": overview.table,
        "gaps_of": gaps.gaps,
        "starts_of": starts.worst,
        "sum_of": sum_of,
        "draw_picture": _picture,
        "draw_curve": curves.draw,
        "draw_heat": _heat,
        "told": told,
    },
    template="run.html.j2",
    overview="overview.html.j2",
    loader=jinja2.PackageLoader(__package__),
)
