# SPDX-License-Identifier: Apache-2.0
"""The parts of a run that are judged on their own: variants and values."""

import collections.abc
import dataclasses

from rally_vmperf.judging import counting
from rally_vmperf.judging import summary
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import repetition

Repetitions = gathering.Repetitions


def select_variant(
    repetitions: Repetitions, variant: str
) -> list[repetition.Repetition]:
    """Return repetitions with one variant, as if it were all, as a list.

    Guests of variants that boot one after another can have several hosts.
    """
    return [
        dataclasses.replace(
            gathering.isolate(
                run_repetition,
                [
                    dataclasses.replace(condition, axes={})
                    for condition in repetition.select(
                        run_repetition.conditions, variant=variant
                    )
                ],
            ),
            hosts={},
        )
        for run_repetition in repetitions
    ]


def select_pair(
    repetitions: Repetitions, axis: str, values: tuple[str, str]
) -> list[repetition.Repetition]:
    """Return repetitions with two values of an axis only, as a list."""
    return [
        gathering.isolate(
            run_repetition,
            [
                condition
                for condition in run_repetition.conditions
                if condition.axes[axis] in values
            ],
        )
        for run_repetition in repetitions
    ]


def mark_void(judgement: summary.Judgement) -> summary.Judgement:
    """Return a judgement whose rows have the reason why the part is void."""
    reasons = finding.sentences(
        run_finding
        for run_finding in judgement.findings
        if run_finding.voids and run_finding.finding.is_run_wide
    )
    return dataclasses.replace(
        judgement,
        rows=tuple(
            dataclasses.replace(row, void="; ".join(reasons))
            for row in judgement.rows
        ),
    )


def merge(
    judgements: collections.abc.Mapping[str, summary.Judgement],
    repetitions: Repetitions,
    unreadable: int,
    *,
    is_named: bool,
) -> summary.Judgement:
    """Return one judgement for those on the parts of a run.

    :param judgements: The judgements by the name of the part.
    :param repetitions: All repetitions.
    :param unreadable: The number of unreadable records.
    :param is_named: Whether findings on a part get its name.
    """
    distinct, _ = gathering.merge_duplicates(repetitions)
    each = [*judgements.values()]
    shared = {
        found
        for run_repetition in distinct
        for found in run_repetition.findings
    }
    # A finding of all parts is about none of them.
    shared |= set.intersection(
        *(
            {run_finding.finding for run_finding in judgement.findings}
            for judgement in each
        )
    )
    findings = dict.fromkeys(
        _name_part(run_finding, name)
        if is_named and run_finding.finding not in shared
        else run_finding
        for name, judgement in judgements.items()
        for run_finding in judgement.findings
    )
    patterns = [pattern for part in each for pattern in part.unmatched]
    return dataclasses.replace(
        each[0],
        status=summary.merge_statuses(each),
        rows=tuple(
            dataclasses.replace(row, variant=name)
            for name, judgement in judgements.items()
            for row in judgement.rows
        ),
        missing=counting.count_missing(distinct, unreadable),
        findings=tuple(sorted(findings, key=finding.sort_key)),
        unmatched=tuple(dict.fromkeys(patterns)),
        not_judged=tuple(
            dict.fromkeys(limit for part in each for limit in part.not_judged)
        ),
        omitted=tuple(sorted({*sum((part.omitted for part in each), ())})),
    )


def _name_part(
    run_finding: finding.RunFinding, name: str
) -> finding.RunFinding:
    """Return a finding with the name of the part that it is about."""
    named = run_finding.finding.with_prefix(f"{name}: ")
    return dataclasses.replace(run_finding, finding=named)
