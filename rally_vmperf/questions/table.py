"""The table of all questions."""

from rally_vmperf.questions.common import question
from rally_vmperf.questions.density import question as density
from rally_vmperf.questions.overhead import question as overhead

_QUESTIONS: dict[str, question.Question] = {}


def register(question_: question.Question) -> None:
    """Add a question."""
    _QUESTIONS[question_.name] = question_


for _question in (overhead.QUESTION, density.QUESTION):
    register(_question)


def questions() -> dict[str, question.Question]:
    """Return all questions by their name in records."""
    return dict(_QUESTIONS)


def scenarios() -> dict[str, question.Question]:
    """Return the questions by the name of their scenario."""
    return {question_.scenario: question_ for question_ in _QUESTIONS.values()}


def criteria() -> dict[str, question.Criterion]:
    """Return the criteria of all questions, by their name."""
    return {
        criterion.name: criterion
        for question_ in _QUESTIONS.values()
        for criterion in question_.criteria
    }
