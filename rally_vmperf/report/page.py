"""From runs to one HTML page that needs nothing else.

The page holds no script and fetches nothing, so that it can be mailed, kept
and opened anywhere. Only inside Rally's report it holds one: a frame cannot
otherwise take the height of what is in it.
"""

import base64
import collections.abc
import functools
import hashlib
import typing as t

import jinja2
import markupsafe

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import rows
from rally_vmperf.measurement import units
from rally_vmperf.report import groups
from rally_vmperf.report import machines
from rally_vmperf.report import overview
from rally_vmperf.report import run as runs
from rally_vmperf.report import samples
from rally_vmperf.report import setting
from rally_vmperf.report import text
from rally_vmperf.report.density import shown as density_globals
from rally_vmperf.report.drawing import overheads
from rally_vmperf.report.drawing import strips

#: Samples of so many metrics are drawn; the table always holds all.
MOST_STRIPS = 60
#: Sentences of a verdict that are not folded.
MOST_SENTENCES = 12


def standalone(shown: collections.abc.Iterable[runs.Run]) -> str:
    """Return a page of its own: an overview, and a section per run."""
    return _render(runs.told_apart(shown), embedded=False)


def embedded(run: runs.Run) -> str:
    """Return a page for a frame in Rally's report."""
    return _render([run], embedded=True)


def _render(shown: list[runs.Run], *, embedded: bool) -> str:
    overheads_of = [one for one in shown if one.kind == "overhead"]
    densities = [one for one in shown if one.kind == "density"]
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            runs=shown,
            title=_title(bool(overheads_of), bool(densities)),
            overheads=overheads_of if len(overheads_of) > 1 else (),
            densities=densities if len(densities) > 1 else (),
            embedded=embedded,
        )
    )


def _title(overhead: bool, degradation: bool) -> str:
    if overhead and degradation:
        return "Overhead and degradation of guests"
    if degradation:
        return "Degradation of guests as their number grows"
    return "Overhead of guests over bare metal"


@functools.cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("rally_vmperf.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=text.printable,
    )
    environment.filters.update(
        figure=units.show,
        percent=units.show_percent,
        flat=text.flat,
        breakable=text.breakable,
        outliers=_outliers,
        groupby_kind=groups.by_kind,
        sum_of=density_globals.sum_of,
    )
    environment.globals.update(
        overview=overview.lines,
        **density_globals.GLOBALS,
        KINDS=finding.KINDS,
        MOST_SENTENCES=MOST_SENTENCES,
        by_part=groups.by_part,
        setting=setting.facts,
        machines=machines.side_by_side,
        guest_samples=samples.of_guests,
        bare_samples=samples.of_bare_metal,
        script_hash=_script_hash(environment),
        draw_overheads=_draw_overheads,
        draw_samples=_draw_samples,
    )
    return environment


def _script_hash(environment: jinja2.Environment) -> str:
    """Return what lets a browser run our own script, and no other."""
    source = environment.get_template("fit_frame.html").render()
    script = source.partition("<script>")[2].partition("</script>")[0]
    digest = hashlib.sha256(script.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _draw_overheads(run: runs.Run, name: str) -> markupsafe.Markup:
    return overheads.draw(groups.ordered(run.judgement), f"{name}-overheads")


def _draw_samples(run: runs.Run, name: str) -> markupsafe.Markup:
    shown: list[rows.Row] = [*groups.ordered(run.judgement)]
    drawn = {row.metric for row in shown}
    for row in run.judgement.absolute:
        if row.measured and row.metric not in drawn:
            shown.append(row)
            drawn.add(row.metric)
    return strips.draw(shown[:MOST_STRIPS], f"{name}-samples")


def _outliers(row: t.Any) -> str:
    """Return which repetitions lie apart from the others, in words."""
    words = []
    for side, places, entries in (
        ("guest", row.comparison.guest_outliers, row.guest),
        ("bare metal", row.comparison.bare_outliers, row.bare),
    ):
        if places:
            numbers = ", ".join(str(entries[place].number) for place in places)
            words.append(f"{side} {numbers}")
    return f"outliers, kept: {'; '.join(words)}" if words else ""
