"""Whether the limits of a density task go with its metrics and levels."""

import collections.abc

from rally.common import cfg

from rally_vmperf.baseline import matching
from rally_vmperf.baseline import store
from rally_vmperf.execution import assignment
from rally_vmperf.measurement import limits
from rally_vmperf.plugins.validators import task
from rally_vmperf.questions.density import levels

CONF = cfg.CONF

Config = task.Config
Assignments = tuple[assignment.Assignment, ...]

#: SLA -> its keys that hold limits by metric.
LIMITS = {
    "vmperf_degradation": ("max_percent",),
    "vmperf_fairness": ("min_index", "max_spread_percent"),
}
_STOP: Config = {
    "type": "object",
    "additionalProperties": False,
    "minProperties": 1,
    "properties": {
        "max_percent": {
            "type": "object",
            "minProperties": 1,
            "additionalProperties": {"type": "number"},
        },
        "total_falls": {"type": "boolean"},
    },
}


def judged(config: Config, name: str, numbers: tuple[int, ...]) -> list[int]:
    """Return at which numbers of guests an SLA holds its limits."""
    sla = config["sla"].get(name, {})
    at = sla.get("at", "every")
    if at == "every":
        # A lone guest loses nothing against itself, and shares with nobody.
        first = 1 if sla.get("against") == "bare_metal" else 2
        return [number for number in sorted(numbers) if number >= first]
    return sorted(at) if isinstance(at, list) else [at]


def compared(config: Config) -> list[int]:
    """Return at which numbers of guests bare metal is part of the verdict."""
    name = "vmperf_degradation"
    if config["sla"].get(name, {}).get("against") != "bare_metal":
        return []
    return judged(config, name, levels.expand(config["args"]["levels"]))


def check_stop(
    config: Config, assignments: Assignments, numbers: tuple[int, ...]
) -> None:
    """Refuse a stop rule that cannot be followed."""
    import jsonschema

    stop = config["args"].get("stop")
    if stop is None:
        return
    for error in jsonschema.Draft7Validator(_STOP).iter_errors(stop):
        raise task.Wrong(
            f"stop: {error.message}; allowed keys: max_percent, total_falls"
        )
    order = config["args"].get("order", "listed")
    if order != "listed" or not levels.ascending(numbers):
        raise task.Wrong(
            f"stop: needs ascending levels in order 'listed', they are "
            f"{list(numbers)}, {order!r}"
        )
    if "max_percent" in stop:
        _check_lone_guest("stop max_percent", numbers)
        _check_matches("stop max_percent", stop["max_percent"], assignments)


def check_sla(
    config: Config,
    name: str,
    assignments: Assignments,
    numbers: tuple[int, ...],
) -> None:
    """Refuse limits that nothing in the task goes with."""
    sla = config["sla"].get(name)
    if sla is None:
        return
    for key in LIMITS[name]:
        _check_matches(f"sla {name} {key}", sla.get(key, {}), assignments)
    at = judged(config, name, numbers)
    unknown = [number for number in at if number not in numbers]
    if unknown:
        raise task.Wrong(
            f"sla {name} at: no level has {unknown[0]} guests (there are: "
            f"{', '.join(map(str, numbers))})"
        )
    if sla.get("against", "one_guest") == "one_guest":
        if name == "vmperf_degradation":
            _check_lone_guest(f"sla {name}", numbers)
    elif not task.has_context(config, "vmperf_baseline"):
        raise task.Wrong(
            f"sla {name} against: bare_metal needs the context "
            "vmperf_baseline: {name: ...}"
        )
    if max(at, default=1) < 2 and sla.get("against") != "bare_metal":
        raise task.Wrong(
            f"sla {name}: one guest has nobody to lose to or to share with; "
            "add a level of 2 guests or more"
        )


def _check_lone_guest(what: str, numbers: tuple[int, ...]) -> None:
    if 1 not in numbers:
        raise task.Wrong(
            f"{what}: a loss against one guest needs the level 1 (levels "
            f"are: {', '.join(map(str, numbers))}); add it"
        )


def _check_matches(
    what: str,
    given: collections.abc.Mapping[str, float],
    assignments: Assignments,
) -> None:
    names = [
        metric.name
        for one in assignments
        for metric in one.metrics()
        if metric.scale == "ratio"
    ]
    for pattern in limits.Limits(given).unmatched(names):
        raise task.Wrong(
            f"{what}: {pattern!r} matches no metric of this task (it has: "
            f"{', '.join(sorted(names))})"
        )


def check_copies(
    config: Config, assignments: Assignments, numbers: tuple[int, ...]
) -> None:
    """Refuse a baseline that was not recorded in as many copies."""
    if not (wanted := compared(config)):
        return
    metal = config["contexts"]["vmperf_baseline"]["name"]
    baseline = store.Store(CONF.vmperf.baseline_dir).load(metal)
    for one in assignments:
        found = matching.covers(baseline, one.workload.name, one.arguments)
        copies = {entry["shape"]["copies"] for entry in found}
        for number in wanted:
            if number not in copies:
                raise task.Wrong(
                    "sla vmperf_degradation against bare_metal: baseline "
                    f"{metal!r} has {one.title} in "
                    f"{', '.join(map(str, sorted(copies)))} copies, not in "
                    f"{number}; record it with --copies "
                    f"{','.join(map(str, sorted(numbers)))}"
                )
