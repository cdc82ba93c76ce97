# SPDX-License-Identifier: Apache-2.0
"""Validators of tasks, of the cloud, and of the SSH options of guests."""

import dataclasses
import functools
import typing as t

from rally.common import cfg
from rally.common import logging
from rally.common import validation

from rally_vmperf import documents
from rally_vmperf import opts
from rally_vmperf import sanitize
from rally_vmperf.baseline import document
from rally_vmperf.baseline import store
from rally_vmperf.guests import schema
from rally_vmperf.guests.cleanup import ledger
from rally_vmperf.machines import base
from rally_vmperf.questions import checks
from rally_vmperf.questions import table
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task
from rally_vmperf.questions.common import task as tasks

if t.TYPE_CHECKING:
    from rally_vmperf.guests.planning import plan

CONF = cfg.CONF
LOG = logging.getLogger(__name__)

#: The configuration or context that Rally validates.
Config = documents.Arguments


class TaskValidator(validation.Validator):
    """A validator that reports errors of rally_vmperf in one line."""

    def validate(
        self,
        context: Config,
        config: Config | None,
        plugin_cls: t.Any,
        plugin_cfg: Config | None,
    ) -> None:
        """Reject an invalid workload of a task with a Rally error.

        :raises ValidationError: If the workload is invalid; the message names
            the key, the value and the rule.
        """
        if config is not None:
            try:
                self.check(context, config, plugin_cls)
            except checks.REQUEST_ERRORS as error:
                self.fail(str(error))

    def check(self, context: Config, config: Config, scenario: t.Any) -> None:
        """Raise one of ``checks.REQUEST_ERRORS`` if a workload is invalid.

        :param context: The context objects of the validation.
        :param config: The configuration of the workload.
        :param scenario: The class of the scenario plugin.
        """
        raise NotImplementedError


@validation.configure(name="vmperf_task")
class Task(TaskValidator):
    """Check arguments, contexts, SLAs and runner of a task together."""

    def check(self, context: Config, config: Config, scenario: t.Any) -> None:
        """Reject an invalid task, without requests to the cloud."""
        workload, task_question = _convert_workload(config, scenario)
        warn_about_killed_runs()
        # The validator vmperf_cloud completes other tasks and checks them.
        if not workload.arguments.needs_host_cpus:
            _check_task(workload, task_question)


@validation.add("required_platform", platform="openstack", users=True)
@validation.configure(name="vmperf_cloud")
class Cloud(TaskValidator):
    """Check image, flavor, disk, network, quota and shapes in the baseline."""

    def check(self, context: Config, config: Config, scenario: t.Any) -> None:
        """Reject a task whose guests the cloud cannot run."""
        if not context.get("users"):
            return
        workload, task_question = _convert_workload(config, scenario)
        if workload.arguments.needs_host_cpus:
            workload = _complete_task(context, workload, task_question)
            _check_task(workload, task_question)
        planned = _check_capacity(context, workload, task_question)
        demand, *_ = planned.demands
        shape = document.Shape(
            demand.flavor.vcpus, demand.flavor.memory_mib, demand.count
        )
        sized = dataclasses.replace(
            workload, vcpus=shape.vcpus, sequential=planned.sequential
        )
        # Its remarks do not depend on the flavor, and are reported already.
        task_question.check(sized)
        checks.check_space(sized, planned.demands)
        _check_baseline(workload, task_question, shape)
        minutes = task_question.estimate_minutes(sized)
        LOG.info(f"plan: about {minutes} minutes, including boot of guests")


@functools.cache
def warn_about_killed_runs() -> None:
    """Log a warning for each killed run, once per process."""
    # The import of the SDK is slow, and not required to list plugins.
    from rally_vmperf.guests.cleanup import killed

    run_ledger = ledger.Ledger(CONF.vmperf.journal_dir)
    for line in killed.describe_killed_runs(
        run_ledger, opts.config_files(CONF)
    ):
        LOG.warning(sanitize.text(line))


def _convert_workload(
    config: Config, scenario: t.Any
) -> tuple[tasks.AnyTask, question.AnyQuestion]:
    """Return a workload of Rally as a task, and its question.

    :raises InvalidTask: If arguments that all checks require are invalid.
    """
    task_question = table.scenarios()[scenario.get_name()]
    return task_question.create_task(config), task_question


def _check_task(
    workload: tasks.AnyTask, task_question: question.AnyQuestion
) -> None:
    """Reject an invalid task, and log remarks on a valid one."""
    baselines = store.Store(CONF.vmperf.baseline_dir)
    for remark in checks.check_task(workload, task_question, baselines):
        LOG.info(sanitize.text(remark))


def _complete_task(
    context: Config,
    workload: tasks.AnyTask,
    task_question: question.AnyQuestion,
) -> tasks.AnyTask:
    """Return a task with the CPUs of hosts, which it needs."""
    from rally_vmperf.guests.planning import compute_hosts

    return task_question.complete_task(
        workload,
        lambda: compute_hosts.find_cpu_count(context, workload.guests),
    )


def _check_capacity(
    context: Config,
    workload: tasks.AnyTask,
    task_question: question.AnyQuestion,
) -> "plan.Plan":
    """Return the plan of the guests; reject guests that do not fit."""
    from rally_vmperf.guests.planning import plan

    # A network that a context creates does not exist yet.
    planned = plan.create_plan_from_options(
        context,
        task_question.create_guest_options(workload),
        has_networks="network" not in workload.contexts,
        **task_question.list_flags(workload),
    )
    planned.requirements.check()
    return planned


def _check_baseline(
    workload: tasks.AnyTask,
    task_question: question.AnyQuestion,
    shape: document.Shape,
) -> None:
    """Reject a baseline without the shape, or with which no run can pass."""
    copies = task_question.list_compared_copies(workload)
    if not copies or workload.baseline is None:
        return
    baseline = store.Store(CONF.vmperf.baseline_dir).find(workload.baseline)
    for number in copies:
        checks.check_reference(
            workload,
            task_question,
            baseline,
            dataclasses.replace(shape, copies=number),
        )


@validation.configure(name="vmperf_reach")
class Reach(TaskValidator):
    """Check jump hosts, namespace, login and host key of a task."""

    def check(self, context: Config, config: Config, scenario: t.Any) -> None:
        """Reject a task whose files or routes do not exist on this machine."""
        try:
            question = table.scenarios()[scenario.get_name()]
            workload = question.create_task(config)
        except task.InvalidTask:
            return  # The validator vmperf_task reports the error.
        # The import of the SDK is slow, and not required to list plugins.
        from rally_vmperf.runs import guest_arrival

        for key in ("jump", "login", "host_key"):
            self._check_keys(key, workload.guests.get(key))
        try:
            guest_arrival.check_access(
                workload.guests, workload.peer, workload.control
            )
        except base.MachineError as error:
            self.fail(str(error))

    def _check_keys(self, key: str, value: t.Any) -> None:
        """Reject an option that does not match its schema; name its keys.

        Rally's check of the schema does not name the allowed keys.

        :param key: The name of the option.
        :param value: The value of the option; None if it is not set.
        """
        rule = schema.PROPERTIES[key]
        error = None if value is None else documents.first_error(rule, value)
        if error is not None:
            quantity = "exactly one of" if "maxProperties" in rule else "keys"
            self.fail(
                f"vmperf_guests {key}: {error.message}; allowed: {quantity} "
                + ", ".join(rule["properties"])
            )
