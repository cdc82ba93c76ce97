"""Validators: what is wrong with a task is found before anything boots."""

import typing as t

from rally.common import cfg
from rally.common import validation

from rally_vmperf.baseline import document
from rally_vmperf.baseline import matching
from rally_vmperf.baseline import store
from rally_vmperf.execution import assignment
from rally_vmperf.execution import supplying
from rally_vmperf.guests import errors
from rally_vmperf.guests import request
from rally_vmperf.guests import schema
from rally_vmperf.measurement import limits
from rally_vmperf.workloads import base

CONF = cfg.CONF

Config = dict[str, t.Any]


class Wrong(Exception):
    """Something in a task is not allowed."""


#: What checking a task raises, each in one line.
REFUSALS = (
    base.WorkloadError,
    document.BaselineError,
    errors.GuestError,
    supplying.Error,
    Wrong,
)
#: SLAs that judge other questions -> the scenario that asks them.
_FOREIGN = {
    "vmperf_degradation": "VMPerf.density",
    "vmperf_fairness": "VMPerf.density",
}


@validation.configure(name="vmperf_task")
class Task(validation.Validator):
    """Check arguments, contexts, SLA and runner of a task together."""

    def validate(
        self,
        context: Config,
        config: Config | None,
        plugin_cls: t.Any,
        plugin_cfg: Config | None,
    ) -> None:
        """Check everything that can be checked without the cloud.

        :raises ValidationError: naming the key, the value and what is allowed
        """
        if config is None:
            return
        try:
            assignments = assignment.assign(workloads(config))
            check_runner(config)
            check_contexts(config, "vmperf_baseline", "vmperf_guests")
            supplying.of_options(guests(config))
            check_peer(config, assignments)
            check_slas(config, "VMPerf.overhead", _FOREIGN)
            _check_limits(config, assignments)
            check_baseline(config, assignments)
        except REFUSALS as error:
            self.fail(str(error))


def workloads(config: Config) -> list[Config]:
    """Return the workloads of a task.

    :raises Wrong: with the place where they are no list of workloads
    """
    import jsonschema

    given = config["args"].get("workloads")
    error = next(
        iter(jsonschema.Draft7Validator(assignment.SCHEMA).iter_errors(given)),
        None,
    )
    if error is not None:
        raise Wrong(f"workloads{error.json_path[1:]}: {error.message}")
    return t.cast(list[Config], given)


def check_runner(config: Config) -> None:
    """Refuse runners that make no series of repetitions."""
    name, runner = config["runner_type"], config["runner"]
    if name != "serial":
        raise Wrong(
            f"runner {name!r}: repetitions must follow one another, and "
            "Ctrl-C must reach them; use {serial: {times: N}}"
        )
    times = runner.get("times", 1)
    warmup = config["args"].get("warmup", 0)
    if not isinstance(warmup, int) or not 0 <= warmup < times:
        raise Wrong(
            f"warmup {warmup!r}: must be a whole number from 0 to "
            f"{times - 1}, because the runner makes {times} repetitions"
        )


def check_contexts(config: Config, *names: str) -> None:
    """Refuse a task without these contexts."""
    for wanted in names:
        if not has_context(config, wanted):
            raise Wrong(f"contexts: {wanted} is missing")


def has_context(config: Config, name: str) -> bool:
    """Return whether a task asks for a context, with or without platform."""
    return name in {given.split("@")[0] for given in config["contexts"]}


def guests(config: Config) -> Config:
    """Return what a task asks of the one group of guests that it measures.

    :raises GuestError: for several groups
    """
    return request.one_group(guest_options(config))


def guest_options(config: Config) -> Config:
    """Return what a task asks of the guests context, groups as they stand."""
    for name, value in config["contexts"].items():
        if name.split("@")[0] == "vmperf_guests":
            return t.cast(Config, value)
    return {}


_PEER = {
    "type": "object",
    "required": ["address"],
    "additionalProperties": False,
    "properties": {
        "address": {"type": "string", "minLength": 1},
        "port": {"type": "integer", "minimum": 1, "maximum": 65535},
        "user": {"type": "string", "minLength": 1},
        "key_file": {"type": "string", "minLength": 1},
        "known_hosts": {"type": "string", "minLength": 1},
        "name": {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$"},
        "jump": schema.JUMP,
    },
}


def check_peer(
    config: Config, assignments: tuple[assignment.Assignment, ...]
) -> None:
    """Refuse a task whose network workloads lack another end."""
    import jsonschema

    needed = assignment.needs(assignments)
    peer = config["args"].get("peer")
    if peer is not None:
        for error in jsonschema.Draft7Validator(_PEER).iter_errors(peer):
            allowed = ", ".join(_PEER["properties"])  # type: ignore[arg-type]
            raise Wrong(f"peer: {error.message}; allowed keys: {allowed}")
    if "peer" in needed and not peer:
        raise Wrong(
            "peer is missing: network workloads need another end; give "
            "peer: {address: ..., user: ...}"
        )
    count = guests(config).get("count", 1)
    if "partner" in needed and count < 2:
        raise Wrong(
            f"count {count}: guest_to_guest needs at least 2 guests "
            "(vmperf_guests: {count: 2})"
        )


def check_slas(config: Config, scenario: str, foreign: dict[str, str]) -> None:
    """Refuse SLAs that judge another question.

    :param foreign: SLA -> the scenario that it judges
    """
    for name in sorted(foreign.keys() & config["sla"].keys()):
        raise Wrong(
            f"sla {name}: judges {foreign[name]}, not {scenario}; leave it out"
        )


def _check_limits(
    config: Config, assignments: tuple[assignment.Assignment, ...]
) -> None:
    metrics = [m for one in assignments for m in one.metrics()]
    sla = config["sla"].get("vmperf_overhead", {})
    for key, scale in (("max_percent", "ratio"), ("max", "count")):
        names = [m.name for m in metrics if m.scale == scale]
        unmatched = limits.Limits(sla.get(key, {})).unmatched(names)
        if unmatched:
            raise Wrong(
                f"sla vmperf_overhead {key}: {unmatched[0]!r} matches no "
                f"metric of this task (it has: {', '.join(sorted(names))})"
            )


def check_baseline(
    config: Config, assignments: tuple[assignment.Assignment, ...]
) -> None:
    """Refuse a baseline without these workloads and arguments."""
    name = config["contexts"]["vmperf_baseline"].get("name")
    if not isinstance(name, str):
        raise Wrong("vmperf_baseline: name is missing")
    baseline = store.Store(CONF.vmperf.baseline_dir).load(name)
    for one in assignments:
        matching.covers(baseline, one.workload.name, one.arguments)
