# SPDX-License-Identifier: Apache-2.0
"""Checks of a task that run before any guest boots."""

import collections.abc
import typing as t

from rally_vmperf import documents
from rally_vmperf.baseline import document
from rally_vmperf.baseline import store
from rally_vmperf.bundles import bundle
from rally_vmperf.execution import assignment
from rally_vmperf.execution import disk_space
from rally_vmperf.execution import ports
from rally_vmperf.execution import requirements
from rally_vmperf.execution import volumes
from rally_vmperf.execution.stations import open_files
from rally_vmperf.guests import errors
from rally_vmperf.guests import request
from rally_vmperf.guests import schema
from rally_vmperf.guests.planning import vcpu_limits
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import units
from rally_vmperf.questions import table
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task
from rally_vmperf.runs import reference
from rally_vmperf.workloads import base
from rally_vmperf.workloads import tools

if t.TYPE_CHECKING:
    from rally_vmperf.guests.planning import capacity

#: The errors of a check; each message is one line.
REQUEST_ERRORS = (
    base.WorkloadError,
    document.BaselineError,
    errors.GuestError,
    open_files.TooManyError,
    requirements.SupplyError,
    task.InvalidTask,
)


def check_task(
    subtask: task.AnyTask,
    task_question: question.AnyQuestion,
    baselines: store.Store,
) -> list[str]:
    """Reject a task that is not valid; return warnings as a list of texts.

    :param task_question: The question of the task.
    :param baselines: The stored baselines.
    :returns: The warnings, one sentence each.
    :raises Exception: One of ``REQUEST_ERRORS`` with the key, its value and
        the allowed values.
    """
    workloads = (
        *subtask.assignments,
        *subtask.arguments.list_unmeasured(),
    )
    needed = assignment.required_endpoints(workloads)
    _check_runner(subtask)
    check_repetitions(subtask)
    if "vmperf_guests" not in subtask.contexts:
        raise task.InvalidTask("contexts: vmperf_guests is missing")
    criteria = parse_criteria(subtask, task_question)
    task.check_schema(subtask.guests, schema.KEYS, "vmperf_guests")
    supply = requirements.create_supply(subtask.guests)
    remarks = task_question.check(subtask)
    guest_options = task_question.create_guest_options(subtask)
    _check_vcpu_limits(guest_options)
    _check_volumes(guest_options, workloads)
    _check_endpoints(subtask, needed)
    ports.used_ports(subtask.assignments, subtask.count)
    open_files.allow_files(subtask.count)
    for assigned in workloads:
        assigned.read_files()
    baseline = None
    if subtask.baseline is not None:
        baseline = baselines.find(subtask.baseline)
    remarks += [
        f"workload {assigned.title} is skipped, because the task has no peer"
        for assigned in subtask.skipped
    ]
    for parsed in criteria:
        _check_counted(subtask, parsed.criterion)
        remarks += _check_unmeasured(subtask, parsed)
        parsed.check_limits(subtask.metrics)
        if baseline is None:
            _check_without_baseline(parsed)
        parsed.criterion.check(subtask, parsed, baseline)
        remarks += parsed.criterion.list_warnings(subtask)
    if baseline is not None:
        _check_shape(subtask, baseline)
        _check_versions(subtask, baseline)
        if supply.bundle is not None:
            _check_bundle(subtask, supply.bundle, baseline)
    return remarks


def _check_shape(subtask: task.AnyTask, baseline: document.Baseline) -> None:
    """Reject a baseline that lacks a workload or a shape of the task.

    :raises BaselineError: If the baseline does not cover a workload.
    """
    for assigned, measurements in subtask.list_measured(baseline):
        mechanisms = {
            measurement.limited_by for measurement in measurements
        } - {"unknown"}
        is_limited = mechanisms and "none" not in mechanisms
        if is_limited and subtask.protocol.shape == "whole":
            raise task.InvalidTask(
                f"shape=whole: baseline {baseline.name!r} has "
                f"{assigned.title} with bare metal limited to the guest's "
                f"shape (by {', '.join(sorted(mechanisms))}); record it with "
                "--shape whole, or remove shape"
            )


