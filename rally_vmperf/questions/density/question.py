"""The question how guests degrade as more of them share a host."""

import typing as t

from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task
from rally_vmperf.questions.density import checks
from rally_vmperf.questions.density import degradation
from rally_vmperf.questions.density import fairness
from rally_vmperf.questions.density import levels

if t.TYPE_CHECKING:
    from rally_vmperf.report import section as sections
    from rally_vmperf.runs import opened
    from rally_vmperf.runs import run as runs


def _compared(asked: task.Task) -> tuple[int, ...]:
    limits = asked.criteria.get(degradation.CRITERION.name, {})
    return degradation.compared(asked, limits)


def _minutes(asked: task.Task) -> int:
    return levels.minutes(
        asked.assignments,
        asked.times,
        checks.numbers(asked),
        stops=asked.arguments.get("others") == "stopped",
    )


def _run(asked: "opened.Asked", own: question.Json) -> "runs.Run":
    from rally_vmperf.questions.density import run

    return run.make(asked, **own)


def _section() -> "sections.Section":
    from rally_vmperf.questions.density.section import section

    return section.SECTION


QUESTION = question.Question(
    name="density",
    scenario="VMPerf.density",
    title="Degradation by number of guests",
    criteria=(degradation.CRITERION, fairness.CRITERION),
    contexts=("vmperf_guests",),
    check=checks.check,
    copies=checks.numbers,
    compared=_compared,
    minutes=_minutes,
    run=_run,
    section=_section,
)
