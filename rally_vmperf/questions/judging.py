"""Judge the runs of a file by their criteria."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.measurement import gathering
from rally_vmperf.questions import limits_file
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
            f"unknown question {source.question!r} (known: "
            f"{', '.join(known)}); report with the version that measured"
        )
    return found


def run(
    source: "sources.Source", criteria: question.Criteria | None = None
) -> "runs.RunReport":
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
        if one is main or held.get(one.name) is not None
    }
    found = runs.judge_records(
        entry.section(), source.records, judges, source.folder
    )
    ours = table.criteria()
    others = tuple(one for one in source.others if one.criterion not in ours)
    return dataclasses.replace(found, others=others)


def by_file(source: "sources.Source", path: str | None) -> "runs.RunReport":
    """Return the run with the verdicts of a file of limits.

    :param path: None for the limits of the task
    :raises LimitsError: for a file that is not one of limits, and for limits
        that cannot fail
    """
    if path is None:
        return run(source)
    names = _applicable(source)
    criteria = {
        name: limits
        for name, limits in limits_file.by_criterion(path).items()
        if name in names
    }
    found = run(source, criteria)
    measured = [y for x in found.repetitions for y in x.conditions]
    limits_file.check(
        path, asked(source).criteria, criteria, gathering.metrics(measured)
    )
    return found


def skipped(
    path: str | None, measured: collections.abc.Iterable["sources.Source"]
) -> list[str]:
    """Return a line for each SLA of a file that applies to no run.

    :param path: The file of limits, or None.
    """
    if path is None:
        return []
    applied = {name for source in measured for name in _applicable(source)}
    names = limits_file.by_criterion(path)
    return [
        f"limits {path}: {line}"
        for line in limits_file.skipped(names, applied)
    ]


def _applicable(source: "sources.Source") -> list[str]:
    """Return the names of the SLAs that apply to a run."""
    return limits_file.applicable(
        asked(source),
        has_neighbours=any(
            record.get("options", {}).get("neighbours")
            for record in source.records
            if record is not None
        ),
    )