def _check_counted(
    subtask: task.AnyTask, criterion: question.Criterion
) -> None:
    """Reject limits that no run with so few repetitions can pass."""
    counted = subtask.times - subtask.warmup
    if counted < criterion.fewest_repetitions:
        raise task.InvalidTask(
            f"sla {criterion.name}: with "
            f"{units.number_of('counted repetition', counted)} there is no "
            "interval, and no limit can pass; run at least "
            f"{criterion.fewest_repetitions} (times minus warmup)"
        )


def _check_unmeasured(
    subtask: task.AnyTask, parsed: question.ParsedCriterion
) -> list[str]:
    """Return remarks on limits that are not judged; reject others.

    :raises InvalidTask: If a limit is on a skipped workload, and the SLA does
        not skip such limits.
    """
    name = f"sla {parsed.criterion.name}"
    unmeasured = parsed.list_unmeasured(subtask)
    if not parsed.skips_unmeasured:
        titles = ", ".join(assigned.title for assigned in subtask.skipped)
        for limit in unmeasured:
            if limit.reason == "no peer":
                raise task.InvalidTask(
                    f"{name} {limit.option}: {limit.pattern!r} cannot be "
                    f"judged: the task has no peer, so that it skips "
                    f"{titles}; add peer: {{address: ..., user: ...}}, or "
                    "remove the limit"
                )
        return []
    patterns: dict[str, dict[str, None]] = {}
    for limit in unmeasured:
        patterns.setdefault(limit.reason, {})[limit.pattern] = None
    remarks = [
        f"{name}: not judged: {reason} ({', '.join(names)})"
        for reason, names in patterns.items()
    ]
    limits = sum(
        len(option_limits.patterns)
        for by_option in parsed.by_variant.values()
        for option_limits in by_option.values()
    )
    if len(unmeasured) == limits:
        remarks.append(f"{name}: no limit is judged, so that it cannot pass")
    return remarks


def _check_without_baseline(parsed: question.ParsedCriterion) -> None:
    """Reject limits that compare guests with bare metal."""
    option = parsed.criterion.find_baseline_option(parsed)
    is_skipped = (
        parsed.skips_unmeasured
        and option == parsed.criterion.rules.bare_metal_option
    )
    if option and not is_skipped:
        raise task.InvalidTask(
            f"sla {parsed.criterion.name} {option}: requires the context "
            "vmperf_baseline: {name: ...}; add it (a baseline is made by: "
            "rally-vmperf baseline record NAME), or use max and min, which "
            "limit the values of guests"
        )


def check_repetitions(subtask: task.Task[t.Any]) -> None:
    """Reject a warm-up that leaves no counted repetition."""
    if subtask.warmup >= subtask.times:
        raise task.InvalidTask(
            f"warmup={subtask.warmup!r}: must be an integer from 0 to "
            f"{subtask.times - 1}, because the runner runs {subtask.times} "
            "repetitions"
        )


def _check_runner(subtask: task.Task[t.Any]) -> None:
    """Reject runners that do not run repetitions one after another."""
    if subtask.runner != "serial":
        raise task.InvalidTask(
            f"runner={subtask.runner}: must be serial, because repetitions "
            "run one after another and Ctrl-C must reach them; use "
            "{serial: {times: N}}"
        )


def _check_vcpu_limits(guest_options: documents.Arguments) -> None:
    """Reject limits on vCPUs that libvirt does not accept.

    :param guest_options: The options of the guests, with those of variants.
    """
    for place, group in _list_groups(guest_options):
        problem = vcpu_limits.describe_invalid(group.get("extra_specs") or {})
        if problem:
            raise task.InvalidTask(f"{place}: {problem}")


def _list_groups(
    guest_options: documents.Arguments,
) -> collections.abc.Iterator[tuple[str, documents.Arguments]]:
    """Yield the options of each group, and the place of them in a task."""
    for group in request.list_group_options(guest_options):
        is_variant = "groups" in guest_options
        yield (
            (f"variants: {group['name']}" if is_variant else "vmperf_guests"),
            group,
        )


def _check_volumes(
    guest_options: documents.Arguments,
    assignments: collections.abc.Sequence[assignment.Assignment],
) -> None:
    """Reject workloads without the volumes that they measure.

    :param guest_options: The options of the guests, with those of variants.
    """
    if conflict := volumes.describe_conflict(assignments):
        raise task.InvalidTask(conflict)
    for place, group in _list_groups(guest_options):
        sizes = [
            volume.size_gib << 30 for volume in request.parse_volumes(group)
        ]
        shortage = volumes.describe_shortage(
            assignments,
            sizes,
            place,
            "set volumes: [{size_gib: ..., count: ...}] of vmperf_guests",
        )
        if shortage:
            raise task.InvalidTask(shortage)


