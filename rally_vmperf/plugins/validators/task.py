"""Validators that check a task before anything boots."""

import dataclasses
import functools
import typing as t

from rally.common import cfg
from rally.common import logging
from rally.common import validation

from rally_vmperf import opts
from rally_vmperf.baseline import matching
from rally_vmperf.baseline import store
from rally_vmperf.guests.cleanup import ledger
from rally_vmperf.questions import checks
from rally_vmperf.questions import table
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task as tasks
from rally_vmperf.runs import reference

CONF = cfg.CONF
LOG = logging.getLogger(__name__)

Config = dict[str, t.Any]


class Checking(validation.Validator):
    """Turns an error of our checks into one line for Rally."""

    def validate(
        self,
        context: Config,
        config: Config | None,
        plugin_cls: t.Any,
        plugin_cfg: Config | None,
    ) -> None:
        """Check a workload of a task.

        :raises ValidationError: naming the key, the value and what is allowed
        """
        if config is not None:
            try:
                self.check(context, config, plugin_cls)
            except checks.REFUSALS as error:
                self.fail(str(error))

    def check(self, context: Config, config: Config, scenario: t.Any) -> None:
        """Raise one of ``checks.REFUSALS`` for a task that is wrong.

        :param scenario: the plugin
        """
        raise NotImplementedError


@validation.configure(name="vmperf_task")
class Task(Checking):
    """Check arguments, contexts, SLA and runner of a task together."""

    def check(self, context: Config, config: Config, scenario: t.Any) -> None:
        """Check everything that can be checked without the cloud."""
        asked, entry = _read(config, scenario)
        baselines = store.Store(CONF.vmperf.baseline_dir)
        tell_killed()
        for remark in checks.check(asked, entry, baselines):
            LOG.info(remark)


@validation.add("required_platform", platform="openstack", users=True)
@validation.configure(name="vmperf_cloud")
class Cloud(Checking):
    """Check image, flavor, network, quota, and the baseline's shapes."""

    def check(self, context: Config, config: Config, scenario: t.Any) -> None:
        """Ask the cloud for everything that the guests will need."""
        if not context.get("users"):
            return
        asked, entry = _read(config, scenario)
        shape = _shape(context, asked, one_host=entry.one_host(asked))
        _check_baseline(asked, shape, entry.compared(asked))
        minutes = entry.minutes(asked)
        LOG.info(f"plan: about {minutes} minutes, guests' boot included")


@functools.cache
def tell_killed() -> None:
    """Name runs that were killed, before any context acts; once a process."""
    # It needs the SDK, which Rally shall not import for a list of plugins.
    from rally_vmperf.guests.cleanup import killed

    entries = ledger.Ledger(CONF.vmperf.journal_dir)
    for line in killed.known(entries, opts.config_files(CONF)):
        LOG.warning(line)


def _read(
    config: Config, scenario: t.Any
) -> tuple[tasks.Task, question.Question]:
    """Return one of Rally's workloads as a task, with its question.

    :raises Refused: for arguments without which nothing can be checked
    """
    entry = table.scenarios()[scenario.get_name()]
    asked = tasks.of_rally(config, entry.scenario, defaults=entry.defaults)
    return asked, entry


def _shape(
    context: Config, asked: tasks.Task, *, one_host: bool
) -> matching.Shape:
    """Return the shape of the guests, having checked that there is room."""
    from rally_vmperf.guests.planning import plan

    # The network of a context does not exist yet; the rest does.
    planned = plan.of_options(
        context,
        asked.guests,
        has_networks="network" not in asked.contexts,
        one_host=one_host,
    )
    planned.requirements.check()
    (flavor,) = planned.flavors
    return matching.Shape(flavor.vcpus, flavor.memory_mib, planned.asked.count)


def _check_baseline(
    asked: tasks.Task, shape: matching.Shape, copies: tuple[int, ...]
) -> None:
    """Refuse a baseline that was not recorded in this shape."""
    if not copies or asked.baseline is None:
        return
    baseline = store.Store(CONF.vmperf.baseline_dir).find(asked.baseline)
    for number in copies:
        one = dataclasses.replace(shape, copies=number)
        reference.entries(baseline, asked.assignments, one)
