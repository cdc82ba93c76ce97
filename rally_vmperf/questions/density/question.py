# SPDX-License-Identifier: Apache-2.0
"""The question of the degradation of guests that share a host."""

import collections.abc
import dataclasses
import types
import typing as t

from rally_vmperf import documents
from rally_vmperf import json_schema
from rally_vmperf.baseline import document
from rally_vmperf.execution import assignment
from rally_vmperf.execution import estimate
from rally_vmperf.guests import idle
from rally_vmperf.judging import counting
from rally_vmperf.judging import density
from rally_vmperf.judging import judged_run
from rally_vmperf.judging import run_capacity
from rally_vmperf.measurement.samples import units
from rally_vmperf.questions.common import neighbours
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task
from rally_vmperf.questions.density import levels
from rally_vmperf.questions.density import load as offered_load
from rally_vmperf.records import model

if t.TYPE_CHECKING:
    from rally_vmperf.report import reports
    from rally_vmperf.runs import run_request
    from rally_vmperf.runs import runs


# Arguments have a field with the name of this module.
_SoloGuest = levels.SoloGuest
#: JSON Schema of the stop rule of a task.
_STOP_SCHEMA = json_schema.closed_mapping(
    {
        "max_percent": json_schema.values(
            json_schema.number(),
            "Metric or glob -> loss of the mean guest against one guest, in "
            "percent, above which no guests are added.",
            minProperties=1,
            propertyNames=json_schema.text(),
        ),
        "total_falls": json_schema.flag(
            "Add no guests if the total rate of no metric rises."
        ),
    },
    minProperties=1,
)
_SEVERAL_GUESTS = "limit levels of 2 guests or more"
#: The options of guests that determine their hosts.
_PLACES = ("host", "hosts", "server_group", "aggregate")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Arguments(neighbours.Arguments, task.Arguments):
    """The arguments of VMPerf.density.

    :param levels: The numbers of guests on each host: a list such as
        [1, 2, 3], or {from: 1, to: 8}, or {doubling_to: 8}, or vCPUs per CPU
        such as {ratio: [0.5, 1, 2], host_cpus: 64, vcpus: 4}, rounded down to
        guests; an administrator can omit host_cpus, which Nova shows. All
        guests are booted once; a level uses some of them.
    :param order: The order of the levels. listed: the order in the task.
        shuffled: a random order in each repetition. blocks: in a block of as
        many repetitions as levels, each level runs once at each position.
        Default: shuffled; listed with a stop rule, which requires ascending
        levels.
    :param idle_guests: The state of guests that a level does not use: running,
        or paused or stopped by Nova. A stopped guest boots again before a
        level that uses it.
    :param solo_guest: The guest that runs at level 1. rotate: a different
        guest in each repetition. all: every guest of a host, one at a time,
        in every repetition. Limits on the worst guest require all.
    :param load: The load of guests that are not always busy: a share of the
        rate that a guest reaches alone, such as 0.3; or rates by the name or
        label of a workload, in the unit of its metric, such as {sysbench:
        285} or {fio: {randread: 900}}; or a list of either. Each workload
        runs once for each load. Shares require at least 3 warm-ups, which
        measure a guest at full speed. Default: full speed.
    :param stop: The condition that ends a curve: {max_percent: {metric or
        glob: percent}, total_falls: true}; requires ascending levels.
    :param warmup: The number of initial curves that are recorded but not
        counted. Default: 1; 0 with a stop rule or a single repetition; 3 with
        shares in load.
    :param neighbours: The guests that are not measured: {guests, workload:
        {name, arguments}}. Each host has this number of guests in addition to
        the largest level; each repetition measures each level with and
        without the workload in these guests.
    """

    levels: t.Annotated[list[int] | dict[str, t.Any], levels.SCHEMA]
    order: model.OrderKind | None = None
    idle_guests: idle.IdleState = "running"
    solo_guest: _SoloGuest = "rotate"
    load: t.Annotated[
        float | dict[str, t.Any] | list[t.Any] | None, offered_load.SCHEMA
    ] = None
    stop: t.Annotated[dict[str, t.Any] | None, _STOP_SCHEMA] = None

    def complete(self, times: int) -> t.Self:
        """Return the arguments with order, warm-ups and loaded workloads.

        A stop rule requires ascending levels, and uses every repetition.
        """
        order: model.OrderKind = "listed" if self.stop else "shuffled"
        warmup = 0 if self.stop else min(1, times - 1)
        workloads = self.workloads
        if self.load is not None:
            workloads = offered_load.expand(
                workloads, self.load, has_peer=bool(self.peer)
            )
        if self.has_shares:
            warmup = offered_load.CALIBRATIONS
        return dataclasses.replace(
            self,
            workloads=workloads,
            order=self.order or order,
            warmup=warmup if self.warmup is None else self.warmup,
        )

    @property
    def host_cpus(self) -> int | None:
        """The number of CPUs of a host, if levels are vCPUs per CPU.

        It is 0 or None if the task does not state it.
        """
        return self._get_ratio_option("host_cpus")

    @property
    def guest_vcpus(self) -> int | None:
        """The number of vCPUs of a guest, if levels are vCPUs per CPU."""
        return self._get_ratio_option("vcpus")

    @property
    def needs_host_cpus(self) -> bool:
        """Whether levels are a ratio of CPUs whose number is not stated."""
        is_ratio = isinstance(self.levels, dict) and "ratio" in self.levels
        return is_ratio and not self.host_cpus

    def with_host_cpus(self, number: int) -> t.Self:
        """Return the arguments with the CPUs of hosts in their levels."""
        levels = {**t.cast(dict[str, t.Any], self.levels), "host_cpus": number}
        return dataclasses.replace(self, levels=levels)

    def _get_ratio_option(self, key: str) -> int | None:
        """Return a number of levels that are vCPUs per CPU, else None."""
        return self.levels.get(key) if isinstance(self.levels, dict) else None

    @property
    def has_shares(self) -> bool:
        """Whether loads are shares of the full speed of a guest."""
        return self.load is not None and offered_load.has_shares(self.load)


