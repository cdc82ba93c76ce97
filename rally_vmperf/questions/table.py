"""The table of questions."""

from rally_vmperf.questions.common import question
from rally_vmperf.questions.density import question as density
from rally_vmperf.questions.overhead import question as overhead

_QUESTIONS: dict[str, question.Question] = {}


def register(one: question.Question) -> None:
    """Add a question."""
    _QUESTIONS[one.name] = one


for _one in (overhead.QUESTION, density.QUESTION):
    register(_one)


def questions() -> dict[str, question.Question]:
    """Return all questions by their name in records."""
    return dict(_QUESTIONS)


def scenarios() -> dict[str, question.Question]:
    """Return the questions by the scenario that asks them."""
    return {one.scenario: one for one in _QUESTIONS.values()}


def criteria() -> dict[str, question.Criterion]:
    """Return the criteria of all questions, by their name."""
    return {
        one.name: one for each in _QUESTIONS.values() for one in each.criteria
    }
