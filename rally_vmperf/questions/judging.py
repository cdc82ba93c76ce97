"""From what a file holds to a run, judged as its criteria judge it."""

import typing as t

from rally_vmperf.questions import table
from rally_vmperf.questions.common import question

if t.TYPE_CHECKING:
    from rally_vmperf.report import page
    from rally_vmperf.report import sources


def asked(source: "sources.Source") -> question.Question:
    """Return the question of a run.

    :raises SourceError: for one that is not in the table
    """
    from rally_vmperf.report import sources

    found = table.by_name(source.question) or table.by_scenario(
        source.scenario
    )
    if found is None:
        known = ", ".join(one.name for one in table.every())
        raise sources.SourceError(
            f"records of question {source.question!r} are not known (known "
            f"are: {known}); report them with the version that measured"
        )
    return found


def run(
    source: "sources.Source", criteria: question.Criteria | None = None
) -> "page.AnyRun":
    """Return the run with the verdicts of its criteria.

    :param criteria: limits by the name of the criterion, instead of those of
        the task; for other questions too
    """
    held = source.criteria if criteria is None else criteria
    return asked(source).make(source.records, held)
