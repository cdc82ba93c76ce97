# SPDX-License-Identifier: Apache-2.0
"""A question and the criteria of its runs."""

import abc
import collections.abc
import dataclasses
import functools
import inspect
import types
import typing as t

from rally_vmperf import declaration
from rally_vmperf import documents
from rally_vmperf.judging import judge
from rally_vmperf.judging import judged_run
from rally_vmperf.judging import summary
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import sample
from rally_vmperf.questions.common import task

if t.TYPE_CHECKING:
    from rally_vmperf.report import reports
    from rally_vmperf.runs import run_request
    from rally_vmperf.runs import runs

#: Limits by the name of their criterion.
Criteria = task.Sections


#: The keys of relative and absolute limits, with the scales of metrics.
LOSS_AND_ABSOLUTE: dict[str, tuple[sample.Scale, ...]] = {
    "max_percent": ("ratio",),
    "max": ("ratio", "count"),
    "min": ("ratio", "count"),
}
_NO_SELECTION: repetition.Axes = types.MappingProxyType({})


class Criterion:
    """A criterion for the judgement of runs; an SLA in Rally.

    The first line of the docstring describes it in lists of SLAs.

    :cvar name: The name of the SLA.
    :cvar heading: The subject of the verdict in one word.
    :cvar rules: What its judge asks of a run.
    :cvar options: The declaration of its options.
    :cvar limits: The options with limits by metric, and the scales of the
        metrics that the limits apply to.
    :cvar is_by_variant: Whether these options have limits by variant.
    :cvar selects: The conditions that it judges, by axis, as in
        ``Repetition.select``; all by default.
    :cvar fewest_repetitions: The number of counted repetitions without which
        no limit can pass.
    :cvar requires: The argument of the scenario without which it does not
        apply; empty if it always applies.
    """

    name: str
    heading: str
    rules: judge.Rules
    options: type[t.Any]
    limits: collections.abc.Mapping[str, tuple[sample.Scale, ...]]
    is_by_variant = False
    selects = _NO_SELECTION
    fewest_repetitions = statistics.FEWEST
    requires = ""

    @property
    def title(self) -> str:
        """The description in lists of SLAs; one line."""
        return (inspect.getdoc(self) or "").partition("\n")[0]

    @functools.cached_property
    def schema(self) -> documents.Schema:
        """The JSON Schema of the configuration, which has a limit."""
        schema = declaration.build_schema(self.options)
        limited = self.list_limit_options()
        if len(limited) < 2:
            return {**schema, "required": limited}
        return {**schema, "anyOf": [{"required": [key]} for key in limited]}

    def list_limit_options(self) -> list[str]:
        """Return the options of which the configuration needs one."""
        return [*self.limits]

    def list_figures(self, metrics: task.Metrics) -> task.Metrics:
        """Return the metrics with limits that a run has beside others.

        :param metrics: The metrics of the task.
        """
        return ()

    def convert(self, options: documents.Arguments) -> documents.Arguments:
        """Return the options, with limits by metric in place of others."""
        return options

    def check_limits(
        self, parsed: "ParsedCriterion", metrics: task.Metrics
    ) -> None:
        """Reject limits that always pass or always fail for a metric.

        :raises InvalidTask: If there is one.
        """

    def find_baseline_option(self, parsed: "ParsedCriterion") -> str:
        """Return the option that requires a baseline as text, or ""."""
        return ""

    def check(
        self,
        subtask: task.AnyTask,
        parsed: "ParsedCriterion",
        baseline: t.Any,
    ) -> None:
        """Reject options that do not match a task and its baseline.

        :param baseline: The baseline; None without one.
        :raises InvalidTask: If they do not match.
        """

    def list_warnings(self, subtask: task.AnyTask) -> list[str]:
        """Return warnings on a task that is valid, as a list of sentences."""
        return []

    def create_judge(
        self, limits: t.Any, options: judge.Options
    ) -> judge.Judge:
        """Return a judge with these limits and options."""
        return judge.Judge(self.rules, limits, options, self.selects)

    def select(
        self, complete_repetition: repetition.Repetition
    ) -> repetition.Repetition:
        """Return a copy of a repetition with the judged conditions only."""
        return complete_repetition.select(**self.selects)

    def parse(self, options: documents.Arguments) -> "ParsedCriterion":
        """Return the criterion with options that match its schema.

        :raises InvalidTask: If an option is unknown or not valid; a
            configuration without limits is accepted.
        """
        schema = declaration.build_schema(self.options)
        options = {key: value for key, value in options.items() if value != {}}
        task.check_schema(options, schema, f"sla {self.name}")
        converted = self.convert(options)
        by_variant: dict[str, verdict.LimitsByOption] = {}
        for option, scales in self.limits.items():
            patterns = converted.get(option, {})
            by_part = patterns if self.is_by_variant else {"": patterns}
            for variant, by_pattern in by_part.items():
                by_option = by_variant.setdefault(
                    variant, verdict.LimitsByOption()
                )
                by_option[option] = verdict.Limits(by_pattern, scales)
        return ParsedCriterion(
            criterion=self,
            by_variant=by_variant,
            options=self.options(**options),
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class ParsedCriterion:
    """A criterion with the options of a task.

    :param by_variant: The limits of each variant by option; limits that are
        not by variant have an empty text as variant.
    """

    criterion: Criterion
    by_variant: collections.abc.Mapping[str, verdict.LimitsByOption]
    options: t.Any

    @property
    def limits(self) -> verdict.LimitsByOption:
        """The limits by option that are not by variant."""
        return self.by_variant.get("", verdict.LimitsByOption())

    @property
    def skips_unmeasured(self) -> bool:
        """Whether limits that nothing measures are not judged."""
        return bool(self.options.unmeasured == "skip")

    def list_unmeasured(
        self, subtask: task.AnyTask
    ) -> list[summary.NotJudged]:
        """Return the limits that a task does not measure, as a list."""
        without = (
            self.criterion.rules.bare_metal_option
            if subtask.baseline is None
            else ""
        )
        skipped = [
            metric.name
            for assigned in subtask.skipped
            for metric in assigned.metrics()
        ]
        return [
            limit
            for by_option in self.by_variant.values()
            for limit in judge.list_unmeasured(
                by_option,
                (
                    *subtask.metrics,
                    *self.criterion.list_figures(subtask.metrics),
                ),
                skipped,
                without,
            )
        ]

    def create_judge(self) -> judge.Judge:
        """Return a judge with these limits and options."""
        is_by_variant = self.criterion.is_by_variant
        return self.criterion.create_judge(
            self.by_variant if is_by_variant else self.limits, self.options
        )

    def check_limits(
        self, metrics: task.Metrics, *, may_be_unmatched: bool = False
    ) -> None:
        """Reject limits that match no metric, conflict or cannot fail.

        :param may_be_unmatched: Whether a limit may match no metric.
        :raises InvalidTask: If a limit is not valid for these metrics.
        """
        metrics = (*metrics, *self.criterion.list_figures(metrics))
        may_be_unmatched |= self.skips_unmeasured
        for variant, by_option in self.by_variant.items():
            for option, option_limits in by_option.items():
                task.check_limits(
                    f"sla {self.criterion.name} {option} {variant}".rstrip(),
                    option_limits,
                    metrics,
                    may_be_unmatched=may_be_unmatched,
                )
        self.criterion.check_limits(self, metrics)


def check_bounds(
    parsed: ParsedCriterion,
    metrics: task.Metrics,
    cannot_lose_all: t.Callable[[sample.Metric], bool] = (
        lambda metric: metric.better == "higher"
    ),
) -> None:
    """Reject limits that every figure, or no figure, would exceed.

    :param cannot_lose_all: A function that returns whether the loss of a
        metric is always less than 100 %, which is true for rates.
    :raises InvalidTask: If there is one.
    """
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
    """

    name: str
    scenario: str
    title: str
    arguments: type[task.ArgumentsT]
    criteria: tuple[Criterion, ...]
    is_sequential = False

    def check(self, subtask: task.Task[task.ArgumentsT]) -> list[str]:
        """Reject a task that cannot be run; return warnings as a list.

        :raises InvalidTask: If arguments and guests contradict each other.
        """
        return []

    def count_guests(self, subtask: task.Task[task.ArgumentsT]) -> int:
        """Return the number of guests that the arguments require.

        :raises InvalidTask: If the arguments are not valid.
        """
        return 1

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
    def get_section(self) -> "reports.Section[reports.RunReport]":
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

        If it needs the CPUs of hosts, the number of guests is not known yet.

        :param workload: The workload as parsed by Rally.
        :param title: The title of the subtask.
        :raises InvalidTask: If an argument is not valid.
        """
        created = task.create_from_rally(
            workload, self.scenario, self.arguments, title
        )
        return self._count_guests(created)

    def complete_task(
        self,
        subtask: task.Task[task.ArgumentsT],
        find_host_cpus: t.Callable[[], int],
    ) -> task.Task[task.ArgumentsT]:
        """Return a task with the CPUs of hosts, if it needs them.

        :param find_host_cpus: A function that returns their number.
        :raises InvalidTask: If an argument is not valid with it.
        """
        if not subtask.arguments.needs_host_cpus:
            return subtask
        arguments = subtask.arguments.with_host_cpus(find_host_cpus())
        return self._count_guests(
            dataclasses.replace(subtask, arguments=arguments)
        )

    def _count_guests(
        self, created: task.Task[task.ArgumentsT]
    ) -> task.Task[task.ArgumentsT]:
        """Return a task with the number of guests that it requires."""
        guests = created.contexts.get("vmperf_guests")
        if (
            not isinstance(guests, dict)
            or "count" in guests
            or created.arguments.needs_host_cpus
        ):
            return created
        guests = {**guests, "count": self.count_guests(created)}
        contexts = {**created.contexts, "vmperf_guests": guests}
        return dataclasses.replace(created, contexts=contexts)

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
            skipped=subtask.skipped,
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
