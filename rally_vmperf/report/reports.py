# SPDX-License-Identifier: Apache-2.0
"""The report of a judged run, and the section of its question."""

import collections.abc
import dataclasses
import typing as t

import jinja2

from rally_vmperf.judging import axis
from rally_vmperf.judging import judged_run
from rally_vmperf.judging import summary
from rally_vmperf.measurement.samples import units
from rally_vmperf.report import text

RunT = t.TypeVar("RunT", bound="RunReport")
#: The facts about a run that precede the figures: titles and lines.
Facts = list[tuple[str, list[str]]]


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunReport(judged_run.JudgedRun):
    """A judged run on a page; its title is unique there.

    :param section: The section of its question.
    :param conclusion: The first sentences of the verdict, one for each class
        of metrics; none for runs with records.
    :param facts: The setting of a run without records.
    """

    section: "Section[t.Any]"
    conclusion: list[str] = dataclasses.field(default_factory=list)
    facts: Facts = dataclasses.field(default_factory=list)

    @property
    def answer(self) -> str:
        """The sentences that precede the verdict; "" without an answer."""
        return ""

    @property
    def opening(self) -> list[str]:
        """The sentences that follow the first headline.

        Without bare metal, they say what was judged, and how much was not.
        """
        if not self.is_alone:
            return self.conclusion
        groups = [group for group in self.judgement.groups if group.measured]
        names = dict.fromkeys(
            group.metric.name for group in groups if group.limited
        )
        others = sum(not group.limited for group in groups)
        if not names or not others or self.judgement.names_its_metrics:
            return self.conclusion
        verb = "has" if others == 1 else "have"
        sentence = (
            f"Only {', '.join(names)} {'is' if len(names) == 1 else 'are'} "
            f"judged: {units.number_of('figure', others)} {verb} no limit."
        )
        return [sentence, *self.conclusion]

    @property
    def is_alone(self) -> bool:
        """Whether bare metal is missing in a question that compares it."""
        return bool(
            self.section.title_alone
            and self.records
            and all(record.bare_metal is None for record in self.records)
        )

    @property
    def unmeasured_facts(self) -> Facts:
        """Titled lines on guests with another workload, or []."""
        options = self.last.options.get("neighbours")
        if not options:
            return []
        number = units.number_of("guest", options["guests"])
        workload = text.flatten(options["workload"])
        arguments = text.flatten(options["arguments"])
        line = f"{number}, the last, with {workload} ({arguments})"
        return [(_NEIGHBOURS, [line])]

    @property
    def unmeasured_losses(self) -> summary.Judgement | None:
        """The judgement on the losses caused by these guests, or None."""
        if not self.records or not self.unmeasured_facts:
            return None
        return self.judge_by(_NEIGHBOURS, axis.NEIGHBOURS.rules)


#: The heading of the verdict on neighbours, and of the facts about them.
_NEIGHBOURS = "Neighbours"
#: The loader of questions without templates.
NO_TEMPLATES = jinja2.DictLoader({})


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Section(t.Generic[RunT]):
    """The section of a page for the runs of a question.

    :param title: The title of a page with runs of this question only.
    :param title_alone: The title if none of these runs has bare metal; empty
        if it does not matter.
    :param subject: The measured property, for the title of mixed pages.
    :param report_class: The class of the runs.
    :param comparison_facts: A function that returns the facts about the
        reference of a run.
    :param functions: The functions for templates by name.
    :param template: The template of a run; extends ``section.html.j2``.
    :param overview: The template of several runs; empty without one.
    :param loader: The loader of the question's templates.
    """

    title: str
    title_alone: str = ""
    subject: str
    report_class: type[RunT]
    comparison_facts: t.Callable[[RunT], Facts] = lambda run: []
    functions: collections.abc.Mapping[str, t.Any] = dataclasses.field(
        default_factory=dict
    )
    template: str = "section.html.j2"
    overview: str = ""
    loader: jinja2.BaseLoader = NO_TEMPLATES


def create_report(
    section: Section[RunT], run: judged_run.JudgedRun, **texts: t.Any
) -> RunT:
    """Return the report of a judged run.

    :param section: The section of its question.
    :param texts: The conclusion and the facts of a run without records.
    """
    fields = {
        field.name: getattr(run, field.name)
        for field in dataclasses.fields(judged_run.JudgedRun)
    }
    return section.report_class(section=section, **fields, **texts)


def with_unique_titles(runs: collections.abc.Iterable[RunT]) -> list[RunT]:
    """Return the runs as a list, repeated titles numbered."""
    counts: dict[str, int] = {}
    renamed = []
    for run in runs:
        number = counts[run.title] = counts.get(run.title, 0) + 1
        title = run.title if number == 1 else f"{run.title} ({number})"
        renamed.append(dataclasses.replace(run, title=title))
    return renamed
