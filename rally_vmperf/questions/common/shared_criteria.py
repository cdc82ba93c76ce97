# SPDX-License-Identifier: Apache-2.0
"""The criteria for the runs of every question: findings and promises."""

import collections
import collections.abc
import dataclasses
import types
import typing as t

from rally_vmperf import documents
from rally_vmperf.judging import judge
from rally_vmperf.judging import promise
from rally_vmperf.judging import summary as summary_
from rally_vmperf.judging.results import plausibility
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import rate_caps
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.questions.common import neighbours
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task

CriteriaOf = t.Callable[[str], collections.abc.Iterable[question.Criterion]]


@dataclasses.dataclass(frozen=True, kw_only=True)
class ValidityOptions:
    """The options of vmperf_valid.

    :param tolerate: Voiding findings that the run may have, including those
        that other SLAs tolerate.
    :param refuse: Warnings and notes that the run may not have.
    :param physical_limit: Metric or glob -> largest value that the machine
        can reach, in base units; a larger value of a guest or of bare metal
        is the finding above_physical_limit.
    """

    tolerate: judge.Kinds = ()
    refuse: judge.Kinds = ()
    physical_limit: t.Annotated[
        judge.ByPattern,
        {"additionalProperties": {"type": "number", "exclusiveMinimum": 0}},
    ] = None
    confidence: t.ClassVar = 0.95
    on_inconclusive: t.ClassVar = "fail"
    unmeasured: t.ClassVar = "reject"


_NAME = "vmperf_valid"


#: Other criteria judge figures, and collect their findings.
_RULES = judge.Rules(
    build=lambda run_judge, repetitions: [],
    find=lambda run_judge, repetitions, rows: (),
    uses_bare_metal=lambda run_judge: True,
)


class ValidityJudge(judge.Judge):
    """A judge of the findings of any question, with or without limits.

    The option with limits is ``physical_limit``, the largest value that the
    machine can reach, in base units.

    :param criteria_of: A function that returns the other criteria of a
        question from its name, the main one first.
    :ivar refuse: The kinds of other findings that the run may not have.
    """

    def __init__(
        self, criteria_of: CriteriaOf, limits: t.Any, options: ValidityOptions
    ) -> None:
        super().__init__(_RULES, limits, options)
        self._criteria_of = criteria_of
        self.refuse = frozenset(options.refuse) - self.tolerate

    def accepts(self, run_repetition: repetition.Repetition) -> bool:
        """Return whether its question's main judge accepts a repetition."""
        return any(
            question_judge.accepts(criterion.select(run_repetition))
            for criterion, question_judge in self._create_judges(
                run_repetition.question
            )[:1]
        )

    def _judge(self) -> summary_.Judgement:
        """Return the verdict computed from the repetitions so far."""
        summary, *others = self._judge_question() or [super()._judge()]
        repetitions, _ = gathering.merge_duplicates(self._repetitions)
        findings = dict.fromkeys(
            self._find_above_limits(repetitions, summary.omitted)
        )
        for judgement in (summary, *others):
            findings |= dict.fromkeys(judgement.findings)
        short_metrics = self._find_short_of_samples(findings, summary.omitted)
        refused = tuple(
            run_finding
            for run_finding in findings
            if run_finding.voids
            or (
                run_finding.finding.kind in self.refuse
                and not run_finding.omitted
            )
            or (
                run_finding.omitted
                and run_finding.finding.subject in short_metrics
            )
        )
        status: verdict.Status
        measured = any(row.measured for row in summary.rows)
        unmatched: tuple[str, ...] = ()
        if measured:
            names = gathering.metric_names(repetitions)
            unmatched = self.limits["physical_limit"].unmatched(names)
        if refused or not measured:
            status = "void"
        elif summary.missing or unmatched:
            status = "inconclusive"
        else:
            status = "passed"
        return summary_.Judgement(
            status=status,
            rows=(),
            missing=summary.missing,
            findings=tuple(findings),
            unmatched=unmatched,
            omitted=summary.omitted,
            confidence=self.options.confidence,
            on_inconclusive=self.options.on_inconclusive,
            refused=refused,
        )

    def _find_above_limits(
        self,
        repetitions: judge.Repetitions,
        omitted: collections.abc.Container[int],
    ) -> tuple[finding.RunFinding, ...]:
        """Return findings on values above the physical limits, a tuple.

        :param omitted: The numbers of void repetitions.
        """
        judged = [
            run_repetition
            for run_repetition in repetitions
            if run_repetition.counted and run_repetition.number not in omitted
        ]
        above = plausibility.above_physical_limit(
            judged, self.limits["physical_limit"]
        )
        return finding.collect(
            ((occurrence, None) for occurrence in above), self.tolerate
        )

    def _find_short_of_samples(
        self,
        findings: collections.abc.Iterable[finding.RunFinding],
        void: collections.abc.Collection[int],
    ) -> set[str]:
        """Return the names of metrics with too few samples, as a set.

        :param void: The numbers of void repetitions.
        """
        numbers = {
            run_repetition.number
            for run_repetition in self._repetitions
            if run_repetition.counted
        } - {*void}
        lost: dict[str, set[int]] = collections.defaultdict(set)
        for run_finding in findings:
            reported_finding = run_finding.finding
            if (
                reported_finding.kind in finding.ABOUT_SAMPLES
                and run_finding.omitted
            ):
                lost[reported_finding.subject].update(run_finding.repetitions)
        return {
            subject
            for subject, lost_numbers in lost.items()
            if len(numbers - lost_numbers) < statistics.FEWEST
        }

    def _judge_question(self) -> list[summary_.Judgement]:
        """Return the judgements of the question as a list, main one first.

        Judges of conditions that the run does not have are left out.
        """
        names = sorted(
            {run_repetition.question for run_repetition in self._repetitions}
        )
        judgements: list[summary_.Judgement] = []
        judges = self._create_judges(names[0]) if names else []
        for criterion, question_judge in judges:
            selected = [*map(criterion.select, self._repetitions)]
            if judgements and not any(
                run_repetition.conditions
                and question_judge.accepts(run_repetition)
                for run_repetition in selected
            ):
                continue
            for run_repetition in selected:
                question_judge.add(run_repetition)
            question_judge.extend((), self._unreadable)
            judgements.append(question_judge.judgement())
        return judgements

    def _create_judges(
        self, question_name: str
    ) -> list[tuple[question.Criterion, judge.Judge]]:
        """Return each criterion of a question with a judge without limits."""
        criteria: dict[frozenset[t.Any], question.Criterion] = {}
        for criterion in self._criteria_of(question_name):
            criteria.setdefault(
                frozenset(criterion.selects.items()), criterion
            )
        return [
            (
                criterion,
                criterion.parse({"tolerate": [*self.tolerate]}).create_judge(),
            )
            for criterion in criteria.values()
        ]


