"""A question and the criteria of its runs."""

import abc
import collections.abc
import dataclasses
import functools
import typing as t

from rally_vmperf import documents
from rally_vmperf import json_schema
from rally_vmperf.execution import assignment
from rally_vmperf.judging import judge
from rally_vmperf.judging import judged_run
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import limits
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.samples import sample
from rally_vmperf.questions.common import task

if t.TYPE_CHECKING:
    from rally_vmperf.report import reports
    from rally_vmperf.runs import run_request
    from rally_vmperf.runs import runs

#: Limits by the name of their criterion.
Criteria = task.Sections

# Criteria have a property with the name of this module.
_Judge = judge.Judge


def build_limits(description: str = "", **bounds: t.Any) -> documents.Schema:
    """Return the JSON Schema of limits that are set by metric name."""
    return json_schema.values(
        json_schema.number(**bounds),
        description and f"Metric or glob -> {description}",
        minProperties=1,
        propertyNames=json_schema.text(),
    )


#: The kinds of findings.
KINDS = json_schema.array(
    json_schema.choice(sorted(finding.KINDS)), uniqueItems=True
)
#: Absolute limits on the values of guests, independent of the loss.
ABSOLUTE: documents.Schema = {
    "max": build_limits(
        "largest tolerated value in the guest, in the unit of the metric. For "
        "a count, such as retransmits, it applies to the worst guest in its "
        "worst repetition."
    ),
    "min": build_limits("smallest tolerated value in the guest; see max."),
}
#: The keys of relative and absolute limits, with the scales of metrics.
LOSS_AND_ABSOLUTE: dict[str, tuple[sample.Scale, ...]] = {
    "max_percent": ("ratio",),
    **dict.fromkeys(ABSOLUTE, ("ratio", "count")),
}
_COMMON = {
    "confidence": json_schema.number(
        "Confidence of the interval; default 0.95.",
        minimum=0.5,
        exclusiveMaximum=1,
    ),
    "on_inconclusive": json_schema.choice(
        ("fail", "pass"),
        "Result of a task if a limit is undecided; default fail.",
    ),
    "tolerate": {
        **KINDS,
        "description": "Kinds of findings that do not void samples.",
    },
}


#: The guest to which limits apply.
STATISTIC: documents.Schema = {
    "statistic": json_schema.choice(
        ("mean", "worst"),
        "Guest that the limits apply to: the mean or the worst guest; default "
        "mean. A count is always that of the worst guest.",
    )
}


