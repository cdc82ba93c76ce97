"""From runs to one HTML page that needs nothing else.

The page has no script and loads nothing, so that it can be mailed, kept and
opened anywhere. Only inside Rally's report it has a script, which sets the
height of the frame to that of the page.
"""

import base64
import collections.abc
import dataclasses
import functools
import hashlib
import typing as t

import jinja2
import markupsafe

from rally_vmperf import sanitize
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement import summary
from rally_vmperf.measurement.samples import cpu_seconds
from rally_vmperf.measurement.samples import units
from rally_vmperf.report import groups
from rally_vmperf.report import panels
from rally_vmperf.report import run as runs
from rally_vmperf.report import samples
from rally_vmperf.report import setting
from rally_vmperf.report import text

#: Sentences of a verdict that are not folded.
MOST_SENTENCES = 12


def standalone(shown: collections.abc.Iterable[runs.RunReport]) -> str:
    """Return a page of its own: an overview, and a section per run."""
    return _render(runs.told_apart(shown), embedded=False)


def embedded(run: runs.RunReport) -> str:
    """Return a page for a frame in Rally's report."""
    return _render([run], embedded=True)


def _render(shown: list[runs.RunReport], *, embedded: bool) -> str:
    alike: dict[runs.Section[t.Any], list[runs.RunReport]] = {}
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
            judgement=one.judgement,
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
        finalize=sanitize.printable_or_same,
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
        RULES=summary.RULES,
        machines=setting.side_by_side,
        guest_samples=samples.of_guests,
        bare_samples=samples.of_bare_metal,
        draw_distributions=panels.distributions,
        draw_over_time=panels.over_time,
        cpu_lines=cpu_lines,
        cpu_mean=cpu_mean,
        cpu_per_work=cpu_per_work,
        script_hash=_script_hash(environment),
    )
    return environment


def _script_hash(environment: jinja2.Environment) -> str:
    """Return the hash by which a browser accepts this script and no other."""
    source = environment.get_template("fit_frame.html").render()
    script = source.partition("<script>")[2].partition("</script>")[0]
    digest = hashlib.sha256(script.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


@dataclasses.dataclass(frozen=True, kw_only=True)
class CpuLine:
    """One command under one condition.

    :param condition: in words, empty where there is only one
    :param guest: the usage of its counted runs, added up
    :param bare: likewise, of bare metal; None where it is not known
    """

    condition: str
    guest: cpu_seconds.Usage
    bare: cpu_seconds.Usage | None


def cpu_lines(
    repetitions: collections.abc.Iterable[repetition.Repetition],
) -> list[CpuLine]:
    """Return a line for each condition and command, in their order."""
    guests: dict[str, list[cpu_seconds.Usage]] = {}
    metal: dict[str, dict[tuple[str, str], cpu_seconds.Usage]] = {}
    for entry in repetitions:
        for one in entry.conditions if entry.counted else ():
            words = ", ".join(f"{key} {at}" for key, at in one.axes.items())
            guests.setdefault(words, []).extend(one.command_usage)
            metal[words] = {
                (used.workload, used.command): used
                for used in one.reference.command_usage
            }
    return [
        CpuLine(
            condition=words,
            guest=used,
            bare=metal[words].get((used.workload, used.command)),
        )
        for words, usages in guests.items()
        for used in cpu_seconds.total(usages)
    ]


def cpu_mean(used: cpu_seconds.Usage) -> str:
    """Return user and system CPU seconds of a run."""
    return (
        f"{used.user / used.runs:.3g} + {used.system / used.runs:.3g} s of "
        f"{used.seconds / used.runs:.3g} s"
    )


def cpu_per_work(used: cpu_seconds.Usage) -> str:
    """Return CPU seconds per unit of work, a dash where it is not known."""
    found = used.per_work
    return f"{found[0]:.3g} s per {found[1]}" if found else "-"
