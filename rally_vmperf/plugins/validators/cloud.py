"""Validator: what the cloud lacks is found before anything boots."""

import dataclasses
import typing as t

from rally.common import cfg
from rally.common import logging
from rally.common import validation

from rally_vmperf.baseline import matching
from rally_vmperf.baseline import store
from rally_vmperf.guests import credentials
from rally_vmperf.guests import request
from rally_vmperf.plugins.validators import task
from rally_vmperf.questions import checks
from rally_vmperf.questions.common import task as tasks
from rally_vmperf.runs import reference

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
            asked, entry = task.read(config, plugin_cls)
            shape = _shape(context, asked)
            _check_baseline(asked, shape, entry.compared(asked))
            minutes = entry.minutes(asked)
            LOG.info(f"plan: about {minutes} minutes, guests' boot included")
        except checks.REFUSALS as error:
            self.fail(str(error))


def _shape(context: dict[str, t.Any], asked: tasks.Task) -> matching.Shape:
    """Return the shape of the guests, for which there is room."""
    from rally_vmperf.guests import cloud
    from rally_vmperf.guests import plan

    options = asked.guests
    wanted = request.of_config(options)
    credential = credentials.of_guests(context, options)
    connection = cloud.connect(credential)
    admin = credentials.of_admin(context)
    seen = cloud.connect(admin) if admin else None
    # The network of a context does not exist yet; the rest does.
    has_networks = "network" not in asked.contexts
    planned = plan.make(connection, wanted, seen, has_networks=has_networks)
    planned.requirements.check()
    (flavor,) = planned.flavors
    return matching.Shape(flavor.vcpus, flavor.memory_mib, wanted.count)


def _check_baseline(
    asked: tasks.Task, shape: matching.Shape, copies: tuple[int, ...]
) -> None:
    """Refuse a baseline that was not recorded in this shape."""
    if not copies or asked.baseline is None:
        return
    baseline = store.Store(CONF.vmperf.baseline_dir).load(asked.baseline)
    for number in copies:
        one = dataclasses.replace(shape, copies=number)
        reference.entries(baseline, asked.assignments, one)
