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
from rally_vmperf.measurement import units
from rally_vmperf.report import cpu_table
from rally_vmperf.report import groups
from rally_vmperf.report import run as runs
from rally_vmperf.report import samples
from rally_vmperf.report import setting
from rally_vmperf.report import text

#: Sentences of a verdict that are not folded.
MOST_SENTENCES = 12


def standalone(shown: collections.abc.Iterable[runs.Run]) -> str:
    """Return a page of its own: an overview, and a section per run."""
    return _render(runs.told_apart(shown), embedded=False)


def embedded(run: runs.Run) -> str:
    """Return a page for a frame in Rally's report."""
    return _render([run], embedded=True)


def _render(shown: list[runs.Run], *, embedded: bool) -> str:
    alike: dict[runs.Section[t.Any], list[runs.Run]] = {}
    for one in shown:
        alike.setdefault(one.section, []).append(one)
    sections = [
        _part(of, of.overview, shown=some, runs=shown)
        for of, some in alike.items()
        if of.overview and len(some) > 1
    ]
    sections += [
        _part(
            one.section,
            one.section.template,
            run=one,
            name=f"run-{number}",
            judged=one.judgement,
            findings=one.findings,
            facts=setting.facts(one),
        )
        for number, one in enumerate(shown, 1)
    ]
    template = _environment(None).get_template("page.html.j2")
    return template.render(
        sections=sections, title=_title(list(alike)), embedded=embedded
    )


def _part(
    of: runs.Section[t.Any], template: str, **given: t.Any
) -> markupsafe.Markup:
    found = _environment(of).get_template(template)
    return markupsafe.Markup(  # noqa: S704 (its template escapes)
        found.render(**of.functions, **given)
    )


def _title(sections: list[runs.Section[t.Any]]) -> str:
    if not sections:
        return "Runs of guests"
    if len(sections) == 1:
        return sections[0].title
    *first, last = [one.subject for one in sections]
    return f"{', '.join(first)} and {last} of guests".capitalize()


@functools.cache
def _environment(of: runs.Section[t.Any] | None) -> jinja2.Environment:
    own = jinja2.PackageLoader("rally_vmperf.report")
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([of.loader, own]) if of else own,
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
        groupby_kind=groups.by_kind,
    )
    environment.globals.update(
        KINDS=finding.KINDS,
        MOST_SENTENCES=MOST_SENTENCES,
        machines=setting.side_by_side,
        guest_samples=samples.of_guests,
        bare_samples=samples.of_bare_metal,
        cpu_lines=cpu_table.lines,
        cpu_mean=cpu_table.mean,
        cpu_per_work=cpu_table.per_work,
        script_hash=_script_hash(environment),
    )
    return environment


def _script_hash(environment: jinja2.Environment) -> str:
    """Return what lets a browser run our own script, and no other."""
    source = environment.get_template("fit_frame.html").render()
    script = source.partition("<script>")[2].partition("</script>")[0]
    digest = hashlib.sha256(script.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