Task = task.Task[Arguments]


def list_levels(subtask: Task) -> tuple[int, ...]:
    """Return the numbers of guests of a task as a tuple, in its order.

    :raises InvalidTask: If the levels are not valid.
    """
    return levels.expand_levels(subtask.arguments.levels)


def _count_per_host(subtask: Task) -> int:
    """Return the number of guests of the largest level, with neighbours."""
    neighbour_count: int = subtask.arguments.count_neighbours()
    return max(list_levels(subtask)) + neighbour_count


def list_limited_levels(
    subtask: Task, options: density.LevelOptions
) -> list[int]:
    """Return the numbers of guests that a criterion limits, as a list."""
    # A solo guest has no loss against itself, and shares no host.
    return density.list_limited(
        options, sorted(list_levels(subtask)), is_loss=True
    )


def _check_task(
    subtask: Task, unmeasured: collections.abc.Mapping[str, int]
) -> list[str]:
    """Reject levels, guests or stop rules in conflict; return warnings.

    :param unmeasured: The number of guests on each host that work without
        being measured, by title.
    :returns: The warnings, one sentence each.
    """
    counts = list_levels(subtask)
    vcpus = subtask.arguments.guest_vcpus
    if vcpus and subtask.vcpus and vcpus != subtask.vcpus:
        raise task.InvalidTask(
            f"levels: vcpus={vcpus}: the flavor has {subtask.vcpus} vCPUs"
        )
    _check_load(subtask)
    if subtask.arguments.solo_guest == "all":
        _check_solo_guest("solo_guest: all", subtask)
    warnings = _check_guests(subtask, max(counts), unmeasured)
    odd_levels = [number for number in counts if number % 2]
    if odd_levels and "partner" in assignment.required_endpoints(
        subtask.assignments
    ):
        raise task.InvalidTask(
            f"levels={list(counts)}: must be even for guest_to_guest, which "
            f"runs on pairs; {odd_levels[0]} is not"
        )
    _check_stop(subtask, counts)
    return warnings


def _check_load(subtask: Task) -> None:
    """Reject loads that cannot be offered, or not be calibrated."""
    arguments = subtask.arguments
    if arguments.load is None:
        return
    offered_load.check(subtask.assignments)
    least = offered_load.CALIBRATIONS
    if arguments.has_shares and subtask.warmup < least:
        raise task.InvalidTask(
            f"warmup={subtask.warmup}: must be at least {least} with shares "
            "in load, because the warm-up measures a guest at full speed; set "
            f"warmup: {least}, or give rates in load"
        )
    if arguments.has_shares and subtask.baseline:
        raise task.InvalidTask(
            "load: shares are of a guest, so that no baseline has their "
            "rates; remove vmperf_baseline, or give rates in load"
        )


