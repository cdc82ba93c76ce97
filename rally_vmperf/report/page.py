# SPDX-License-Identifier: Apache-2.0
"""The HTML page of runs, a single file.

The page has no script and loads no other file, so that it can be mailed,
archived and opened anywhere. Only in Rally's report it has a script, which
adapts the height of the frame to the page.
"""

import base64
import collections.abc
import dataclasses
import functools
import hashlib
import statistics
import typing as t

import jinja2
import markupsafe

from rally_vmperf import sanitize
from rally_vmperf.judging import summary
from rally_vmperf.judging import verdict_table
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import cpu_seconds
from rally_vmperf.measurement.samples import units
from rally_vmperf.report import export
from rally_vmperf.report import groups
from rally_vmperf.report import panels
from rally_vmperf.report import reports
from rally_vmperf.report import samples
from rally_vmperf.report import setting
from rally_vmperf.report import table_labels
from rally_vmperf.report import text

#: The maximum number of failed metrics, and of reasons, in a verdict.
MOST_FAILURES = 8
_VOID = "Void: the samples do not measure what they claim."
_NO_LIMITS = "No verdict: figures without limits."


def standalone(shown: collections.abc.Iterable[reports.RunReport]) -> str:
    """Return a complete HTML page with a section per run as text."""
    return _render(reports.with_unique_titles(shown), embedded=False)


def embedded(run: reports.RunReport) -> str:
    """Return the HTML page of a run, for a frame in Rally's report."""
    return _render([run], embedded=True)


def _render(shown: list[reports.RunReport], *, embedded: bool) -> str:
    """Return the HTML page of several runs as text."""
    by_section: dict[reports.Section[t.Any], list[reports.RunReport]] = {}
    for run in shown:
        by_section.setdefault(run.section, []).append(run)
    sections = [
        _render_section(section, section.overview, shown=group, runs=shown)
        for section, group in by_section.items()
        if section.overview and len(group) > 1
    ]
    sections += [
        _render_section(
            run.section,
            run.section.template,
            run=run,
            name=f"run-{number}",
            judgement=run.judgement,
            findings=run.findings,
            facts=setting.facts(run),
        )
        for number, run in enumerate(shown, 1)
    ]
    template = create_environment(None).get_template("page.html.j2")
    return table_labels.add(
        template.render(
            sections=sections,
            title=_create_title(by_section),
            embedded=embedded,
        )
    )


def _render_section(
    section: reports.Section[t.Any], template: str, **variables: t.Any
) -> markupsafe.Markup:
    """Return the HTML of one section, rendered from its template."""
    source = create_environment(section).get_template(template)
    return markupsafe.Markup(  # noqa: S704 (its template escapes)
        source.render(**section.functions, **variables)
    )


def _create_title(
    by_section: collections.abc.Mapping[
        reports.Section[t.Any], collections.abc.Sequence[reports.RunReport]
    ],
) -> str:
    """Return the title of a page with the runs of sections as text."""
    sections = list(by_section)
    if not sections:
        return "Runs of guests"
    if len(sections) == 1:
        is_alone = all(run.is_alone for run in by_section[sections[0]])
        return sections[0].title_alone if is_alone else sections[0].title
    *first, last = [section.subject for section in sections]
    return f"{', '.join(first)} and {last} of guests".capitalize()


