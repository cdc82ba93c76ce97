"""The question how guests degrade as more of them share a host."""

import typing as t

from rally_vmperf.execution import estimate
from rally_vmperf.execution import levels
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task
from rally_vmperf.questions.density import checks
from rally_vmperf.questions.density import degradation
from rally_vmperf.questions.density import fairness

if t.TYPE_CHECKING:
    from rally_vmperf.report.density import run as runs


def _compared(asked: task.Task) -> tuple[int, ...]:
    limits = asked.criteria.get(degradation.CRITERION.name, {})
    return degradation.compared(asked, limits)


def _minutes(asked: task.Task) -> int:
    numbers = checks.numbers(asked)
    boots = 0
    if asked.arguments.get("others") == "stopped":
        boots = levels.rises(numbers, asked.times)
    return estimate.minutes(
        asked.assignments, asked.times, len(numbers), boots
    )


def _make(records: t.Any, criteria: question.Criteria) -> "runs.Run":
    from rally_vmperf.report.density import run as runs

    judges = [
        one.judge(criteria[one.name]) if criteria.get(one.name) else None
        for one in (degradation.CRITERION, fairness.CRITERION)
    ]
    return runs.make(records, *judges)


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
    make=_make,
)
