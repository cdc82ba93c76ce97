"""A question and the criteria of its runs."""

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

Assignments = tuple[assignment.Assignment, ...]


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
    check: "t.Callable[[task.Task, ParsedCriterion, t.Any], None]" = (
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


@dataclasses.dataclass(frozen=True, kw_only=True)
class Question:
    """A question that tasks measure guests for.

    :param name: The name in records.
    :param scenario: The name of the Rally scenario.
    :param title: The title of the chart of results.
    :param criteria: The criteria for its runs; the first is the main one.
        The table adds those for the runs of every question.
    :param contexts: The names of the required contexts without platform.
    :param check: A function that raises ``InvalidTask`` if a task cannot be
        run, and returns warnings.
    :param copies: A function that returns the numbers of guests per host that
        run concurrently, in order.
    :param compared: A function that returns the numbers of bare-metal copies
        that the verdict requires.
    :param minutes: A function that returns the estimated duration in
        minutes, boot included.
    :param run: A function that returns a run for a request and the arguments
        of the scenario that only this question has.
    :param section: A function that returns the section of the report.
    :param describe: A function that returns the title of a run.
    :param remark: A function that returns sentences on a judged run.
    :param defaults: A function that returns the defaults of arguments that
        depend on other arguments or on the number of repetitions.
    :param unmeasured_workloads: A function that returns the workloads that a
        task with these arguments runs, but does not measure.
    :param one_host: A function that returns whether the guests of a task
        without placement options must share a host.
    :param guest_options: A function that returns the options of vmperf_guests
        from the arguments of the scenario and the options in the task.
    :param sequential: A flag that groups of guests that do not fit together
        boot one after another.
    :param request_options: A function that returns further options of the
        request for the guests of a task.
    """

    name: str
    scenario: str
    title: str
    criteria: tuple[Criterion, ...]
    contexts: tuple[str, ...]
    check: t.Callable[[task.Task], list[str]]
    copies: t.Callable[[task.Task], tuple[int, ...]]
    compared: t.Callable[[task.Task], tuple[int, ...]]
    minutes: t.Callable[[task.Task], int]
    run: "t.Callable[[run_request.RunRequest, documents.Arguments], runs.Run]"
    section: "t.Callable[[], reports.Section[t.Any]]"
    one_host: t.Callable[[task.Task], bool] = lambda subtask: False
    guest_options: t.Callable[
        [documents.Arguments, documents.Arguments], documents.Arguments
    ] = lambda arguments, options: options
    sequential: bool = False
    request_options: t.Callable[[task.Task], dict[str, t.Any]] = (
        lambda subtask: {}
    )
    describe: t.Callable[[judged_run.JudgedRun], str] = (
        judged_run.JudgedRun.describe
    )
    remark: t.Callable[[judged_run.JudgedRun], list[str]] = lambda run: []
    defaults: task.Defaults = lambda arguments, times: {}
    unmeasured_workloads: t.Callable[[documents.Arguments], Assignments] = (
        lambda arguments: ()
    )

    def create_run(
        self, subtask: task.Task, environment: "run_request.RunEnvironment"
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
        return self.run(request, subtask.question_arguments)

    def list_flags(self, subtask: task.Task) -> dict[str, t.Any]:
        """Return the flags of the request for the guests of a task."""
        return {
            "one_host": self.one_host(subtask),
            "sequential": self.sequential,
            **self.request_options(subtask),
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
