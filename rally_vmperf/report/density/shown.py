"""What the templates of a density run are given."""

import collections.abc

import markupsafe

from rally_vmperf.report.density import cells
from rally_vmperf.report.density import gaps
from rally_vmperf.report.density import overview
from rally_vmperf.report.density import run as runs
from rally_vmperf.report.density import setting
from rally_vmperf.report.density import starts
from rally_vmperf.report.density import told
from rally_vmperf.report.drawing import curves
from rally_vmperf.report.drawing import heat
from rally_vmperf.report.drawing import picture

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


GLOBALS = {
    "MOST_CURVES": MOST,
    "MOST_GUESTS": heat.MOST_GUESTS,
    "density_overview": overview.table,
    "density_setting": setting.facts,
    "density_gaps": gaps.gaps,
    "density_starts": starts.worst,
    "draw_picture": _picture,
    "draw_curve": curves.draw,
    "draw_heat": _heat,
    "told": told,
}
