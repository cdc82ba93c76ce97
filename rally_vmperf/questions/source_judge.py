"""The judgement of the runs in a file."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.measurement import gathering
from rally_vmperf.questions import limits_file
from rally_vmperf.questions import table
from rally_vmperf.questions.common import question

if t.TYPE_CHECKING:
    from rally_vmperf.report import reports
    from rally_vmperf.report import sources


def get_question(source: "sources.Source") -> question.Question:
    """Return the question of a run.

    :raises SourceError: If the question is unknown.
    """
    from rally_vmperf.report import sources

    questions = table.questions()
    question_ = questions.get(source.question)
    question_ = question_ or table.scenarios().get(source.scenario)
    if question_ is None:
        raise sources.SourceError(
            f"unknown question {source.question!r} (known: "
            f"{', '.join(questions)}); use the version that recorded the run"
        )
    return question_


def judge_source(
    source: "sources.Source", criteria: question.Criteria | None = None
) -> "reports.RunReport":
    """Return the run with the verdicts of its criteria.

    :param criteria: The limits by the name of their criterion; None for the
        limits of the task. Criteria of other questions are ignored.
    """
    # The import takes a second, and a list of plugins does not need it.
    from rally_vmperf.report import reports

    run_question = get_question(source)
    limits = source.criteria if criteria is None else criteria
    main, *_ = run_question.criteria
    judges = {
        criterion.heading: criterion.judge(**limits.get(criterion.name, {}))
        for criterion in run_question.criteria
        if criterion is main or limits.get(criterion.name) is not None
    }
    report = reports.judge_records(
        run_question.section(), source.records, judges, source.folder
    )
    criteria_by_name = table.criteria()
    sla_results = tuple(
        result
        for result in source.sla_results
        if result.criterion not in criteria_by_name
    )
    return dataclasses.replace(report, sla_results=sla_results)


def judge_by_file(
    source: "sources.Source", path: str | None
) -> "reports.RunReport":
    """Return the run with the verdicts of a limits file.

    :param path: The path of the file; None for the limits of the task.
    :raises LimitsError: If the file is not a valid limits file, or if a
        limit cannot fail.
    """
    if path is None:
        return judge_source(source)
    names = _list_applicable_slas(source)
    criteria = {
        name: limits
        for name, limits in limits_file.read_limits(path).items()
        if name in names
    }
    report = judge_source(source, criteria)
    measured = [
        condition
        for repetition in report.repetitions
        for condition in repetition.conditions
    ]
    limits_file.check_limits(
        path,
        get_question(source).criteria,
        criteria,
        gathering.metrics(measured),
    )
    return report


def format_skipped(
    path: str | None, measured: collections.abc.Iterable["sources.Source"]
) -> list[str]:
    """Return a line for each SLA of a file that applies to no run.

    :param path: The file of limits, or None.
    """
    if path is None:
        return []
    applied = {
        name for source in measured for name in _list_applicable_slas(source)
    }
    names = limits_file.read_limits(path)
    return [
        f"limits {path}: {line}"
        for line in limits_file.format_skipped(names, applied)
    ]


def _list_applicable_slas(source: "sources.Source") -> list[str]:
    """Return the names of the SLAs that apply to a run."""
    return limits_file.list_applicable_slas(
        get_question(source),
        has_neighbours=any(
            record.get("options", {}).get("neighbours")
            for record in source.records
            if record is not None
        ),
    )
