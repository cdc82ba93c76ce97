"""Validator: what is wrong with a density task is found before it boots."""

import typing as t

from rally.common import logging
from rally.common import validation

from rally_vmperf.execution import assignment
from rally_vmperf.execution import supplying
from rally_vmperf.guests import resting
from rally_vmperf.plugins.validators import density_limits
from rally_vmperf.plugins.validators import task
from rally_vmperf.questions.density import levels

LOG = logging.getLogger(__name__)

Config = task.Config
Assignments = tuple[assignment.Assignment, ...]

_FOREIGN = {"vmperf_overhead": "VMPerf.overhead"}


@validation.configure(name="vmperf_density")
class Density(validation.Validator):
    """Check levels, guests, limits and the rest of a density task together."""

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
            assignments = assignment.assign(task.workloads(config))
            numbers = levels.expand(config["args"].get("levels"))
            task.check_runner(config)
            task.check_contexts(config, "vmperf_guests")
            supplying.of_options(task.guests(config))
            _check_others(config)
            _check_guests(config, numbers)
            _check_pairs(assignments, numbers)
            task.check_peer(config, assignments)
            density_limits.check_stop(config, assignments, numbers)
            task.check_slas(config, "VMPerf.density", _FOREIGN)
            for name in density_limits.LIMITS:
                density_limits.check_sla(config, name, assignments, numbers)
            if task.has_context(config, "vmperf_baseline"):
                task.check_baseline(config, assignments)
            density_limits.check_copies(config, assignments, numbers)
        except (levels.LevelError, *task.REFUSALS) as error:
            self.fail(str(error))


def _check_others(config: Config) -> None:
    others = config["args"].get("others", "idle")
    if others not in tuple(resting.STATUS):
        raise task.Wrong(
            f"others {others!r:.80}: must be one of "
            f"{', '.join(resting.STATUS)}"
        )


def _check_guests(config: Config, numbers: tuple[int, ...]) -> None:
    asked = task.guests(config)
    count, largest = asked.get("count", 1), max(numbers)
    if count % largest:
        raise task.Wrong(
            f"count {count}: the largest level has {largest} guests on a "
            f"host; give vmperf_guests: {{count: {largest}}}, or a multiple "
            "of it for more hosts"
        )
    group = asked.get("server_group") or ""
    if group.endswith("anti-affinity") and largest > 1:
        raise task.Wrong(
            f"server_group {group!r}: {largest} guests are to share a host; "
            "use affinity, or leave it out"
        )
    one_host = next(
        (
            f"{key} {asked[key]!r}"
            for key in ("host", "server_group")
            if asked.get(key)
        ),
        "",
    )
    if count > largest and one_host:
        raise task.Wrong(
            f"count {count}: {largest} guests on each of {count // largest} "
            f"hosts are asked for, {one_host} puts all on one; leave it out, "
            f"or give count: {largest}"
        )
    keys = ("host", "server_group", "aggregate", "availability_zone")
    if largest > 1 and not any(asked.get(key) for key in keys):
        LOG.info(
            "Nova chooses the host: where guests come to run on different "
            "ones, all is void (finding guests_on_other_hosts); ask for "
            "server_group: affinity, or for a host"
        )


def _check_pairs(assignments: Assignments, numbers: tuple[int, ...]) -> None:
    odd = [number for number in numbers if number % 2]
    if odd and "partner" in assignment.needs(assignments):
        raise task.Wrong(
            f"levels {list(numbers)}: guest_to_guest needs pairs, so every "
            f"level must be even; {odd[0]} is not"
        )
