"""Command that shows the requirements of a task."""

import argparse
import dataclasses
import typing as t

from rally_vmperf.baseline import document
from rally_vmperf.cmd import base
from rally_vmperf.cmd import rally_api
from rally_vmperf.cmd import task_file
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement.comparison import needed
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units
from rally_vmperf.questions import checks
from rally_vmperf.questions.common import task as tasks
from rally_vmperf.questions.overhead import question as overhead
from rally_vmperf.runs import reference

_COLUMNS = ("Subtask", "What", "Needed", "Room", "Of")


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
        parser.add_argument("task", metavar="TASK", help="task file")
        task_file.add_arguments(parser)
        parser.add_argument(
            "--env", help="Rally environment; default: the current environment"
        )

    def take_action(self, parsed: argparse.Namespace) -> t.Any:
        """Return columns and one row per resource that the task requires."""
        from rally_vmperf.guests.planning import plan

        workloads = task_file.read_task(parsed.task, parsed)
        platform = rally_api.get_platform(parsed.env)
        rows: list[tuple[t.Any, ...]] = []
        for workload, question in workloads:
            guests_plan = plan.create_plan_from_options(
                {"env": {"platforms": {"openstack": platform}}},
                question.guest_options(workload.arguments, workload.guests),
                has_networks="network" not in workload.contexts,
                **question.list_flags(workload),
            )
            requirements = guests_plan.requirements
            rows += [
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
                workload,
                vcpus=flavor.vcpus,
                sequential=guests_plan.sequential,
            )
            minutes = question.minutes(workload)
            rows.append((workload.title, "minutes, about", minutes, "", ""))
            remarks = list(requirements.remarks)
            if sentence := workload.protocol.describe_auto(workload.times):
                remarks.append(sentence)
            problems = [requirements.error] if requirements.error else []
            baselines = rally_api.open_baseline_store(parsed.config_file)
            try:
                checks.check_task(workload, question, baselines)
                for copies in question.compared(workload):
                    if workload.baseline is None:
                        continue
                    baseline = baselines.find(workload.baseline)
                    shape = document.Shape(
                        flavor.vcpus, flavor.memory_mib, copies
                    )
                    checks.check_reference(workload, question, baseline, shape)
                    remarks += _describe_sessions(workload, shape, baseline)
                    rows += _list_distances(workload, shape, baseline, remarks)
            except checks.REQUEST_ERRORS as error:
                problems.append(str(error))
            if problems:
                remarks += [f"rejected: {problem}" for problem in problems]
                self.code = 1
            for remark in remarks:
                self.warn(f"{workload.title}: {remark}")
        return _COLUMNS, rows


def _describe_sessions(
    task: tasks.Task, shape: document.Shape, baseline: document.Baseline
) -> list[str]:
    """Return sentences on sides of a comparison with too few boots."""
    sentences = []
    if task.protocol.reboot == "never":
        sentences.append(
            "reboot=never: the result is that of one boot of the guests "
            "(finding interval_one_session)"
        )
    entries = reference.find_entries(baseline, task.assignments, shape)
    boots = min(entry.reference.boot_count for entry in entries)
    if boots < statistics.FEWEST:
        sentences.append(
            f"baseline {baseline.name} has "
            f"{units.number_of('session', boots)} (finding "
            "interval_one_session); to add one on another day: rally-vmperf "
            f"baseline record {baseline.name} --append"
        )
    return sentences


def _list_distances(
    task: tasks.Task,
    shape: document.Shape,
    baseline: document.Baseline,
    remarks: list[str],
) -> list[tuple[t.Any, ...]]:
    """Return a row for the distance from each limit of overhead.

    A guest that keeps this distance, in points of percent, passes in 4 of 5
    runs if it varies as the baseline does.

    :param remarks: The remarks on the task, to which others are added.
    :raises BaselineError: If the baseline does not cover the task.
    """
    criterion = overhead.OVERHEAD.parse(
        task.criteria.get(overhead.OVERHEAD.name, {})
    )
    percent = criterion.limits["max_percent"]
    if not percent:
        return []
    names = [metric.name for metric in task.metrics]
    guest = task.times - task.warmup
    rows: list[tuple[t.Any, ...]] = []
    rules: list[str] = []
    entries = reference.find_entries(baseline, task.assignments, shape)
    for assigned, entry in zip(task.assignments, entries, strict=True):
        for metric in assigned.workload.metrics(assigned.arguments):
            name = assigned.rename(metric.name)
            limited = percent.for_metric(name, names)
            if metric.scale == "count" or not limited:
                continue
            values = gathering.geometric_means(
                gathering.bare_metal_samples(metric, entry.reference)
            )
            distance, sentences = _find_distance(
                dataclasses.replace(metric, name=name),
                limited[0],
                [*values],
                guest,
                criterion.options.get("confidence", 0.95),
            )
            rules += sentences
            if distance is not None:
                what = f"% from the limit of {name}"
                origin = f"baseline {baseline.name}"
                rows.append(
                    (task.title, what, round(distance, 2), limited[0], origin)
                )
    remarks += dict.fromkeys(rules)
    return rows


def _find_distance(
    metric: sample.Metric,
    limit: float,
    means: list[float],
    guest: int,
    confidence: float,
) -> tuple[float | None, list[str]]:
    """Return the distance to keep from a limit or None, and sentences.

    :param means: The means of bare metal, one per repetition.
    :param guest: The number of repetitions of guests.
    """
    multiple = needed.decidable_distance(len(means), guest, confidence)
    counts = (
        f"with {len(means)} repetitions of bare metal and {guest} of guests"
    )
    if multiple is None:
        least = f"at least {statistics.FEWEST} of each are required"
        return None, [f"{counts}, no limit decides: {least}"]
    sentences = [
        f"{counts}, a guest passes in 4 of 5 runs if it keeps {multiple:.1f} "
        "times the noise of the baseline from its limit"
    ]
    distance = needed.distance_from_limit(metric, limit, multiple, means)
    if distance > limit:
        sentences.append(
            f"{metric.name}: even a guest without loss passes in less than 4 "
            "of 5 runs; measure for longer, add repetitions on both sides, or "
            "increase the limit"
        )
    return distance, sentences
