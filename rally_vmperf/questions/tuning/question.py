# SPDX-License-Identifier: Apache-2.0
"""The question of the gain or loss of other settings."""

import collections.abc
import dataclasses
import difflib
import types
import typing as t

from rally_vmperf import documents
from rally_vmperf.execution import estimate
from rally_vmperf.execution.stations import open_files
from rally_vmperf.judging import axis
from rally_vmperf.judging import judge
from rally_vmperf.judging import judged_run
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task
from rally_vmperf.questions.overhead import question as overhead
from rally_vmperf.questions.tuning import variants
from rally_vmperf.questions.tuning.section import self_check

if t.TYPE_CHECKING:
    from rally_vmperf.report import reports
    from rally_vmperf.runs import run_request
    from rally_vmperf.runs import runs


def _check_variants(subtask: variants.Task) -> None:
    """Reject variants that are not valid, or that cannot be compared."""
    arguments = subtask.arguments
    names = variants.list_names(arguments.variants)
    for name in names:
        if names.count(name) > 1:
            raise task.InvalidTask(
                f"variants: {name!r} is the name of {names.count(name)} "
                "variants; each name must be unique"
            )
    reference = arguments.reference
    if reference is not None and reference not in names:
        raise task.InvalidTask(
            f"reference={reference!r:.80}: must be the name of a variant "
            f"({', '.join(names)})"
        )


def _check_guests(subtask: variants.Task) -> None:
    """Reject options by which guests of variants are on different hosts."""
    options = subtask.guests
    if options.get("hosts"):
        raise task.InvalidTask(
            "hosts: variants are compared on one host; set host"
        )
    server_group = options.get("server_group") or ""
    if server_group.endswith("anti-affinity"):
        raise task.InvalidTask(
            f"server_group={server_group}: variants are compared on one "
            "host; use affinity, or remove it"
        )
    for variant in subtask.arguments.variants:
        for key in ("host", "aggregate"):
            placed = [
                option
                for option in ("host", "aggregate", "server_group")
                if options.get(option)
            ]
            if variant.get(key) and placed:
                raise task.InvalidTask(
                    f"variants: {variant['name']}: {key} contradicts "
                    f"{placed[0]} of vmperf_guests; remove one of them"
                )
        if variant.get("network") and options.get("networks"):
            raise task.InvalidTask(
                f"variants: {variant['name']}: network contradicts networks "
                "of vmperf_guests; remove one of them"
            )


def _suggest(name: str) -> str:
    """Return the known name that is most similar as text, or ""."""
    close = difflib.get_close_matches(name, variants.KNOWN_PROPERTIES, 1)
    return f"; did you mean {close[0]}?" if close else ""


_ByVariant = t.Annotated[
    collections.abc.Mapping[str, judge.ByPattern] | None,
    {
        "minProperties": 1,
        "additionalProperties": {
            "type": "object",
            "minProperties": 1,
            "propertyNames": {"type": "string"},
            "additionalProperties": {"type": "number"},
        },
    },
]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Options(judge.GuestOptions):
    """The options of vmperf_tuning.

    :param min_gain_percent: Variant -> metric or glob -> smallest tolerated
        gain over the reference in percent; positive if the variant is better.
    :param max_loss_percent: Variant -> metric or glob -> largest tolerated
        loss against the reference in percent; positive if the variant is
        worse.
    """

    min_gain_percent: _ByVariant = None
    max_loss_percent: _ByVariant = None


class Criterion(question.Criterion):
    """Limits on the gain of variants over their reference, in percent."""

    name = "vmperf_tuning"
    heading = "Tuning"
    rules = axis.VARIANTS.rules
    options = Options
    limits = types.MappingProxyType(
        {"min_gain_percent": ("ratio",), "max_loss_percent": ("ratio",)}
    )
    is_by_variant = True

    def check(
        self,
        subtask: variants.Task,
        parsed: question.ParsedCriterion,
        baseline: t.Any,
    ) -> None:
        """Reject limits for unknown variants or for the reference."""
        reference = subtask.arguments.get_reference()
        names = variants.list_names(subtask.arguments.variants)
        for variant, by_option in parsed.by_variant.items():
            for option in by_option:
                key_path = f"sla {self.name} {option}"
                if variant not in names:
                    raise task.InvalidTask(
                        f"{key_path}: {variant!r} is not a variant of this "
                        f"task ({', '.join(names)})"
                    )
                if variant == reference:
                    raise task.InvalidTask(
                        f"{key_path}: {variant!r} is the reference, which has "
                        "no gain over itself; set a limit for another variant"
                    )

    def check_limits(
        self, parsed: question.ParsedCriterion, metrics: task.Metrics
    ) -> None:
        """Reject limits that every figure, or no figure, would exceed."""
        for variant, by_option in parsed.by_variant.items():
            for metric in metrics:
                if metric.scale == "ratio":
                    _check_bound(variant, by_option, metric, metrics)


TUNING = Criterion()


