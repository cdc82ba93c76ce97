"""Validator: what is wrong with a task is found before anything boots."""

import typing as t

from rally.common import cfg
from rally.common import logging
from rally.common import validation

from rally_vmperf.baseline import store
from rally_vmperf.questions import checks
from rally_vmperf.questions import table
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task

CONF = cfg.CONF
LOG = logging.getLogger(__name__)


@validation.configure(name="vmperf_task")
class Task(validation.Validator):
    """Check arguments, contexts, SLA and runner of a task together."""

    def validate(
        self,
        context: dict[str, t.Any],
        config: dict[str, t.Any] | None,
        plugin_cls: t.Any,
        plugin_cfg: dict[str, t.Any] | None,
    ) -> None:
        """Check everything that can be checked without the cloud.

        :raises ValidationError: naming the key, the value and what is allowed
        """
        if config is None:
            return
        try:
            asked, entry = read(config, plugin_cls)
            baselines = store.Store(CONF.vmperf.baseline_dir)
            for remark in checks.check(asked, entry, baselines):
                LOG.info(remark)
        except checks.REFUSALS as error:
            self.fail(str(error))


def read(
    config: dict[str, t.Any], scenario: t.Any
) -> tuple[task.Task, question.Question]:
    """Return a workload of Rally's as we see it, and what it asks.

    :param scenario: its plugin
    :raises Refused: for arguments without which nothing can be checked
    """
    name = scenario.get_name()
    return task.of_rally(config, name), table.scenarios()[name]
