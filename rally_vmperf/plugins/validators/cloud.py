"""Validator: what the cloud lacks is found before anything boots."""

import dataclasses
import typing as t

from rally.common import cfg
from rally.common import logging
from rally.common import validation

from rally_vmperf.baseline import document
from rally_vmperf.baseline import matching
from rally_vmperf.baseline import store
from rally_vmperf.execution import assignment
from rally_vmperf.execution import comparison
from rally_vmperf.execution import estimate
from rally_vmperf.execution import levels
from rally_vmperf.guests import credentials
from rally_vmperf.guests import errors
from rally_vmperf.guests import request
from rally_vmperf.plugins.validators import density_limits
from rally_vmperf.plugins.validators import task

CONF = cfg.CONF
LOG = logging.getLogger(__name__)


@validation.add("required_platform", platform="openstack", users=True)
@validation.configure(name="vmperf_cloud")
class Cloud(validation.Validator):
    """Check image, flavor, network, quota, and the baseline's shapes."""

    def validate(
        self,
        context: dict[str, t.Any],
        config: dict[str, t.Any] | None,
        plugin_cls: t.Any,
        plugin_cfg: dict[str, t.Any] | None,
    ) -> None:
        """Ask the cloud for everything that the guests will need.

        :raises ValidationError: naming what is missing and what there is
        """
        if config is None or not context.get("users"):
            return
        try:
            self._check_shape(config, self._shape(context, config))
            _tell_minutes(config)
        except (errors.GuestError, document.BaselineError) as error:
            self.fail(str(error))

    def _shape(
        self, context: dict[str, t.Any], config: dict[str, t.Any]
    ) -> matching.Shape:
        from rally_vmperf.guests import cloud
        from rally_vmperf.guests import plan

        options = task.guests(config)
        asked = request.of_config(options)
        credential = credentials.of_guests(context, options)
        connection = cloud.connect(credential)
        admin = credentials.of_admin(context)
        seen = cloud.connect(admin) if admin else None
        # The network of a context does not exist yet; the rest does.
        has_networks = not task.has_context(config, "network")
        planned = plan.make(connection, asked, seen, has_networks=has_networks)
        planned.requirements.check()
        (flavor,) = planned.flavors
        return matching.Shape(flavor.vcpus, flavor.memory_mib, asked.count)

    def _check_shape(
        self, config: dict[str, t.Any], shape: matching.Shape
    ) -> None:
        shapes = [shape]
        if "levels" in config["args"]:
            shapes = [
                dataclasses.replace(shape, copies=copies)
                for copies in density_limits.compared(config)
            ]
        if not shapes:
            return
        name = config["contexts"]["vmperf_baseline"]["name"]
        baseline = store.Store(CONF.vmperf.baseline_dir).load(name)
        assignments = assignment.assign(config["args"]["workloads"])
        for one in shapes:
            comparison.entries(baseline, assignments, one)


def _tell_minutes(config: dict[str, t.Any]) -> None:
    """Say how long it will take, for whoever is about to wait."""
    given = config["args"].get("levels")
    times = config["runner"].get("times", 1)
    numbers = levels.expand(given) if given else (1,)
    minutes = estimate.minutes_of_levels(
        assignment.assign(config["args"]["workloads"]),
        times,
        numbers,
        stops=config["args"].get("others") == "stopped",
    )
    LOG.info(f"plan: about {minutes} minutes, guests' boot included")
