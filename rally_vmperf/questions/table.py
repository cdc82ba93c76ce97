"""The table of questions: the only place that knows how many there are."""

from rally_vmperf.questions.common import question
from rally_vmperf.questions.density import question as density
from rally_vmperf.questions.overhead import question as overhead

_QUESTIONS: dict[str, question.Question] = {}


def register(one: question.Question) -> None:
    """Add a question."""
    _QUESTIONS[one.name] = one


for _one in (overhead.QUESTION, density.QUESTION):
    register(_one)


def every() -> tuple[question.Question, ...]:
    """Return all questions, in the order in which they came."""
    return tuple(_QUESTIONS.values())


def by_name(name: str) -> question.Question | None:
    """Return the question that records call so."""
    return _QUESTIONS.get(name)


def by_scenario(name: str) -> question.Question | None:
    """Return the question that a scenario of Rally asks."""
    return next((one for one in every() if one.scenario == name), None)


def scenarios() -> list[str]:
    """Return the scenarios that ask the questions."""
    return [one.scenario for one in every()]


def criteria() -> dict[str, question.Criterion]:
    """Return the criteria of all questions, by their name."""
    return {one.name: one for each in every() for one in each.criteria}
