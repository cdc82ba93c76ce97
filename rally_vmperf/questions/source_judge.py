# SPDX-License-Identifier: Apache-2.0
"""The judgement of the runs in a file."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.judging import judge
from rally_vmperf.judging import judged_run
from rally_vmperf.judging import summary
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import repetition
from rally_vmperf.questions import limits_file
from rally_vmperf.questions import table
from rally_vmperf.questions.common import question
from rally_vmperf.records import files
from rally_vmperf.records import model
from rally_vmperf.records import sources

if t.TYPE_CHECKING:
    from rally_vmperf.report import reports


def get_question(source: sources.Source) -> question.AnyQuestion:
    """Return the question of a run.

    :raises SourceError: If the question is unknown.
    """
    questions = table.questions()
    run_question = questions.get(source.question)
    run_question = run_question or table.scenarios().get(source.scenario)
    if run_question is None:
        # The import is slow, and other sources do not require it.
        from rally_vmperf.runs import recording

        if source.question == recording.QUESTION:
            raise sources.SourceError(
                "the journal is that of a recording of bare metal, which has "
                "no verdict; to show the figures: rally-vmperf baseline show "
                "NAME"
            )
        raise sources.SourceError(
            f"unknown question {source.question!r} (known: "
            f"{', '.join(questions)}); use the version that recorded the run"
        )
    return run_question


def judge_source(
    source: sources.Source, criteria: question.Criteria | None = None
) -> judged_run.JudgedRun:
    """Return a stored run with the verdicts of its criteria.

    :param criteria: The limits by the name of their criterion; None for the
        limits of the task. Criteria of other questions are ignored.
    """
    run_question = get_question(source)
    sections = source.criteria if criteria is None else criteria
    main_criterion, *_ = run_question.criteria
    judges: dict[str, judge.Judge] = {
        criterion.heading: criterion.parse(
            sections.get(criterion.name, {})
        ).create_judge()
        for criterion in run_question.criteria
        if criterion is main_criterion
        or sections.get(criterion.name) is not None
    }
    for record in source.records:
        for criterion_judge in judges.values():
            criterion_judge.add(record.repetition if record else None)
    shown = _list_accepted(
        source, main_criterion, judges[main_criterion.heading]
    )
    machines, machines_error = (
        files.describe_machines(source.folder, shown[-1])
        if shown
        else ((), "")
    )
    run = judged_run.JudgedRun(
        question=run_question.name,
        title=judged_run.NO_RECORDS,
        records=tuple(shown),
        repetitions=tuple(record.repetition for record in shown),
        judged_repetitions=tuple(
            main_criterion.select(record.repetition) for record in shown
        ),
        judgements={
            heading: _explain_damaged_lines(
                criterion_judge.judgement(), source
            )
            for heading, criterion_judge in judges.items()
        },
        machines=machines,
        machines_error=machines_error,
        sla_results=tuple(
            result
            for result in source.sla_results
            if result.criterion not in table.criteria()
        ),
        limits=sections,
        contexts=source.contexts,
    )
    if not shown:
        return run
    return dataclasses.replace(
        run,
        title=run_question.describe(run),
        remarks=tuple(run_question.list_remarks(run)),
    )


def _explain_damaged_lines(
    judgement: summary.Judgement, source: sources.Source
) -> summary.Judgement:
    """Return a judgement with the reasons why records are not readable."""
    missing = judgement.missing.with_reasons(source.damage_reasons)
    return dataclasses.replace(judgement, missing=missing)


def _list_accepted(
    source: sources.Source,
    criterion: question.Criterion,
    criterion_judge: judge.Judge,
) -> list[model.Record]:
    """Return the records that a judge accepts, by number, each once."""
    accepted: dict[tuple[str, int], model.Record] = {}
    for record in source.records:
        if record and criterion_judge.accepts(
            criterion.select(record.repetition)
        ):
            key = (record.repetition.run, record.repetition.number)
            accepted.setdefault(key, record)
    return sorted(
        accepted.values(), key=lambda record: record.repetition.number
    )


def create_report(run: judged_run.JudgedRun) -> "reports.RunReport":
    """Return the report of a judged run, with its question's section."""
    from rally_vmperf.report import reports

    section = table.questions()[run.question].get_section()
    return reports.create_report(section, run)


def judge_by_file(
    source: sources.Source, path: str | None
) -> judged_run.JudgedRun:
    """Return a stored run with the verdicts of a limits file.

    :param path: The path of the file; None for the limits of the task.
    :raises VMPerfError: If the file is not a valid limits file, or if a
        limit cannot fail.
    """
    return judge_source(source, read_criteria(source, path))


def read_criteria(
    source: sources.Source, path: str | None
) -> question.Criteria:
    """Return the limits of a run by the name of their SLA.

    :param path: The path of a limits file; None for the limits of the task.
    :raises VMPerfError: If the file is not a valid limits file, or if a
        limit cannot fail.
    """
    if path is None:
        return source.criteria
    names = _list_applicable_slas(source)
    criteria = {
        name: limits
        for name, limits in limits_file.read_limits(path).items()
        if name in names
    }
    limits_file.check_limits(
        path,
        get_question(source).criteria,
        criteria,
        gathering.metrics(
            repetition.list_conditions(
                record.repetition for record in source.records if record
            )
        ),
        may_be_unmatched=True,
    )
    return criteria


def format_skipped(
    path: str | None, measured: collections.abc.Iterable[sources.Source]
) -> list[str]:
    """Return one line for each SLA of a file that applies to no run.

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


def _list_applicable_slas(source: sources.Source) -> list[str]:
    """Return the names of the SLAs that apply to a run, as a list."""
    return limits_file.list_applicable_slas(
        get_question(source),
        {
            option: argument
            for record in source.records
            if record is not None
            for option, argument in record.options.items()
            if argument
        },
    )