def _check_levels(
    subtask: Task,
    name: str,
    options: density.LevelOptions,
    *,
    of_several: bool,
) -> None:
    """Reject limits at levels that are missing.

    :param of_several: Whether a limit is about several guests.
    """
    counts = list_levels(subtask)
    limited = list_limited_levels(subtask, options)
    if of_several and not limited:
        raise task.InvalidTask(
            f"sla {name}: applies to no level (there are: "
            f"{', '.join(map(str, counts))}); {_SEVERAL_GUESTS}"
        )
    unknown = [number for number in limited if number not in counts]
    if unknown:
        raise task.InvalidTask(
            f"sla {name} levels: no level has {unknown[0]} guests (there are: "
            f"{', '.join(map(str, counts))})"
        )


def _check_several_guests(parsed: question.ParsedCriterion) -> None:
    """Reject limits on what several guests have, at a level of one guest."""
    levels = parsed.options.levels
    numbers = levels if isinstance(levels, list) else [levels]
    if 1 in numbers:
        raise task.InvalidTask(
            f"sla {parsed.criterion.name} levels: a single guest shares its "
            f"host with no other; {_SEVERAL_GUESTS}"
        )


def _check_solo_guest(key_path: str, subtask: Task) -> None:
    """Reject a loss against a solo guest if the task has no level 1.

    :param key_path: The keys of the limits, for the message.
    """
    counts = list_levels(subtask)
    if 1 not in counts:
        raise task.InvalidTask(
            f"{key_path}: a loss against one guest requires level 1 (levels: "
            f"{', '.join(map(str, counts))}); add it"
        )


def _check_guests(
    subtask: Task,
    measured: int,
    unmeasured: collections.abc.Mapping[str, int],
) -> list[str]:
    """Reject a number of guests that fits no level; return warnings.

    :param measured: The number of guests in the largest level.
    """
    options, count = subtask.guests, subtask.count
    reason = f"the largest level has {measured} guests on a host"
    largest = measured
    for title, number in unmeasured.items():
        reason += f" and {number} {title}"
        largest += number
    if count % largest:
        raise task.InvalidTask(
            f"count={count}: {reason}; set vmperf_guests: "
            f"{{count: {largest}}}, or a multiple of it for more hosts"
        )
    group = options.get("server_group") or ""
    if group.endswith("anti-affinity") and largest > 1:
        raise task.InvalidTask(
            f"server_group={group}: {largest} guests must share a host; use "
            "affinity, or remove it"
        )
    one_host = [
        f"{key}={options[key]}"
        for key in ("host", "server_group")
        if options.get(key)
    ]
    if count > largest and one_host:
        raise task.InvalidTask(
            f"count={count}: {largest} guests on each of {count // largest} "
            f"hosts contradict {one_host[0]}, which places all on one host; "
            f"remove it, or set count: {largest}"
        )
    hosts = options.get("hosts") or ()
    if hosts and count != largest * len(hosts):
        raise task.InvalidTask(
            f"count={count}: must be {largest * len(hosts)} for {largest} "
            f"guests on each of {len(hosts)} hosts"
        )
    keys = (*_PLACES, "availability_zone")
    if count > largest > 1 and not any(options.get(key) for key in keys):
        return [
            "Nova chooses the hosts, and a host with another number of guests "
            "voids the run (finding level_placement_wrong); set hosts"
        ]
    return []


def _check_stop(subtask: Task, counts: tuple[int, ...]) -> None:
    """Reject a stop rule that does not match the levels."""
    stop, order = subtask.arguments.stop, subtask.arguments.order
    if stop is None:
        return
    if order != "listed" or not levels.is_ascending(counts):
        raise task.InvalidTask(
            "stop: requires ascending levels and order=listed (here: levels="
            f"{list(counts)}, order={order})"
        )
    stop_limits = levels.create_stop_rule(stop).max_percent
    if stop_limits:
        _check_solo_guest("stop max_percent", subtask)
        task.check_limits("stop max_percent", stop_limits, subtask.metrics)