@functools.cache
def create_environment(
    section: reports.Section[t.Any] | None,
) -> jinja2.Environment:
    """Return the Jinja environment for a section, or for whole pages."""
    common = jinja2.PackageLoader("rally_vmperf.report")
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([section.loader, common])
        if section
        else common,
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=sanitize.printable_or_same,
    )
    environment.filters.update(
        figure=units.show,
        percent=units.show_percent,
        flat=text.flatten,
        breakable=text.breakable,
        groupby_kind=groups.by_kind,
        median=statistics.median,
    )
    environment.globals.update(
        KINDS=finding.KINDS,
        MOST_FAILURES=MOST_FAILURES,
        DETAILS_SHOWN=finding.DETAILS_SHOWN,
        RULES=summary.RULES,
        count_warnings=finding.count_warnings,
        describe_tolerated=finding.describe_tolerated,
        number_of=units.number_of,
        list_banners=list_banners,
        data_link=export.create_link,
        format_task=setting.format_task,
        list_commands=setting.list_commands,
        machines=setting.compare_machines,
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
    """Return the hash of the only script that a browser may run, a text."""
    source = environment.get_template("fit_frame.html").render()
    script = source.partition("<script>")[2].partition("</script>")[0]
    digest = hashlib.sha256(script.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


@dataclasses.dataclass(frozen=True, kw_only=True)
class CpuLine:
    """The CPU usage of a command under a condition.

    :param condition: The label; empty if there is only one condition.
    :param guest: The total usage of counted runs in guests.
    :param bare: The total usage on bare metal; None if it is not known.
    """

    condition: str
    guest: cpu_seconds.Usage
    bare: cpu_seconds.Usage | None


def cpu_lines(
    repetitions: collections.abc.Iterable[repetition.Repetition],
) -> list[CpuLine]:
    """Return the CPU usage of each command per condition, as a list."""
    guests: dict[str, list[cpu_seconds.Usage]] = {}
    metal: dict[str, dict[tuple[str, str], cpu_seconds.Usage]] = {}
    for condition in repetition.list_conditions(
        measured for measured in repetitions if measured.counted
    ):
        guests.setdefault(condition.title, []).extend(condition.command_usage)
        metal[condition.title] = {
            (usage.workload, usage.command): usage
            for usage in condition.reference.command_usage
        }
    return [
        CpuLine(
            condition=label,
            guest=usage,
            bare=metal[label].get((usage.workload, usage.command)),
        )
        for label, usages in guests.items()
        for usage in cpu_seconds.total(usages)
    ]


def cpu_mean(usage: cpu_seconds.Usage) -> str:
    """Return the mean CPU seconds of a run as text."""
    return (
        f"{usage.user / usage.runs:.3g} + "
        f"{usage.system / usage.runs:.3g} s of "
        f"{usage.seconds / usage.runs:.3g} s"
    )


def cpu_per_work(usage: cpu_seconds.Usage) -> str:
    """Return CPU seconds per unit of work, or a dash if unknown."""
    per_work = usage.per_work
    return f"{per_work[0]:.3g} s per {per_work[1]}" if per_work else "-"


class Failure(t.NamedTuple):
    """A metric that does not pass, or several for one reason.

    :param text: The figure or the reason; empty for void metrics.
    """

    status: str
    metrics: str
    text: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Banner:
    """The verdict on one criterion.

    :param sentences: The sentences between headline and reasons.
    :param reasons: The reasons that no earlier banner has, each with its
        remedies if the criterion is void.
    :param count: The number of void metrics as a sentence; empty if the
        criterion is not void.
    :param has_repeated: Whether an earlier banner has some of the reasons.
    :param is_accepted: Whether the task accepts an undecided run.
    """

    heading: str
    status: str
    headline: str
    sentences: list[str]
    failures: list[Failure]
    reasons: list[tuple[str, list[str]]]
    count: str
    has_repeated: bool
    is_accepted: bool


def list_banners(run: reports.RunReport) -> list[Banner]:
    """Return a banner for each criterion of a run, as a list."""
    banners: list[Banner] = []
    explained: set[str] = set()
    for heading, status, judgement in run.verdicts:
        reasons = judgement.reasons() if status != "none" else []
        sentences = [] if banners else run.opening
        failures = list_failures(judgement)
        headline = f"{_capitalise(judgement.status_sentence())}."
        closest = verdict_table.describe_closest_limit(judgement)
        count = ""
        if status == "none":
            conclusions = [f"{text}." for text in judgement.conclusions]
            headline, *sentences_after = [*conclusions, _NO_LIMITS]
            sentences = [*sentences, *sentences_after]
        elif status == "void" and (failures or judgement.refused):
            names = ", ".join(
                failure.metrics
                for failure in failures
                if failure.status == "void"
            )
            count = _capitalise(headline.removeprefix("Void: "))
            count = f"{count.rstrip('.')}: {names}." if names else count
            headline = _VOID
            failures = [
                failure for failure in failures if failure.status != "void"
            ]
        else:
            headline += f" {closest}." if closest else ""
            if run.answer and not banners:
                sentences = [headline, *sentences]
                headline = run.answer
        banners.append(
            Banner(
                heading=heading,
                status=status,
                headline=headline,
                sentences=sentences,
                failures=failures,
                reasons=[
                    (
                        f"{_capitalise(text)}.",
                        _list_remedies(text, judgement) if count else [],
                    )
                    for text in reasons
                    if text not in explained
                ],
                count=count,
                has_repeated=bool(explained & {*reasons}),
                is_accepted=status == "inconclusive" and judgement.passed,
            )
        )
        explained |= {*reasons}
    return banners


def list_failures(judgement: summary.Judgement) -> list[Failure]:
    """Return the figures that do not pass, the most severe first, as a list.

    All void metrics are one line, and so are metrics for which the same
    reason explains why they have no figure.
    """
    groups: dict[tuple[str, str, str], dict[str, None]] = {}
    for result in judgement.limited:
        title = result.metric_title
        value = result.to_value()
        text = verdict_table.format_figure(value)
        key = (value.status or "", text, title)
        if value.status == "void":
            key = ("void", "", "")
        elif value.value is None:
            key = (value.status or "", text, "")
        groups.setdefault(key, {})[title] = None
    return [
        Failure(status, finding.join_first(titles, ", "), text)
        for listed in verdict.NOT_PASSED
        for (status, text, _), titles in groups.items()
        if status == listed
    ]


def _list_remedies(reason: str, judgement: summary.Judgement) -> list[str]:
    """Return the remedies of the void findings in a reason, as a list."""
    kinds = dict.fromkeys(
        run_finding.finding.kind
        for run_finding in judgement.findings
        if run_finding.finding.severity == "void" and not run_finding.tolerated
    )
    return [
        finding.KINDS[kind].remedy
        for kind in kinds
        if finding.KINDS[kind].title in reason
    ]


def _capitalise(text: str) -> str:
    """Return a sentence that begins with a capital letter."""
    return f"{text[0].upper()}{text[1:]}"
