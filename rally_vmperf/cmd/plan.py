"""Command that shows the requirements of a task."""

import argparse
import typing as t

from rally_vmperf.cmd import base
from rally_vmperf.cmd import rally_api
from rally_vmperf.cmd import task_file

_COLUMNS = ("Subtask", "What", "Needed", "Room", "Of")


class Plan(base.Lister):
    """Show the guests, quota, hosts and minutes that a task requires.

    No guest is booted. If the task would be rejected before the first boot,
    the reason is printed, and the exit code is 1. The capacity of the hosts
    is printed only if Rally's environment has an admin.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        parser.add_argument("task", metavar="TASK", help="task file")
        task_file.add_arguments(parser)
        parser.add_argument(
            "--env", help="Rally environment; default: the current environment"
        )
        rally_api.add_config_file(parser)

    def take_action(self, parsed: argparse.Namespace) -> t.Any:
        """Return columns and one row per resource that the task requires."""
        from rally_vmperf.guests.planning import plan

        workloads = task_file.read_task(parsed.task, parsed)
        platform = rally_api.get_platform(parsed.env)
        rows: list[tuple[t.Any, ...]] = []
        for workload, question in workloads:
            requirements = plan.create_plan_from_options(
                {"env": {"platforms": {"openstack": platform}}},
                workload.guests,
                has_networks="network" not in workload.contexts,
                one_host=question.one_host(workload),
            ).requirements
            rows += [
                (
                    *(workload.title, row.resource, row.amount),
                    "no limit known" if row.free is None else row.free,
                    row.owner,
                )
                for row in requirements.rows
            ]
            minutes = question.minutes(workload)
            rows.append((workload.title, "minutes, about", minutes, "", ""))
            remarks = list(requirements.remarks)
            if requirements.error:
                remarks.append(f"rejected: {requirements.error}")
                self.code = 1
            for remark in remarks:
                self.warn(f"{workload.title}: {remark}")
        return _COLUMNS, rows
