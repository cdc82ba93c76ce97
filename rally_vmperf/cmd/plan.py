"""Command that says what a task will take, and boots nothing."""

import argparse
import typing as t

from rally_vmperf.cmd import base
from rally_vmperf.cmd import rally_api
from rally_vmperf.cmd import task_file
from rally_vmperf.questions.common import task as tasks

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
        """Return one row per thing that is taken."""
        asked = task_file.read(parsed.task, parsed)
        platform = rally_api.platform(parsed.env)
        rows: list[tuple[t.Any, ...]] = []
        for one, entry in asked:
            found = _requirements(one, platform)
            rows += [
                (one.title, r.what, r.needed, _room(r.room), r.of)
                for r in found.rows
            ]
            rows.append(
                (one.title, "minutes, about", entry.minutes(one), "", "")
            )
            for remark in found.remarks:
                self._say(f"{one.title}: {remark}")
            if found.refusal:
                self._say(f"{one.title}: refused: {found.refusal}")
                self.code = 1
        return _COLUMNS, rows

    def _say(self, line: str) -> None:
        self.app.stderr.write(f"{line}\n")


def _requirements(one: tasks.Task, platform: dict[str, t.Any]) -> t.Any:
    from rally_vmperf.guests import plan

    return plan.of_options(
        {"env": {"platforms": {"openstack": platform}}},
        one.guests,
        has_networks="network" not in one.contexts,
    ).requirements


def _room(room: int | None) -> int | str:
    return "no limit known" if room is None else room
