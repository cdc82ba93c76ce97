# SPDX-License-Identifier: Apache-2.0
"""The table of all questions."""

import copy

from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import shared_criteria
from rally_vmperf.questions.density import question as density
from rally_vmperf.questions.event import question as event
from rally_vmperf.questions.overhead import question as overhead
from rally_vmperf.questions.tuning import question as tuning

_QUESTIONS: dict[str, question.AnyQuestion] = {}


def _list_own_criteria(name: str) -> list[question.Criterion]:
    """Return the criteria of a question as a list, empty if unknown."""
    return [
        criterion
        for listed_question in _QUESTIONS.values()
        if listed_question.name == name
        for criterion in listed_question.criteria
        if criterion not in (VALID, shared_criteria.PROMISE)
    ]


#: The criterion for the findings of the runs of every question.
VALID = shared_criteria.ValidityCriterion(_list_own_criteria)


def register(listed_question: question.AnyQuestion) -> None:
    """Add a question to the table, with the common criteria."""
    registered = copy.copy(listed_question)
    registered.criteria = (
        *listed_question.criteria,
        shared_criteria.PROMISE,
        VALID,
    )
    _QUESTIONS[registered.name] = registered


for _question in (
    overhead.QUESTION,
    density.QUESTION,
    tuning.QUESTION,
    event.QUESTION,
):
    register(_question)


def questions() -> dict[str, question.AnyQuestion]:
    """Return all questions as a dict by their name in records."""
    return dict(_QUESTIONS)


def scenarios() -> dict[str, question.AnyQuestion]:
    """Return all questions as a dict by the name of their scenario."""
    return {
        listed_question.scenario: listed_question
        for listed_question in _QUESTIONS.values()
    }


def criteria() -> dict[str, question.Criterion]:
    """Return the criteria of all questions as a dict by name."""
    return {
        criterion.name: criterion
        for listed_question in _QUESTIONS.values()
        for criterion in listed_question.criteria
    }