def _list_bare_metal_levels(
    subtask: Task, options: density.DegradationOptions
) -> tuple[int, ...]:
    """Return the levels that the verdict compares with bare metal."""
    if not options.is_against_bare_metal:
        return ()
    return tuple(list_limited_levels(subtask, options))


def _is_of_several(parsed: question.ParsedCriterion) -> bool:
    """Return whether a limit is the loss of guests against one guest."""
    is_against_guest = not parsed.options.is_against_bare_metal
    return bool(parsed.limits["max_percent"]) and is_against_guest


class DegradationCriterion(question.Criterion):
    """Limits on the loss of each guest as their number grows, in %."""

    name = "vmperf_degradation"
    heading = "Degradation"
    rules = density.DEGRADATION
    options = density.DegradationOptions
    limits = question.LOSS_AND_ABSOLUTE
    selects = neighbours.WITHOUT

    def check_limits(
        self, parsed: question.ParsedCriterion, metrics: task.Metrics
    ) -> None:
        """Reject limits that cannot fail, and losses of the solo guest."""
        # Times are compared as rates, too.
        question.check_bounds(parsed, metrics, lambda metric: True)
        if _is_of_several(parsed):
            _check_several_guests(parsed)

    def find_baseline_option(self, parsed: question.ParsedCriterion) -> str:
        """Return the option that compares losses with bare metal, or ""."""
        is_compared = parsed.options.is_against_bare_metal
        has_losses = is_compared and parsed.limits["max_percent"]
        return "compare_to=bare_metal" if has_losses else ""

    def check(
        self,
        subtask: Task,
        parsed: question.ParsedCriterion,
        baseline: t.Any,
    ) -> None:
        """Reject limits on a loss if levels or references are missing."""
        options = parsed.options
        _check_levels(
            subtask, self.name, options, of_several=_is_of_several(parsed)
        )
        if not parsed.limits["max_percent"]:
            return
        if options.is_against_bare_metal:
            levels = _list_bare_metal_levels(subtask, options)
            _check_copies(subtask, levels, baseline)
            return
        _check_solo_guest(f"sla {self.name}", subtask)
        if (
            options.statistic == "worst"
            and subtask.arguments.solo_guest != "all"
        ):
            raise task.InvalidTask(
                f"sla {self.name} statistic=worst: compares each guest with "
                "its own solo run; set solo_guest: all in VMPerf.density, or "
                "statistic: mean"
            )


DEGRADATION = DegradationCriterion()


def _check_copies(
    subtask: Task,
    required: tuple[int, ...],
    baseline: document.Baseline,
) -> None:
    """Reject a baseline that was not recorded in as many copies."""
    for assigned, measurements in subtask.list_measured(baseline):
        copies = {measurement.copies for measurement in measurements}
        for number in required:
            if number not in copies:
                listed = ",".join(map(str, sorted(list_levels(subtask))))
                raise task.InvalidTask(
                    f"sla {DEGRADATION.name} compare_to=bare_metal: baseline "
                    f"{baseline.name!r} has {assigned.title} in "
                    f"{', '.join(map(str, sorted(copies)))} copies, not in "
                    f"{number}; record it with --copies {listed}"
                )


class FairnessCriterion(question.Criterion):
    """Limits on the unfairness between guests that share a host."""

    name = "vmperf_fairness"
    heading = "Fairness"
    rules = density.FAIRNESS
    options = density.FairnessOptions
    limits = types.MappingProxyType(
        {"min_index": ("ratio",), "max_spread_percent": ("ratio",)}
    )
    selects = neighbours.WITHOUT

    def check_limits(
        self, parsed: question.ParsedCriterion, metrics: task.Metrics
    ) -> None:
        """Reject limits at a level of one guest."""
        _check_several_guests(parsed)

    def check(
        self,
        subtask: Task,
        parsed: question.ParsedCriterion,
        baseline: t.Any,
    ) -> None:
        """Reject limits at levels that are missing."""
        _check_levels(subtask, self.name, parsed.options, of_several=True)


FAIRNESS = FairnessCriterion()


