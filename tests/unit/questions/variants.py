# SPDX-License-Identifier: Apache-2.0
"""A third question, as another package would add it: which variant loses."""

import dataclasses
import types

import jinja2

from rally_vmperf.execution import estimate
from rally_vmperf.judging import judge as judges
from rally_vmperf.judging.results import build
from rally_vmperf.measurement import repetition
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task
from rally_vmperf.report import reports
from rally_vmperf.runs import conditions

SCENARIO = "Other.variants"
PLAIN = "plain"


def _build(judge, entries):
    """Return the loss of a variant against the plain one, by metric.

    The option ``variant`` is the last one of the run by default.
    """
    variant = judge.options.variant or _last_variant(entries)
    plain, there = (
        [
            condition
            for entry in entries
            for condition in entry.select(kernel=name).conditions
        ]
        for name in (PLAIN, variant)
    )
    reference = repetition.Reference(
        name=PLAIN,
        machine="",
        recorded_at="",
        repetitions=tuple(condition.observations for condition in plain),
    )
    return [
        build.build_overhead(
            metric,
            there,
            reference,
            judge.limits["max_percent"].for_metric(metric.name),
        )
        for metric in (there[0].expected_metrics if there else ())
    ]


RULES = judges.Rules(
    axis="kernel",
    build=_build,
    find=lambda judge, entries, rows: (),
    uses_bare_metal=lambda run_judge: True,
)


def _last_variant(entries):
    variants = [
        condition.axes["kernel"]
        for entry in entries
        for condition in entry.conditions
    ]
    return variants[-1] if variants else ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Options(judges.Options):
    """The options of the criterion.

    :param variant: Which one.
    :param max_percent: Metric or glob -> largest tolerated loss.
    """

    variant: str = ""
    max_percent: judges.ByPattern = None


class Criterion(question.Criterion):
    """Limits on what a variant loses."""

    name = "other_variant"
    heading = "Variant"
    rules = RULES
    options = Options
    limits = types.MappingProxyType({"max_percent": ("ratio",)})

    def check(self, subtask, parsed, baseline):
        """Reject an unknown variant."""
        variants = subtask.arguments.variants
        variant = parsed.options.variant
        if variant not in variants:
            raise task.InvalidTask(
                f"sla {self.name} variant: {variant!r} is none of "
                f"{', '.join(variants)}"
            )


CRITERION = Criterion()


def describe(run):
    """Return the variants of a run."""
    conditions_ = run.repetitions[-1].conditions
    return ", ".join(
        str(condition.axes["kernel"]) for condition in conditions_
    )


SECTION = reports.Section(
    title="Variants of guests",
    subject="variants",
    report_class=reports.RunReport,
    comparison_facts=lambda run: [("Variants", [describe(run)])],
    functions={"shout": str.upper},
    template="variants.html.j2",
    loader=jinja2.DictLoader(
        {
            "variants.html.j2": '{% extends "section.html.j2" %}'
            "{% block figures %}<h3>{{ shout('losses') }}</h3>"
            "{% for row in judgement.rows %}<p>{{ row.sentence() }}</p>"
            "{% endfor %}{% endblock %}"
        }
    ),
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Arguments(task.Arguments):
    """The arguments of the scenario.

    :param variants: The names of kernels.
    """

    variants: list[str]


class Variants(question.Question[Arguments]):
    """Loss of a variant."""

    name = "variants"
    scenario = SCENARIO
    title = "Variants"
    arguments = Arguments
    criteria = (CRITERION,)

    def check(self, subtask):
        """Reject a single variant."""
        if len(subtask.arguments.variants) < 2:
            raise task.InvalidTask("variants: at least two are needed")
        return []

    def estimate_minutes(self, subtask):
        """Return the minutes of all variants."""
        return estimate.estimate_minutes(
            subtask.assignments,
            subtask.times,
            len(subtask.arguments.variants),
        )

    def start(self, request, arguments):
        """Return a run with a condition for each variant."""
        return request.create_run(
            conditions.PlannedCondition(axes={"kernel": name})
            for name in arguments.variants
        )

    def get_section(self):
        """Return the section of the report."""
        return SECTION

    def describe(self, run):
        """Return the variants of a run."""
        return describe(run)


QUESTION = Variants()
