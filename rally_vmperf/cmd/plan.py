# SPDX-License-Identifier: Apache-2.0
"""Command that shows the requirements of a task."""

import argparse
import collections.abc
import dataclasses
import math
import typing as t

from rally_vmperf.baseline import document
from rally_vmperf.baseline import store
from rally_vmperf.cmd import base
from rally_vmperf.cmd import quick
from rally_vmperf.cmd import rally_api
from rally_vmperf.cmd import runs
from rally_vmperf.cmd import task_file
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement.comparison import needed
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units
from rally_vmperf.questions import checks
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task as tasks
from rally_vmperf.questions.overhead import question as overhead
from rally_vmperf.runs import reference

_COLUMNS = ("Subtask", "What", "Needed", "Room", "Of")
#: The number of boots or sessions of bare metal that decides well. Three have
#: two degrees of freedom: of 100 guests that lose half of their limit, 66 pass
#: instead of 97.
_ENOUGH_SESSIONS = 6
_DISTANCE_COLUMNS = (
    "Subtask",
    "Metric",
    "Distance in %",
    "Limit in %",
    "Noise of",
)


class Plan(base.Lister):
    """Show the guests, quota, hosts and minutes that a task requires.

    For each limit of overhead, the distance that a guest must keep from it to
    pass in 4 of 5 runs is printed, from the noise of the baseline.

    No guest is booted. If the task would be rejected before the first boot,
    the reason is printed, and the exit code is 1. The capacity of the hosts
    is printed only if Rally's environment has an admin.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        add_task_arguments(parser)

    def take_action(self, parsed: argparse.Namespace) -> t.Any:
        """Return columns and one row per resource that the task requires."""
        source = task_file.describe_source(parsed.task, parsed)
        planned = create_plan(parsed)
        self.code = 1 if planned.is_rejected else 0
        if parsed.formatter == "table":
            self.print_line(f"task: {source}")
            self.print_line(f"duration: about {planned.minutes} minutes")
        for remark in planned.remarks:
            self.warn(remark)
        self._distances = planned.distances
        rows = list(planned.rows)
        if parsed.formatter != "table":
            rows += [
                (title, f"% from the limit of {metric}", *others)
                for title, metric, *others in planned.distances
            ]
        return _COLUMNS, rows

    def produce_output(
        self,
        parsed_args: argparse.Namespace,
        column_names: collections.abc.Sequence[str],
        data: collections.abc.Iterable[collections.abc.Iterable[t.Any]],
    ) -> int:
        """Print the requirements, and then the distances from limits."""
        code = super().produce_output(parsed_args, column_names, data)
        if self._distances and parsed_args.formatter == "table":
            super().produce_output(
                parsed_args, _DISTANCE_COLUMNS, self._distances
            )
        return code


def add_task_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for a task and its environment."""
    parser.add_argument(
        "task",
        metavar="TASK",
        nargs="?",
        help="task file, or the name of a task of the package, such as "
        "kvm-density.yaml; default: the task in the settings",
    )
    task_file.add_arguments(parser)
    quick.add_argument(parser)
    runs.add_limits(parser, "task")
    parser.add_argument(
        "--env", help="Rally environment; default: the current environment"
    )


@dataclasses.dataclass(kw_only=True)
class TaskPlan:
    """The plan of all subtasks of a task.

    :param rows: The required resources, rows of the table.
    :param distances: The distances from limits, rows of the second table.
    :param remarks: The remarks, each with the title of its subtask.
    :param minutes: The duration of all subtasks in minutes.
    :param is_rejected: A flag that the task would be rejected.
    """

    rows: list[tuple[t.Any, ...]] = dataclasses.field(default_factory=list)
    distances: list[tuple[t.Any, ...]] = dataclasses.field(
        default_factory=list
    )
    remarks: list[str] = dataclasses.field(default_factory=list)
    minutes: int = 0
    is_rejected: bool = False


def create_plan(parsed: argparse.Namespace) -> TaskPlan:
    """Return the plan of a task; no guest is booted."""
    workloads = task_file.read_task(parsed.task, parsed)
    platform = rally_api.get_platform(parsed.env)
    baselines = rally_api.open_baseline_store(parsed.config_file)
    task_plan = TaskPlan()
    for workload, task_question in workloads:
        _add_subtask(task_plan, workload, task_question, platform, baselines)
    return task_plan