def _check_endpoints(
    subtask: task.AnyTask, needed: collections.abc.Container[str]
) -> None:
    """Reject network workloads without their remote endpoint."""
    if "peer" in needed and not subtask.peer:
        raise task.InvalidTask(
            "peer: must be set for network workloads; add "
            "peer: {address: ..., user: ...}"
        )
    _check_control(subtask)
    user = (subtask.peer or {}).get("user", "root")
    if "peer_root" in needed and user != "root":
        raise task.InvalidTask(
            f"peer user={user}: must be root, because the FTP server of wget "
            "confines its clients only as root; log in as root, or use "
            "protocols: [http]"
        )
    if "partner" in needed and subtask.count < 2:
        raise task.InvalidTask(
            f"count={subtask.count}: must be >= 2 for guest_to_guest "
            "(vmperf_guests: {count: 2})"
        )


def _check_control(subtask: task.Task[t.Any]) -> None:
    """Reject a control machine that is the peer or a host of guests."""
    address = (subtask.control or {}).get("address")
    guests = subtask.guests
    places = {
        "the peer": [(subtask.peer or {}).get("address")],
        "a host of the guests": [guests.get("host"), *guests.get("hosts", ())],
    }
    for description, addresses in places.items():
        if address and address in addresses:
            raise task.InvalidTask(
                f"control address={address}: is {description}; must be "
                "another machine, whose figures the guests do not affect"
            )
    peer, control = subtask.peer or {}, subtask.control or {}
    name = control.get("name", "control")
    if control and name == peer.get("name", "peer"):
        raise task.InvalidTask(
            f"control name={name}: is the name of the peer; use another name"
        )


def _check_versions(
    subtask: task.AnyTask, baseline: document.Baseline
) -> None:
    """Reject a baseline with tools that are too old for the metrics.

    The tools of guests are checked after their boot.
    """
    machines = [*filter(None, (baseline.machine, baseline.peer))]
    for tool in requirements.tools(subtask.assignments):
        for machine in machines:
            installed = machine.tools.get(tool.command, {})
            problem = tools.version_problem(tool, installed.get("version", ""))
            if problem:
                raise task.InvalidTask(
                    f"baseline {baseline.name!r}: {machine.name}: "
                    f"{problem}; then record the baseline again"
                )


def _check_bundle(
    subtask: task.AnyTask,
    guest_bundle: bundle.Bundle,
    baseline: document.Baseline,
) -> None:
    """Reject a bundle with other program versions than the baseline."""
    recorded = baseline.machine.tools
    for tool in requirements.tools(subtask.assignments, side="machine"):
        program = guest_bundle.programs.get(tool.command)
        version = recorded.get(tool.command, {}).get("version", "")
        if program is None or not tool.affects_results:
            continue
        offered, required = map(
            tools.parse_version, (program.version, version)
        )
        if required and offered != required:
            raise task.InvalidTask(
                f"bundle {guest_bundle.path}: its {tool.command} is "
                f"{'.'.join(map(str, offered))}, but that of baseline "
                f"{baseline.name!r} is "
                f"{'.'.join(map(str, required))}; record "
                "the baseline with the bundle: rally-vmperf baseline record "
                f"... --bundle {guest_bundle.path}"
            )


def check_space(
    subtask: task.AnyTask,
    demands: "collections.abc.Iterable[capacity.Demand]",
) -> None:
    """Reject workloads whose files cannot fit on the disk of a guest.

    The free space of each guest is checked after its boot.  What an image
    leaves of the disk is estimated here in favour of the task.

    :param subtask: The task, with the number of vCPUs of the guests.
    :param demands: The flavor and the boot volume of each group.
    :raises InvalidTask: If the files do not fit.
    """
    workloads = (*subtask.assignments, *subtask.arguments.list_unmeasured())
    if subtask.vcpus is not None:
        workloads = tuple(
            assigned.for_vcpus(subtask.vcpus) for assigned in workloads
        )
    need = disk_space.find_need(workloads)
    for demand in demands:
        size_gib = demand.disk_gib
        files = int(size_gib * units.GIB * disk_space.FILES_SHARE)
        available = max(files - demand.image_bytes, 0)
        if need.size <= available:
            continue
        if demand.group.boot_volume:
            disk = f"boot_volume size_gib={size_gib}"
            remedy = "raise size_gib"
        else:
            disk = f"the {size_gib} GiB of flavor {demand.flavor.name!r}"
            remedy = "use a flavor with a larger disk or a boot_volume"
        place = (
            f", which the file system and image {demand.image.name!r} leave "
            f"of {disk}"
        )
        raise task.InvalidTask(
            need.describe_shortage(available, place, remedy)
        )


