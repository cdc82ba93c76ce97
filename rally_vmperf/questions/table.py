"""The table of all questions."""

import dataclasses

from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import validity
from rally_vmperf.questions.density import question as density
from rally_vmperf.questions.overhead import question as overhead
from rally_vmperf.questions.tuning import question as tuning

_QUESTIONS: dict[str, question.Question] = {}


def _list_own_criteria(name: str) -> list[question.Criterion]:
    """Return the criteria of a question as a list, empty if unknown."""
    return [
        criterion
        for question_ in _QUESTIONS.values()
        if question_.name == name
        for criterion in question_.criteria
        if criterion is not VALID
    ]


#: The criterion for the runs of every question.
VALID = validity.create_criterion(_list_own_criteria)


def register(question_: question.Question) -> None:
    """Add a question to the table, with the common criterion."""
    _QUESTIONS[question_.name] = dataclasses.replace(
        question_, criteria=(*question_.criteria, VALID)
    )


for _question in (overhead.QUESTION, density.QUESTION, tuning.QUESTION):
    register(_question)


def questions() -> dict[str, question.Question]:
    """Return all questions as a dict by their name in records."""
    return dict(_QUESTIONS)


def scenarios() -> dict[str, question.Question]:
    """Return all questions as a dict by the name of their scenario."""
    return {question_.scenario: question_ for question_ in _QUESTIONS.values()}


def criteria() -> dict[str, question.Criterion]:
    """Return the criteria of all questions as a dict by name."""
    return {
        criterion.name: criterion
        for question_ in _QUESTIONS.values()
        for criterion in question_.criteria
    }