def _check_bound(
    variant: str,
    by_option: verdict.LimitsByOption,
    metric: sample.Metric,
    metrics: task.Metrics,
) -> None:
    """Reject the limits of a variant that a metric always or never meets."""
    names = [metric.name for metric in metrics if metric.scale == "ratio"]
    matches = {
        option: match
        for option in TUNING.limits
        if (match := by_option[option].for_metric(metric.name, names))
    }
    if len(matches) > 1:
        pairs = [f"{option} {matches[option][1]!r}" for option in matches]
        raise task.InvalidTask(
            f"sla {TUNING.name}: {variant} has {' and '.join(pairs)} for "
            f"{metric.name}; remove one of them"
        )
    for option, (limit, pattern) in matches.items():
        change = "gain" if option.startswith("min") else "lose"
        # A rate cannot lose all, a time cannot become less than zero.
        is_bounded = (metric.better == "higher") == (change == "lose")
        if limit >= 100 and is_bounded:
            raise task.InvalidTask(
                f"sla {TUNING.name} {option} {variant}: {pattern!r} is "
                f"{limit:g}, but {metric.name} cannot {change} 100 % or "
                "more; set a smaller limit"
            )


CRITERIA = (TUNING, overhead.OVERHEAD, overhead.SPREAD)


class Tuning(question.Question[variants.Arguments]):
    """Gain of guests with other settings; an iteration has all variants."""

    name = "tuning"
    scenario = "VMPerf.tuning"
    title = "Gain of settings"
    arguments = variants.Arguments
    criteria = CRITERIA
    is_sequential = True

    def check(self, subtask: variants.Task) -> list[str]:
        """Reject a task that cannot be run; return warnings as a list."""
        arguments = subtask.arguments
        _check_variants(subtask)
        _check_guests(subtask)
        listed = arguments.variants
        open_files.allow_files(subtask.count * len(listed))
        warnings = [
            f"variants: {variant['name']}: Nova does not document {name!r}, "
            f"and ignores unknown names{_suggest(name)}"
            for variant in listed
            for name in variants.find_unknown_properties(variant)
        ]
        equal = self_check.find_equal(
            [
                variants.create_group(variant, subtask.guests)
                for variant in listed
            ]
        )
        warnings += [
            f"variants: {name} is equal to {other}: they differ by their "
            "boots only"
            for name, other in equal.items()
        ]
        counted = subtask.times - subtask.warmup
        if arguments.order == "blocks" and counted % len(listed):
            warnings.append(
                f"order=blocks: {counted} counted repetitions are not a "
                f"multiple of {len(listed)} variants, so that drift affects "
                "some variants slightly more than others; change times of the "
                "runner"
            )
        if not variants.have_one_host(listed):
            warnings.append(
                "variants: guests on several hosts also differ in their "
                "hardware (finding variant_host_differs)"
            )
        return warnings

    def list_compared_copies(self, subtask: variants.Task) -> tuple[int, ...]:
        """Return the numbers of bare-metal copies that a verdict requires."""
        if overhead.OVERHEAD.name in subtask.criteria:
            return self.list_copies(subtask)
        return ()

    def needs_one_host(self, subtask: variants.Task) -> bool:
        """Return whether no variant selects hardware of its own."""
        return variants.have_one_host(subtask.arguments.variants)

    def create_guest_options(
        self, subtask: variants.Task
    ) -> documents.Arguments:
        """Return the options of guests with one group for each variant."""
        return variants.create_guest_options(subtask.arguments, subtask.guests)

    def estimate_minutes(self, subtask: variants.Task) -> int:
        """Return the estimated duration of a task in minutes."""
        number = len(subtask.arguments.variants)
        conditions = number * subtask.times
        boots = subtask.count_reboots(number)
        if subtask.sequential:
            between_workloads = subtask.protocol.reboot == "between_workloads"
            boots = boots + 1 - conditions if between_workloads else 0
        elif subtask.arguments.idle_guests == "stopped":
            boots += conditions
        return estimate.estimate_minutes(
            subtask.assignments,
            subtask.times,
            number,
            boots,
            new_guests=conditions if subtask.sequential else 0,
        )

    def start(
        self, request: "run_request.RunRequest", arguments: variants.Arguments
    ) -> "runs.Run":
        """Return the run of a task, ready to start."""
        from rally_vmperf.questions.tuning import run

        return run.create_run(request, arguments)

    def describe(self, run: judged_run.JudgedRun) -> str:
        """Return the title of a run as text: size and number of variants."""
        number = len(run.last.options.get("variants") or ())
        return f"{run.size}, {units.number_of('variant', number)}"

    def list_remarks(self, run: judged_run.JudgedRun) -> list[str]:
        """Return sentences on a judged run."""
        return self_check.list_remarks(run)

    def get_section(self) -> "reports.Section[t.Any]":
        """Return the section of the HTML report for runs of tuning."""
        from rally_vmperf.questions.tuning.section import ranking

        return ranking.SECTION


QUESTION = Tuning()
