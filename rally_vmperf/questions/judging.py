"""From what a file holds to a run, judged as its criteria judge it."""

import typing as t

from rally_vmperf.questions import table
from rally_vmperf.questions.common import question

if t.TYPE_CHECKING:
    from rally_vmperf.report import run as runs
    from rally_vmperf.report import sources


def asked(source: "sources.Source") -> question.Question:
    """Return the question of a run.

    :raises SourceError: for one that is not in the table
    """
    from rally_vmperf.report import sources

    known = table.questions()
    found = known.get(source.question)
    found = found or table.scenarios().get(source.scenario)
    if found is None:
        raise sources.SourceError(
            f"question {source.question!r} is not known (known are: "
            f"{', '.join(known)}); report with the version that measured"
        )
    return found


def run(
    source: "sources.Source", criteria: question.Criteria | None = None
) -> "runs.Run":
    """Return the run with the verdicts of its criteria.

    :param criteria: limits by the name of the criterion, instead of those of
        the task; for other questions too
    """
    # Drawing takes a second to load: not for a mere list of plugins.
    from rally_vmperf.report import run as runs

    entry = asked(source)
    held = source.criteria if criteria is None else criteria
    main, *_ = entry.criteria
    judges = {
        one.heading: one.judge(**held.get(one.name, {}))
        for one in entry.criteria
        if one is main or held.get(one.name)
    }
    return runs.judged(entry.section(), source.records, judges, source.folder)