class ValidityCriterion(question.Criterion):
    """Findings that a run may have, with or without limits.

    :param criteria_of: A function that returns the other criteria of a
        question from its name, the main one first.
    """

    name = _NAME
    heading = "Validity"
    rules = _RULES
    options = ValidityOptions
    limits = types.MappingProxyType({"physical_limit": ("ratio", "count")})
    fewest_repetitions = 1

    def __init__(self, criteria_of: CriteriaOf) -> None:
        self._criteria_of = criteria_of

    def list_limit_options(self) -> list[str]:
        """Return no option: the configuration may be empty."""
        return []

    def create_judge(self, limits: t.Any, options: t.Any) -> judge.Judge:
        """Return a judge with these limits and options."""
        return ValidityJudge(self._criteria_of, limits, options)

    def check(
        self,
        subtask: task.AnyTask,
        parsed: question.ParsedCriterion,
        baseline: t.Any,
    ) -> None:
        """Reject tolerated findings of other SLAs that are not in this one."""
        for name, options in subtask.criteria.items():
            if not name.startswith("vmperf_"):
                continue
            for kind in options.get("tolerate", ()):
                if kind not in parsed.options.tolerate:
                    raise task.InvalidTask(
                        f"sla {_NAME}: {name} tolerates {kind}, which "
                        "still fails here; add it to tolerate of both, or "
                        f"remove {_NAME}"
                    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class PromiseOptions(judge.VerdictOptions):
    """The options of vmperf_promise.

    :param min_percent: Least share of a promised rate that each guest gets,
        in percent; it applies to limits and to guarantees.
    :param max_percent: Largest share of a limit that a guest gets after its
        burst, in percent: whether the limit is enforced.
    """

    min_percent: t.Annotated[
        float, {"exclusiveMinimum": 0, "maximum": 100}
    ] = 95
    max_percent: t.Annotated[float, {"minimum": 100}] = 110
    unmeasured: t.ClassVar = "reject"


#: The arguments of workloads with the number of requests or streams.
_CONCURRENCY = ("depth", "jobs", "processes", "streams", "connections")


def _describe_remedy(arguments: documents.Arguments) -> str:
    """Return the arguments that raise the number of requests, as a clause."""
    names = [name for name in _CONCURRENCY if name in arguments]
    return f"raise {' or '.join(names)}" if names else "add another workload"


class PromiseCriterion(question.Criterion):
    """Rates and sizes that flavor, volume type and port promise."""

    name = "vmperf_promise"
    heading = "Promise"
    rules = promise.RULES
    options = PromiseOptions
    limits = types.MappingProxyType({})
    selects = neighbours.WITHOUT

    def list_limit_options(self) -> list[str]:
        """Return no option: the configuration may be empty."""
        return []

    def list_warnings(self, subtask: task.AnyTask) -> list[str]:
        """Return the workloads that may not reach a promise by themselves."""
        return [
            f"sla {self.name}: workload {assigned.title} has one request or "
            "stream at a time, which may not reach a promised rate; "
            + _describe_remedy(assigned.arguments)
            for assigned in subtask.assignments
            if any(
                rate_caps.find_unit(metric)[0] for metric in assigned.metrics()
            )
            and all(
                assigned.arguments.get(name, 1) == 1 for name in _CONCURRENCY
            )
        ]

    def create_judge(self, limits: t.Any, options: t.Any) -> judge.Judge:
        """Return a judge with these options; the cloud has the limits."""
        return promise.PromiseJudge(self.rules, limits, options, self.selects)


#: The criterion for the runs of every question.
PROMISE = PromiseCriterion()
