# SPDX-License-Identifier: Apache-2.0
"""A run with the verdicts of its criteria."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.judging import judge
from rally_vmperf.judging import summary
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import units
from rally_vmperf.records import model
from rally_vmperf.records import sources

#: The title of a run without records.
NO_RECORDS = "no records"

#: The maximum length of the name of a flavor in characters.
_MAX_NAME_CHARACTERS = 400


@dataclasses.dataclass(frozen=True, kw_only=True)
class JudgedRun:
    """The records of one Rally workload, with their judgements.

    :param question: The name of its question.
    :param title: The title.
    :param records: The readable records in the order of repetitions.
    :param repetitions: The repetitions of the records.
    :param judged_repetitions: The repetitions with the conditions that the
        main criterion judges.
    :param judgements: The verdicts by heading, the main one first.
    :param machines: The machines of the last record, with the facts from the
        file of machines.
    :param machines_error: The reason why that file is missing, or empty.
    :param sla_results: The results of Rally's own SLAs.
    :param limits: The limits that it is judged by, by the name of the SLA.
    :param contexts: The options of the task's contexts by name; empty if they
        are not known.
    :param remarks: The sentences of its question that are not about limits.
    """

    question: str
    title: str
    records: tuple[model.Record, ...]
    repetitions: tuple[repetition.Repetition, ...]
    judged_repetitions: tuple[repetition.Repetition, ...]
    judgements: collections.abc.Mapping[str, summary.Judgement]
    machines: tuple[model.DescribedMachine, ...]
    machines_error: str
    sla_results: tuple[sources.RallySlaResult, ...] = ()
    limits: collections.abc.Mapping[str, t.Any] = dataclasses.field(
        default_factory=dict
    )
    contexts: collections.abc.Mapping[str, t.Any] = dataclasses.field(
        default_factory=dict
    )
    remarks: tuple[str, ...] = ()

    def judge_by(self, heading: str, rules: judge.Rules) -> summary.Judgement:
        """Return the judgement of a criterion, without limits if it has none.

        :param heading: The heading of the criterion.
        """
        if judgement := self.judgements.get(heading):
            return judgement
        run_judge = judge.Judge(rules)
        run_judge.extend(self.repetitions, 0)
        return run_judge.judgement()

    @property
    def last(self) -> model.Record:
        """The latest record of the run; raises an error without records."""
        return self.records[-1]

    @property
    def judgement(self) -> t.Any:
        """The judgement of the main criterion."""
        return next(iter(self.judgements.values()))

    @property
    def verdicts(self) -> list[tuple[str, str, summary.Judgement]]:
        """The heading, the status and the judgement of each criterion."""
        return [
            (heading, _status(judgement), judgement)
            for heading, judgement in self.judgements.items()
        ]

    @property
    def status(self) -> str:
        """The most severe status of all criteria; "none" without limits."""
        statuses = (status for _, status, _ in self.verdicts)
        return verdict.find_most_severe(statuses) or "none"

    @property
    def passed(self) -> bool:
        """Whether there are limits and all pass."""
        limited = [
            judgement
            for _, status, judgement in self.verdicts
            if status != "none"
        ]
        return (
            bool(limited)
            and all(judgement.passed for judgement in limited)
            and all(result.success for result in self.sla_results)
        )

    @property
    def headline(self) -> str:
        """The verdicts as one line of text."""
        return "; ".join(
            [
                judgement.headline()
                if status != "none"
                else "figures without limits"
                for _, status, judgement in self.verdicts
            ]
            + [
                result.sentence()
                for result in self.sla_results
                if not result.success
            ]
        )

    @property
    def findings(self) -> tuple[finding.RunFinding, ...]:
        """The findings of all criteria without duplicates, a tuple."""
        findings = [
            run_finding
            for _, _, judgement in self.verdicts
            for run_finding in judgement.findings
        ]
        return tuple(dict.fromkeys(findings))

    @property
    def emulated(self) -> bool:
        """Whether any guest ran under emulation instead of KVM."""
        return self.has_finding("emulated_guest")

    def has_finding(self, kind: str) -> bool:
        """Return whether the run has a finding of a kind."""
        return any(
            run_finding.finding.kind == kind for run_finding in self.findings
        )

    @property
    def size(self) -> str:
        """The size of a guest as text: its flavor or its number of CPUs."""
        for flavor in self.flavors:
            return flavor
        return units.number_of("CPU", self.last.shape.vcpus)

    @property
    def flavors(self) -> list[str]:
        """The names of the guests' flavors, a list without duplicates."""
        names: dict[str, None] = {}
        for guest in self.of_role("guest"):
            flavor = guest.nova.get("flavor")
            if isinstance(flavor, collections.abc.Mapping) and flavor:
                name = flavor.get("name") or flavor.get("id", "")
                names[str(name)[:_MAX_NAME_CHARACTERS]] = None
        return list(names)

    def of_role(self, role: str) -> list[model.DescribedMachine]:
        """Return the machines that have a role, as a list."""
        return [machine for machine in self.machines if machine.role == role]

    def describe(self) -> str:
        """Return the title of the run as text."""
        number = len(self.of_role("guest")) or self.last.shape.copies
        return f"{self.size}, {units.number_of('guest', number)}"


def _status(judgement: summary.Judgement) -> str:
    """Return the status of a judgement; "none" without limits."""
    has_limits = (
        judgement.limited or judgement.unmatched or judgement.not_judged
    )
    measured = any(row.measured for row in judgement.rows)
    return judgement.status if has_limits or not measured else "none"
