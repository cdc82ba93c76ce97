"""Command that shows what a task needs, without booting anything."""

import argparse
import typing as t

from rally_vmperf.cmd import base
from rally_vmperf.cmd import rally_api
from rally_vmperf.cmd import task_file

_COLUMNS = ("Subtask", "What", "Needed", "Room", "Of")


class Plan(base.Lister):
    """Show what a task will take: guests, quota, hosts, minutes.

    Nothing is booted. What would be refused before the first boot is told
    here too; the exit code is then 1. What is free on the hosts is only told
    where Rally's environment has an admin.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""
        parser.add_argument("task", metavar="TASK", help="file of the task")
        task_file.add_arguments(parser)
        parser.add_argument(
            "--env", help="Rally environment; default: the one in use"
        )
        rally_api.add_argument(parser)

    def take_action(self, parsed: argparse.Namespace) -> t.Any:
        """Return one row per resource that the task needs."""
        from rally_vmperf.guests.planning import plan

        asked = task_file.read(parsed.task, parsed)
        platform = rally_api.platform(parsed.env)
        rows: list[tuple[t.Any, ...]] = []
        for one, entry in asked:
            found = plan.of_options(
                {"env": {"platforms": {"openstack": platform}}},
                one.guests,
                has_networks="network" not in one.contexts,
                one_host=entry.one_host(one),
            ).requirements
            rows += [
                (
                    *(one.title, row.what, row.needed),
                    "no limit known" if row.room is None else row.room,
                    row.of,
                )
                for row in found.rows
            ]
            minutes = entry.minutes(one)
            rows.append((one.title, "minutes, about", minutes, "", ""))
            remarks = list(found.remarks)
            if found.refusal:
                remarks.append(f"refused: {found.refusal}")
                self.code = 1
            for remark in remarks:
                self.warn(f"{one.title}: {remark}")
        return _COLUMNS, rows