def check_reference(
    subtask: task.AnyTask,
    task_question: question.AnyQuestion,
    baseline: document.Baseline,
    shape: document.Shape,
) -> None:
    """Reject a baseline with which no run of a task can pass.

    :param shape: The shape of the guests, with the number of copies.
    :raises BaselineError: If the baseline does not cover a workload.
    :raises InvalidTask: If a finding on the baseline voids each run, or if
        bare metal has too few repetitions for a limit.
    """
    entries = reference.find_entries(baseline, subtask.assignments, shape)
    findings = reference.find_voiding_findings(
        baseline, subtask.assignments, shape
    )
    for parsed in parse_criteria(subtask, task_question):
        judge = parsed.create_judge()
        if parsed.criterion is table.VALID:
            # It judges findings as the main criterion does without limits.
            main, *_ = task_question.criteria
            judge = main.parse({"tolerate": [*judge.tolerate]}).create_judge()
        limited = {
            metric.name
            for metric in subtask.metrics
            for option_limits in judge.limits.values()
            if option_limits.for_metric(metric.name)
        }
        tolerate = {*judge.tolerate}
        voiding = [
            reported_finding
            for reported_finding in findings
            if reported_finding.kind not in tolerate
            and (
                judge.rules.is_void_by_any
                or any(map(reported_finding.concerns, limited))
            )
        ]
        name = f"sla {parsed.criterion.name}"
        if voiding:
            reason = reference.describe_voiding(baseline, voiding)
            raise task.InvalidTask(f"{name}: {reason}")
        # The others do not compare guests with bare metal.
        if not tolerate.issuperset(finding.ABOUT_BARE_METAL):
            percent = parsed.limits["max_percent"]
            _check_recorded(subtask, baseline, entries, name, percent)


def _check_recorded(
    subtask: task.AnyTask,
    baseline: document.Baseline,
    entries: collections.abc.Iterable[document.BaselineEntry],
    name: str,
    percent: verdict.Limits,
) -> None:
    """Reject limits on workloads with too few repetitions on bare metal.

    :param entries: The entries of the baseline, one for each workload.
    :param name: The name of the SLA, for the message.
    :param percent: The limits in percent of bare metal.
    """
    for assigned, entry in zip(subtask.assignments, entries, strict=True):
        number = len(entry.reference.repetitions)
        has_limit = any(
            metric.scale == "ratio" and percent.for_metric(metric.name)
            for metric in assigned.metrics()
        )
        if has_limit and number < statistics.FEWEST:
            raise task.InvalidTask(
                f"{name}: baseline {baseline.name!r} has "
                f"{units.number_of('repetition', number)} of "
                f"{assigned.title}, with which no limit can pass; record it "
                f"again with --repetitions {statistics.FEWEST} or more"
            )


def parse_criteria(
    subtask: task.AnyTask, task_question: question.AnyQuestion
) -> list[question.ParsedCriterion]:
    """Return the criteria of a task; reject invalid or unrelated ones.

    Rally checks the schema of an SLA after the scenario.

    :raises InvalidTask: If a criterion is not valid, or if it belongs to
        other questions only.
    """
    parsed: list[question.ParsedCriterion] = []
    for criterion in task_question.criteria:
        if criterion.name in subtask.criteria:
            options = subtask.criteria[criterion.name]
            name = f"sla {criterion.name}"
            task.check_schema(options, criterion.schema, name)
            parsed.append(criterion.parse(options))
    names = {criterion.name for criterion in task_question.criteria}
    foreign = {*subtask.criteria} - names
    for other_question in table.questions().values():
        for criterion in other_question.criteria:
            if criterion.name in foreign:
                raise task.InvalidTask(
                    f"sla {criterion.name}: applies to "
                    f"{other_question.scenario}, not to "
                    f"{task_question.scenario}; remove it"
                )
    return parsed