def _add_subtask(
    task_plan: TaskPlan,
    workload: tasks.AnyTask,
    task_question: question.AnyQuestion,
    platform: rally_api.Platform,
    baselines: store.Store,
) -> None:
    """Add the requirements of a subtask to the plan of its task."""
    from rally_vmperf.guests.planning import compute_hosts
    from rally_vmperf.guests.planning import plan

    context = {"env": {"platforms": {"openstack": platform}}}
    workload = task_question.complete_task(
        workload,
        lambda: compute_hosts.find_cpu_count(context, workload.guests),
    )
    guests_plan = plan.create_plan_from_options(
        context,
        task_question.create_guest_options(workload),
        has_networks="network" not in workload.contexts,
        **task_question.list_flags(workload),
    )
    requirements = guests_plan.requirements
    task_plan.rows += [
        (
            *(workload.title, row.resource, row.amount),
            "no limit known" if row.free is None else row.free,
            row.owner,
        )
        for row in requirements.rows
    ]
    demand, *_ = guests_plan.demands
    flavor = demand.flavor
    workload = dataclasses.replace(
        workload, vcpus=flavor.vcpus, sequential=guests_plan.sequential
    )
    minutes = task_question.estimate_minutes(workload)
    task_plan.minutes += minutes
    task_plan.rows.append((workload.title, "minutes, about", minutes, "", ""))
    remarks = list(requirements.remarks)
    if sentence := workload.protocol.describe_auto(workload.times):
        remarks.append(sentence)
    problems = [requirements.error] if requirements.error else []
    try:
        remarks += checks.check_task(workload, task_question, baselines)
        checks.check_space(workload, guests_plan.demands)
        for copies in task_question.list_compared_copies(workload):
            if workload.baseline is None:
                continue
            baseline = baselines.find(workload.baseline)
            shape = document.Shape(flavor.vcpus, flavor.memory_mib, copies)
            checks.check_reference(workload, task_question, baseline, shape)
            entries = reference.find_entries(
                baseline, workload.assignments, shape
            )
            remarks += _describe_sessions(workload, entries, baseline)
            task_plan.distances += _list_distances(
                workload, entries, baseline, remarks
            )
    except checks.REQUEST_ERRORS as error:
        problems.append(str(error))
    problems += _check_access(workload)
    if problems:
        remarks += [f"rejected: {problem}" for problem in problems]
        task_plan.is_rejected = True
    task_plan.remarks += [f"{workload.title}: {remark}" for remark in remarks]


def _check_access(task: tasks.AnyTask) -> list[str]:
    """Return why machines and files cannot be used, one line each.

    A run checks them in the same way before it boots guests.
    """
    from rally_vmperf.runs import guest_arrival
    from rally_vmperf.runs import runs as run_errors

    try:
        guest_arrival.check_access(task.guests, task.peer, task.control)
    except run_errors.RECORDED_ERRORS as error:
        return [str(error)]
    problems = []
    for peer, control in ((task.peer, None), (None, task.control)):
        try:
            guest_arrival.check_others(
                peer, control, task.assignments, lambda line: None
            )
        except run_errors.RECORDED_ERRORS as error:
            problems.append(str(error))
    return problems


def _describe_sessions(
    task: tasks.AnyTask,
    entries: list[document.BaselineEntry],
    baseline: document.Baseline,
) -> list[str]:
    """Return sentences on sides of a comparison with too few boots."""
    sentences = []
    if task.protocol.reboot == "never":
        sentences.append(
            "reboot=never: the result is that of one boot of the guests "
            "(finding interval_one_session)"
        )
    boots = min(entry.reference.boot_count for entry in entries)
    if boots < statistics.FEWEST:
        sentences.append(
            f"baseline {baseline.name} has "
            f"{units.number_of('session', boots)} (finding "
            "interval_one_session); to add one on another day: rally-vmperf "
            f"baseline record {baseline.name} --append"
        )
    elif boots < _ENOUGH_SESSIONS:
        sentences.append(_describe_few_sessions(task, boots, baseline.name))
    return sentences


