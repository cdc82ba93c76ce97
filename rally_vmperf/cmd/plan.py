"""Command that says what a task will take, and boots nothing."""

import argparse
import typing as t

from cliff import lister

from rally_vmperf.cmd import rally_api
from rally_vmperf.cmd import task_file
from rally_vmperf.questions.common import task as tasks

_COLUMNS = ("Subtask", "What", "Needed", "Room", "Of")


class Plan(lister.Lister):
    """Show what a task will take: guests, quota, hosts, minutes.

    Nothing is booted. What would be refused before the first boot is told
    here too; the exit code is then 1. What is free on the hosts is only told
    where Rally's environment has an admin.
    """

    _code = 0

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of the command's arguments."""
        parser = super().get_parser(prog_name)
        parser.add_argument("task", metavar="TASK", help="file of the task")
        task_file.add_arguments(parser)
        parser.add_argument(
            "--env", help="Rally environment; default: the one in use"
        )
        rally_api.add_argument(parser)
        return parser

    def run(self, parsed: argparse.Namespace) -> int:
        """Print the table; return whether all would be booted."""
        return super().run(parsed) or self._code

    def take_action(self, parsed: argparse.Namespace) -> t.Any:
        """Return one row per thing that is taken."""
        asked = task_file.read(
            parsed.task,
            config_file=parsed.config_file,
            args=parsed.task_args,
            args_file=parsed.task_args_file,
        )
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
                self._code = 1
        return _COLUMNS, rows

    def _say(self, line: str) -> None:
        self.app.stderr.write(f"{line}\n")


def _requirements(one: tasks.Task, platform: dict[str, t.Any]) -> t.Any:
    from rally_vmperf.guests import cloud
    from rally_vmperf.guests import credentials
    from rally_vmperf.guests import plan
    from rally_vmperf.guests import request

    context = {"env": {"platforms": {"openstack": platform}}}
    options = one.guests
    connection = cloud.connect(credentials.of_guests(context, options))
    admin = credentials.of_admin(context)
    seen = cloud.connect(admin) if admin else None
    asked = request.of_config(options)
    has_networks = "network" not in one.contexts
    return plan.make(
        connection, asked, seen, has_networks=has_networks
    ).requirements


def _room(room: int | None) -> int | str:
    return "no limit known" if room is None else room