def build_schema(
    properties: documents.Schema, **keywords: t.Any
) -> documents.Schema:
    """Return the JSON Schema of a criterion, common properties added."""
    return json_schema.closed_mapping({**properties, **_COMMON}, **keywords)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Criterion:
    """A criterion for the judgement of runs; an SLA in Rally.

    :param title: The description in lists of SLAs; one line.
    :param schema: The JSON Schema of the configuration.
    :param heading: The subject of the verdict in one word.
    :param rules: What its judge asks of a run.
    :param judge: A function that returns a judge from the limits and the
        other options, all optional.
    :param limits: The options with limits by metric, and the scales of the
        metrics that the limits apply to.
    :param is_by_variant: Whether these options have limits by variant.
    :param bounds: A function of the parsed options and the metrics. It raises
        ``InvalidTask`` if a limit always passes or always fails.
    :param metrics: The metrics that the limits apply to in addition to those
        of the task.
    :param convert: A function that returns the options with limits by metric
        in place of others; unchanged by default.
    :param selects: The conditions that it judges, by axis, as in
        ``Repetition.select``; all by default.
    :param fewest_repetitions: The number of counted repetitions without which
        no limit can pass.
    :param requires: The argument of the scenario without which it does not
        apply; empty if it always applies.
    :param baseline_option: A function that returns the parsed option that
        requires a baseline as text, or "".
    :param check: A function of the task, the parsed options and the baseline
        (or None). It raises ``InvalidTask`` if they do not match.
    """

    name: str
    title: str
    heading: str
    schema: documents.Schema
    limits: collections.abc.Mapping[str, tuple[sample.Scale, ...]]
    is_by_variant: bool = False
    bounds: "LimitCheck" = lambda parsed, metrics: None
    baseline_option: "t.Callable[[ParsedCriterion], str]" = lambda parsed: ""
    check: "t.Callable[[task.AnyTask, ParsedCriterion, t.Any], None]" = (
        lambda subtask, parsed, baseline: None
    )
    metrics: tuple[sample.Metric, ...] = ()
    convert: t.Callable[[documents.Arguments], documents.Arguments] = (
        lambda options: options
    )
    selects: repetition.Axes = dataclasses.field(default_factory=dict)
    rules: judge.Rules | None = None
    judge: t.Callable[..., _Judge] = _Judge
    fewest_repetitions: int = statistics.FEWEST
    requires: str = ""

    def __post_init__(self) -> None:
        rules = {"rules": self.rules} if self.rules else {}
        create = functools.partial(self.judge, selects=self.selects, **rules)
        object.__setattr__(self, "judge", create)

    def select(
        self, complete_repetition: repetition.Repetition
    ) -> repetition.Repetition:
        """Return a copy of a repetition with the judged conditions only."""
        return complete_repetition.select(**self.selects)

    def parse(self, options: documents.Arguments) -> "ParsedCriterion":
        """Return the criterion with options that match its schema."""
        options = self.convert(options)
        by_variant: dict[str, limits.LimitsByOption] = {}
        for option, scales in self.limits.items():
            patterns = options.get(option, {})
            by_part = patterns if self.is_by_variant else {"": patterns}
            for variant, by_pattern in by_part.items():
                by_option = by_variant.setdefault(
                    variant, limits.LimitsByOption()
                )
                by_option[option] = limits.Limits(by_pattern, scales)
        return ParsedCriterion(
            criterion=self,
            by_variant=by_variant,
            options={
                key: option
                for key, option in options.items()
                if key not in self.limits
            },
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class ParsedCriterion:
    """A criterion with the options of a task.

    :param by_variant: The limits of each variant by option; limits that are
        not by variant have an empty text as variant.
    :param options: The options without limits by metric.
    """

    criterion: Criterion
    by_variant: collections.abc.Mapping[str, limits.LimitsByOption]
    options: documents.Arguments

    @property
    def limits(self) -> limits.LimitsByOption:
        """The limits by option that are not by variant."""
        return self.by_variant.get("", limits.LimitsByOption())

    def create_judge(self) -> _Judge:
        """Return a judge with these limits and options."""
        is_by_variant = self.criterion.is_by_variant
        return self.criterion.judge(
            limits=self.by_variant if is_by_variant else self.limits,
            **self.options,
        )

    def check_limits(
        self, metrics: task.Metrics, *, may_be_unmatched: bool = False
    ) -> None:
        """Reject limits that match no metric, conflict or cannot fail.

        :param may_be_unmatched: Whether a limit may match no metric.
        :raises InvalidTask: If a limit is not valid for these metrics.
        """
        metrics = (*metrics, *self.criterion.metrics)
        for variant, by_option in self.by_variant.items():
            for option, option_limits in by_option.items():
                task.check_limits(
                    f"sla {self.criterion.name} {option} {variant}".rstrip(),
                    option_limits,
                    metrics,
                    may_be_unmatched=may_be_unmatched,
                )
        self.criterion.bounds(self, metrics)


#: Rejects limits that always pass or always fail for a metric.
LimitCheck = t.Callable[[ParsedCriterion, task.Metrics], None]


def create_limit_check(
    cannot_lose_all: t.Callable[[sample.Metric], bool] = (
        lambda metric: metric.better == "higher"
    ),
) -> LimitCheck:
    """Return a function that rejects limits that cannot fail.

    :param cannot_lose_all: A function that returns whether the loss of a
        metric is always less than 100 %, which is true for rates.
    """

    def check(parsed: ParsedCriterion, metrics: task.Metrics) -> None:
        """Reject limits that every figure, or no figure, would exceed."""
        ratios = [metric for metric in metrics if metric.scale == "ratio"]
        for option in ("max_percent", "max", "min"):
            option_limits = parsed.limits[option]
            names = option_limits.list_names(metrics)
            for metric in ratios:
                if not (match := option_limits.for_metric(metric.name, names)):
                    continue
                limit, pattern = match
                place = f"sla {parsed.criterion.name} {option}: {pattern!r}"
                if option != "max_percent" and limit <= 0:
                    raise task.InvalidTask(
                        f"{place} is {limit:g}, but {metric.name} is always "
                        "above zero; set a larger limit, or narrow the "
                        "pattern to counts"
                    )
                if (
                    option == "max_percent"
                    and limit >= 100
                    and cannot_lose_all(metric)
                ):
                    raise task.InvalidTask(
                        f"{place} is {limit:g}, but {metric.name} is compared "
                        "as a rate, which cannot lose more than 100 %; set a "
                        "smaller limit, or narrow the pattern"
                    )

    return check


class Question(abc.ABC, t.Generic[task.ArgumentsT]):
    """A question that tasks measure guests for.

    :cvar name: The name in records.
    :cvar scenario: The name of the Rally scenario.
    :cvar title: The title of the chart of results.
    :cvar arguments: The declaration of the arguments of the scenario.
    :cvar criteria: The criteria for its runs; the first is the main one. The
        table adds those for the runs of every question.
    :cvar is_sequential: Whether groups of guests that do not fit together boot
        one after another.
    :cvar needs_admin: Whether only an administrator can run it.
    """

    name: str
    scenario: str
    title: str
    arguments: type[task.ArgumentsT]
    criteria: tuple[Criterion, ...]
    is_sequential = False
    needs_admin = False

    def check(self, subtask: task.Task[task.ArgumentsT]) -> list[str]:
        """Reject a task that cannot be run; return warnings as a list.

        :raises InvalidTask: If arguments and guests contradict each other.
        """
        return []

    def list_copies(
        self, subtask: task.Task[task.ArgumentsT]
    ) -> tuple[int, ...]:
        """Return the numbers of guests per host that run concurrently."""
        return (subtask.count,)

    def list_compared_copies(
        self, subtask: task.Task[task.ArgumentsT]
    ) -> tuple[int, ...]:
        """Return the numbers of bare-metal copies that a verdict requires."""
        return ()

    @abc.abstractmethod
    def estimate_minutes(self, subtask: task.Task[task.ArgumentsT]) -> int:
        """Return the estimated duration in minutes, boot included."""

    @abc.abstractmethod
    def start(
        self,
        request: "run_request.RunRequest",
        arguments: task.ArgumentsT,
    ) -> "runs.Run":
        """Return a run for a request, ready to start."""

    @abc.abstractmethod
    def get_section(self) -> "reports.Section[t.Any]":
        """Return the section of the report."""

    def needs_one_host(self, subtask: task.Task[task.ArgumentsT]) -> bool:
        """Return whether guests without placement must share a host."""
        return False

    def create_guest_options(
        self, subtask: task.Task[task.ArgumentsT]
    ) -> documents.Arguments:
        """Return the options of vmperf_guests, with those of the question."""
        return subtask.guests

    def list_request_options(
        self, subtask: task.Task[task.ArgumentsT]
    ) -> dict[str, t.Any]:
        """Return further options of the request for the guests of a task."""
        return {}

    def list_unmeasured(
        self, subtask: task.Task[task.ArgumentsT]
    ) -> tuple[assignment.Assignment, ...]:
        """Return the workloads that a task runs, but does not measure."""
        return ()

    def describe(self, run: judged_run.JudgedRun) -> str:
        """Return the title of a run."""
        return run.describe()

    def list_remarks(self, run: judged_run.JudgedRun) -> list[str]:
        """Return sentences on a judged run."""
        return []

    def create_task(
        self, workload: documents.Arguments, title: str = ""
    ) -> task.Task[task.ArgumentsT]:
        """Return the task of a Rally workload.

        :param workload: The workload as parsed by Rally.
        :param title: The title of the subtask.
        :raises InvalidTask: If an argument is not valid.
        """
        return task.create_from_rally(
            workload, self.scenario, self.arguments, title
        )

    def create_run(
        self,
        subtask: task.Task[task.ArgumentsT],
        environment: "run_request.RunEnvironment",
    ) -> "runs.Run":
        """Return the run of a task, ready to start.

        :param environment: The guests, the baseline and the journal.
        """
        from rally_vmperf.runs import run_request

        booted = environment.booted
        protocol, warning = subtask.protocol.resolve_reboot(
            max((guest.ssh_seconds for guest in booted.guests), default=0),
            subtask.times,
        )
        if warning and not booted.sequential:
            environment.warn(warning)
        request = run_request.RunRequest(
            **vars(environment),
            question=self.name,
            times=subtask.times,
            warmup=subtask.warmup,
            workloads=subtask.workloads,
            peer=subtask.peer,
            control=subtask.control,
            protocol=protocol,
            criteria=subtask.criteria,
            tolerate=self.list_tolerated(subtask.criteria),
        )
        return self.start(request, subtask.arguments)

    def list_flags(
        self, subtask: task.Task[task.ArgumentsT]
    ) -> dict[str, t.Any]:
        """Return the flags of the request for the guests of a task."""
        return {
            "one_host": self.needs_one_host(subtask),
            "sequential": self.is_sequential,
            **self.list_request_options(subtask),
        }

    def list_tolerated(self, criteria: Criteria) -> frozenset[str]:
        """Return the kinds of findings that do not void a task's verdicts.

        They are those that a criterion tolerates by name, or because it does
        not compare guests with bare metal. A task without criteria has no
        verdict.
        """
        main, *_ = self.criteria
        if not any(criterion.name in criteria for criterion in self.criteria):
            return frozenset(finding.KINDS)
        return frozenset(
            kind
            for criterion in self.criteria
            if criterion is main or criterion.name in criteria
            for kind in criterion.parse(criteria.get(criterion.name, {}))
            .create_judge()
            .tolerate
        )


#: A question with arguments of its own.
AnyQuestion = Question[t.Any]