def _describe_few_sessions(task: tasks.AnyTask, boots: int, name: str) -> str:
    """Return that few boots or sessions decide little, as a sentence.

    :param boots: Their number, at least three: each has one value in the
        interval.
    :param name: The name of the baseline.
    """
    counted = max(statistics.FEWEST, task.times - task.warmup)
    distance, enough = (
        needed.decidable_distance(number, counted)
        for number in (boots, _ENOUGH_SESSIONS)
    )
    factor = (distance or 0.0) / (enough or 1.0)
    return (
        f"baseline {name} has {boots} boots or sessions, which are as many "
        "values in the interval: three decide little, and six decide well "
        f"(a guest must keep {factor:.1f} times the distance from a limit "
        "that it needs with six); to add a session on another day: "
        f"rally-vmperf baseline record {name} --append"
    )


def _list_distances(
    task: tasks.AnyTask,
    entries: list[document.BaselineEntry],
    baseline: document.Baseline,
    remarks: list[str],
) -> list[tuple[t.Any, ...]]:
    """Return a row for the distance from each limit of overhead.

    A guest that keeps this distance, in points of percent, passes in 4 of 5
    runs if it varies as the baseline does.

    :param entries: The entries of the baseline for the workloads.
    :param remarks: The remarks on the task, to which others are added.
    """
    criterion = overhead.OVERHEAD.parse(
        task.criteria.get(overhead.OVERHEAD.name, {})
    )
    percent = criterion.limits["max_percent"]
    if not percent:
        return []
    names = [metric.name for metric in task.metrics]
    guest = task.times - task.warmup
    guests = task.count if criterion.options.statistic == "worst" else 1
    rows: list[tuple[t.Any, ...]] = []
    rules: list[str] = []
    for assigned, entry in zip(task.assignments, entries, strict=True):
        for metric in assigned.workload.metrics(assigned.arguments):
            name = assigned.rename(metric.name)
            limited = percent.for_metric(name, names)
            if metric.scale == "count" or not limited:
                continue
            distance, sentences = _find_distance(
                dataclasses.replace(metric, name=name),
                limited[0],
                gathering.bare_metal_samples(metric, entry.reference),
                guest,
                criterion.options.confidence,
                guests,
            )
            rules += sentences
            if distance is not None:
                origin = f"baseline {baseline.name}"
                rows.append(
                    (task.title, name, round(distance, 2), limited[0], origin)
                )
    remarks += dict.fromkeys(rules)
    hopeless = [
        name for _, name, distance, limit, _ in rows if distance > limit
    ]
    if hopeless:
        remarks.append(
            f"{units.number_of('metric', len(hopeless))}: even a guest "
            "without loss passes in less than 4 of 5 runs; measure for "
            "longer, add repetitions on both sides, or increase the limit: "
            f"{', '.join(hopeless)}"
        )
    return rows


def _find_distance(
    metric: sample.Metric,
    limit: float,
    bare_metal: gathering.Samples,
    guest: int,
    confidence: float,
    guests: int,
) -> tuple[float | None, list[str]]:
    """Return the distance to keep from a limit or None, and sentences.

    :param bare_metal: The samples of bare metal, per repetition.
    :param guest: The number of repetitions of guests.
    :param guests: The number of guests that must all pass; 1 if their mean is
        judged.
    """
    means = gathering.geometric_means(bare_metal)
    subject, noise_of = "a guest passes", "it keeps {} times the noise"
    sides = [[*means]]
    if guests > 1:
        subject = f"the worst of {guests} guests passes"
        noise_of = "each keeps {} times the noise of a copy"
        sides = [*gathering.list_means_by_source(bare_metal).values()]
    multiple = needed.decidable_distance(
        len(means), guest, confidence, guests, copies=len(sides)
    )
    counts = (
        f"with {len(means)} repetitions of bare metal and {guest} of guests"
    )
    if multiple is None:
        least = f"at least {statistics.FEWEST} of each are required"
        return None, [f"{counts}, no limit decides: {least}"]
    sentences = [
        f"{counts}, {subject} in 4 of 5 runs if "
        f"{noise_of.format(f'{multiple:.1f}')} of the baseline from its limit"
    ]
    variance = sum(map(statistics.variance, sides)) / len(sides)
    distance = needed.distance_from_limit(
        metric,
        limit,
        multiple,
        math.sqrt(variance),
        statistics.geometric_mean(means),
    )
    return distance, sentences
