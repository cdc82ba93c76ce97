"""Check that a task can be run and judged, before anything boots."""

import collections.abc

from rally_vmperf.baseline import document
from rally_vmperf.baseline import matching
from rally_vmperf.baseline import store
from rally_vmperf.execution import assignment
from rally_vmperf.execution import ports
from rally_vmperf.execution import requirements
from rally_vmperf.execution.stations import open_files
from rally_vmperf.guests import errors
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.questions import table
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task
from rally_vmperf.toolbox import bundle
from rally_vmperf.workloads import base
from rally_vmperf.workloads import tools

#: What checking a task raises, each in one line.
REFUSALS = (
    base.WorkloadError,
    document.BaselineError,
    errors.GuestError,
    open_files.TooManyError,
    requirements.SupplyError,
    task.Refused,
)


def check(
    asked: task.Task, entry: question.Question, baselines: store.Store
) -> list[str]:
    """Check everything that can be checked without the cloud.

    :param entry: the question that the task asks
    :param baselines: the registry
    :returns: warnings, a sentence each
    :raises Exception: one of ``REFUSALS``, naming the key, the value and what
        is allowed
    """
    needed = assignment.needs(asked.every_workload)
    _check_runner(asked)
    check_repetitions(asked)
    for name in entry.contexts:
        if name not in asked.contexts:
            raise task.Refused(f"contexts: {name} is missing")
    supply = requirements.supply_of(asked.guests)
    remarks = entry.check(asked)
    _check_ends(asked, needed)
    ports.used(asked.assignments, asked.count)
    open_files.allow_files(asked.count)
    for each in asked.every_workload:
        each.read_files()
    _check_foreign(asked, entry)
    baseline = None
    if asked.baseline is not None:
        baseline = baselines.find(asked.baseline)
    for one in entry.criteria:
        limits = asked.criteria.get(one.name)
        if limits is not None:
            _check_forgiveness(asked, one.name, limits)
            for key, scales in one.limits.items():
                what = f"sla {one.name} {key}"
                asked.check_matches(what, limits.get(key, {}), scales)
            one.bounds(one.name, limits, asked.metrics)
            one.check(asked, limits, baseline)
    if baseline is not None:
        for each in asked.assignments:
            found = matching.covers(
                baseline, each.workload.name, each.conditions()
            )
            _check_shape(asked, each, found, baseline["name"])
        _check_versions(asked, baseline)
        if supply.bundle is not None:
            _check_bundle(asked, supply.bundle, baseline)
    return remarks


def check_limits(
    criterion: question.Criterion, given: question.Json, metrics: task.Metrics
) -> None:
    """Refuse limits that contradict one another or that cannot fail.

    :param given: the configuration, in a task or in a file of limits
    :param metrics: those that it is put to
    :raises Refused: naming the limit and a metric
    """
    for key, scales in criterion.limits.items():
        names = [one.name for one in metrics if one.scale in scales]
        what = f"sla {criterion.name} {key}"
        task.check_conflict(what, given.get(key, {}), names)
    criterion.bounds(criterion.name, given, metrics)


def _check_shape(
    asked: task.Task,
    one: assignment.Assignment,
    entries: collections.abc.Iterable[document.Json],
    name: str,
) -> None:
    """Refuse a baseline held to a shape where the task has shape: whole."""
    held = {entry["limited_by"] for entry in entries} - {"unknown"}
    if asked.protocol.shape == "whole" and held and "none" not in held:
        raise task.Refused(
            f"shape: whole, but baseline {name!r} has {one.title} "
            f"held to the guest's shape (by {', '.join(sorted(held))}); "
            "record it with --shape whole, or remove shape"
        )


def _check_forgiveness(
    asked: task.Task, name: str, limits: question.Json
) -> None:
    """Refuse on_inconclusive: pass with too few repetitions to decide."""
    counted = asked.times - asked.warmup
    fewest = statistics.FEWEST
    if limits.get("on_inconclusive") == "pass" and counted < fewest:
        raise task.Refused(
            f"sla {name} on_inconclusive: pass, with {counted} counted "
            f"repetitions there is no interval and nothing could fail; "
            f"make at least {fewest}"
        )


def check_repetitions(asked: task.Task) -> None:
    """Refuse a warm-up that leaves no counted repetition."""
    if asked.warmup >= asked.times:
        raise task.Refused(
            f"warmup {asked.warmup!r}: must be a whole number from 0 to "
            f"{asked.times - 1}, because the runner makes {asked.times} "
            "repetitions"
        )


def _check_runner(asked: task.Task) -> None:
    """Refuse runners that do not run repetitions one after another."""
    if asked.runner != "serial":
        raise task.Refused(
            f"runner {asked.runner!r}: repetitions must follow one another, "
            "and Ctrl-C must reach them; use {serial: {times: N}}"
        )


def _check_ends(
    asked: task.Task, needed: collections.abc.Container[str]
) -> None:
    """Reject network workloads without the other end that they need."""
    if "peer" in needed and not asked.peer:
        raise task.Refused(
            "peer is missing: network workloads need one; give "
            "peer: {address: ..., user: ...}"
        )
    user = (asked.peer or {}).get("user", "root")
    if "peer_root" in needed and user != "root":
        raise task.Refused(
            f"peer user={user}: must be root, because the FTP server of wget "
            "confines its clients only as root; log in as root, or use "
            "protocols: [http]"
        )
    if "partner" in needed and asked.count < 2:
        raise task.Refused(
            f"count {asked.count}: guest_to_guest needs at least 2 guests "
            "(vmperf_guests: {count: 2})"
        )


def _check_versions(asked: task.Task, baseline: document.Json) -> None:
    """Refuse a baseline whose tools are too old for what is measured.

    The tools of guests are checked once they have booted.
    """
    machines = [baseline["machine"], *filter(None, [baseline.get("peer")])]
    for tool in requirements.tools(asked.assignments):
        for machine in machines:
            known = machine.get("tools", {}).get(tool.command, {})
            why = tools.too_old(tool, known.get("version", ""))
            if why:
                raise task.Refused(
                    f"baseline {baseline['name']!r}: {machine['name']}: "
                    f"{why}; then record the baseline again"
                )


def _check_bundle(
    asked: task.Task, given: bundle.Bundle, baseline: document.Json
) -> None:
    """Refuse a bundle whose programs are not those of the baseline."""
    recorded = baseline["machine"].get("tools", {})
    for tool in requirements.tools(asked.assignments, side="machine"):
        program = given.programs.get(tool.command)
        known = recorded.get(tool.command, {}).get("version", "")
        if program is None or not tool.measures:
            continue
        ours, theirs = map(tools.upstream, (program.version, known))
        if theirs and ours != theirs:
            raise task.Refused(
                f"bundle {given.path}: its {tool.command} is "
                f"{'.'.join(map(str, ours))}, that of baseline "
                f"{baseline['name']!r} {'.'.join(map(str, theirs))}; record "
                "the baseline with the bundle: rally-vmperf baseline record "
                f"... --bundle {given.path}"
            )


def _check_foreign(asked: task.Task, entry: question.Question) -> None:
    """Refuse criteria that belong to other questions only."""
    own = {one.name for one in entry.criteria}
    for other in table.questions().values():
        for one in other.criteria:
            if one.name in asked.criteria and one.name not in own:
                raise task.Refused(
                    f"sla {one.name}: judges {other.scenario}, not "
                    f"{entry.scenario}; leave it out"
                )