class Density(question.Question[Arguments]):
    """Degradation of guests with their number; an iteration is a curve."""

    name = "density"
    scenario = "VMPerf.density"
    title = "Degradation by number of guests"
    arguments = Arguments
    criteria = (DEGRADATION, FAIRNESS, neighbours.CRITERION)

    def check(self, subtask: Task) -> list[str]:
        """Reject contradictions in a task; return warnings as a list.

        :returns: The warnings, one sentence each.
        """
        number = subtask.arguments.count_neighbours()
        unmeasured = {"neighbours": number} if number else {}
        warnings = _check_task(subtask, unmeasured)
        if number and subtask.arguments.order == "listed":
            warnings.append(
                "order=listed: each repetition measures a level first without "
                "and then with neighbours, so that drift counts as their "
                "effect; use order: shuffled or blocks"
            )
        return warnings

    def count_guests(self, subtask: Task) -> int:
        """Return the number of guests of the largest level on all hosts."""
        hosts = subtask.guests.get("hosts") or [None]
        return _count_per_host(subtask) * len(hosts)

    def list_request_options(self, subtask: Task) -> dict[str, t.Any]:
        """Return the number of CPUs that the task states for each host."""
        return {"host_cpus": subtask.arguments.host_cpus or None}

    def create_guest_options(self, subtask: Task) -> documents.Arguments:
        """Return the options of guests, by default all of them on one host."""
        options = subtask.guests
        is_placed = any(options.get(key) for key in _PLACES)
        if is_placed or subtask.count != _count_per_host(subtask):
            return options
        return {**options, "server_group": "affinity"}

    def list_copies(self, subtask: Task) -> tuple[int, ...]:
        """Return the numbers of guests, in the order of the task."""
        return list_levels(subtask)

    def list_compared_copies(self, subtask: Task) -> tuple[int, ...]:
        """Return the numbers of bare-metal copies that a verdict requires."""
        configured = subtask.criteria.get(DEGRADATION.name, {})
        options = DEGRADATION.parse(configured).options
        return _list_bare_metal_levels(subtask, options)

    def estimate_minutes(self, subtask: Task) -> int:
        """Return the estimated duration of a task in minutes."""
        arguments = subtask.arguments
        counts = list_levels(subtask)
        neighbour_counts = {0, arguments.count_neighbours()}
        working_guests = [
            number + neighbour_count
            for number in counts
            for neighbour_count in sorted(neighbour_counts)
        ]
        boots = subtask.count_reboots(len(working_guests))
        solo_runs = 0
        if arguments.solo_guest == "all":
            solo_runs = (max(counts) - 1) * len(neighbour_counts)
        if arguments.idle_guests == "stopped":
            boots += levels.count_rises(working_guests, subtask.times)
            boots += solo_runs * subtask.times
        times, calibrating = subtask.times, 0
        if arguments.has_shares:
            # A warm-up runs one condition at full speed, once for all loads.
            times -= subtask.warmup
            calibrating = estimate.estimate_minutes(
                assignment.merge_loads(subtask.assignments),
                subtask.warmup,
                is_ready=True,
            )
        return calibrating + estimate.estimate_minutes(
            subtask.assignments,
            times,
            len(working_guests) + solo_runs,
            boots,
        )

    def start(
        self, request: "run_request.RunRequest", arguments: Arguments
    ) -> "runs.Run":
        """Return the run of a task, ready to start."""
        from rally_vmperf.questions.density import run

        return run.create_run(request, arguments)

    def describe(self, run: judged_run.JudgedRun) -> str:
        """Return the title of a run as text: size and numbers of guests."""
        numbers = counting.guest_counts(run.judged_repetitions)
        if not numbers:
            return f"{run.size}, no guests"
        most = units.number_of("guest", numbers[-1])
        if len(numbers) == 1:
            return f"{run.size}, {most}"
        return f"{run.size}, {numbers[0]} to {most}"

    def list_remarks(self, run: judged_run.JudgedRun) -> list[str]:
        """Return how many guests fit at each load, as sentences."""
        workloads = run.last.workloads if run.records else ()
        has_loads = any(each.offered_load for each in workloads)
        if not has_loads:
            return []
        clauses = [
            run_capacity.describe(run, load, found)
            for load, found in run_capacity.find_capacities(run).items()
        ]
        return [f"{clause[0].upper()}{clause[1:]}" for clause in clauses]

    def get_section(self) -> "reports.Section[t.Any]":
        """Return the section of the HTML report for runs of density."""
        from rally_vmperf.questions.density.section import section

        return section.SECTION


QUESTION = Density()
