"""Command that removes what killed runs left."""

import argparse
import typing as t

from rally_vmperf import opts
from rally_vmperf.cmd import base
from rally_vmperf.cmd import rally_api
from rally_vmperf.guests import cloud
from rally_vmperf.guests.cleanup import killed
from rally_vmperf.guests.cleanup import ledger
from rally_vmperf.guests.cleanup import ownership
from rally_vmperf.guests.cleanup import removal

_COLUMNS = ("Task", "Run", "Kind", "Name", "ID", "Outcome")


class Cleanup(base.Lister):
    """List resources that runs left in the cloud; with --yes, remove them.

    Guests, volumes, addresses, ports, groups and key pairs of ours are
    found, and servers, networks, subnets, routers, users and projects of
    Rally's contexts. Only what has exactly one of Rally's names counts, and
    only of runs that are known to have ended: by the ledger of this machine
    or by Rally's database. With --all or --task, runs count as well of which
    neither knows anything. What a process on this machine still uses is
    never removed.

    An environment with an admin is looked through where runs can have left
    something: in the admin's own project, those with Rally's names, those
    with such servers, those of the ledger, and those given with --project.

    The exit code is 0 when nothing is left, 1 when something is: also
    without --yes.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""
        rally_api.add_argument(parser)
        parser.add_argument(
            "--env", help="Rally environment; default: the one in use"
        )
        parser.add_argument("--task", metavar="UUID", help="only this task's")
        parser.add_argument(
            "--project",
            metavar="NAME_OR_ID",
            action="append",
            default=[],
            help="as an admin, look into this project too; may be repeated",
        )
        parser.add_argument(
            "--all",
            action="store_true",
            help="include runs that are unknown here",
        )
        parser.add_argument("--yes", action="store_true", help="remove them")

    def take_action(self, parsed: argparse.Namespace) -> t.Any:
        """Return one row per resource."""
        rally_api.load(parsed.config_file).check_db_revision()
        platform = rally_api.platform(parsed.env)
        known = ledger.Ledger(opts.read(parsed.config_file).journal_dir)
        entries = list(known.entries())
        tasks = rally_api.tasks()
        sweeping = removal.Sweep(
            views(platform, entries, parsed.project),
            ownership.Register(entries, tasks),
            task=parsed.task,
            everything=parsed.all,
        )
        found = sweeping.find()
        left = {one.resource: "" for one in found if sweeping.chosen(one)}
        if parsed.yes:
            left = sweeping.remove(found, self.app.LOG.info)
            dead = [e for e in entries if parsed.task in (None, e.task)]
            forget(known, dead, platform, {one.name for one in left})
            crash_killed(dead, tasks)
        self.code = 1 if left else 0
        rows = []
        for one in found:
            outcome = "kept"
            if sweeping.chosen(one):
                outcome = "to be removed with --yes"
                if parsed.yes:
                    reason = left.get(one.resource)
                    outcome = f"not removed: {reason}" if reason else "removed"
            resource, run = one.resource, one.run
            what = (resource.kind, resource.name, resource.id)
            rows.append((run.task, run.state, *what, outcome))
        return _COLUMNS, rows


def views(
    platform: dict[str, t.Any],
    entries: list[ledger.Entry],
    projects: list[str],
) -> list[removal.View]:
    """Return the cloud as each credential of an environment shows it.

    :param entries: of the ledger; an admin looks into their projects
    :param projects: names or identifiers of others that it looks into
    :raises ValueError: for projects without an admin
    """
    admin, users = platform.get("admin"), platform.get("users") or []
    found = [
        removal.View(connection=cloud.connect(user), admin=False)
        for user in users
    ]
    if not admin:
        if projects:
            raise ValueError(
                f"--project {projects[0]}: only an admin can look into other "
                "projects, and the environment has none; leave it out, or "
                "choose an environment with an admin: --env"
            )
        return found
    connection = cloud.connect(admin)
    here = [one for one in entries if one.auth_url == admin["auth_url"]]
    with cloud.asking("look for the projects of runs"):
        looked_into = killed.projects(
            connection, [*projects, *(one.project for one in here)]
        )
    return [
        removal.View(
            connection=connection,
            admin=True,
            # What is no name may identify one, even one that is gone.
            projects=(*looked_into, *projects),
        ),
        *found,
    ]


def forget(
    known: ledger.Ledger,
    entries: list[ledger.Entry],
    platform: dict[str, t.Any],
    names: set[str],
) -> None:
    """Drop the entries of killed runs that left nothing.

    :param names: of what could not be removed
    """
    admin = platform.get("admin")
    credentials = [admin] if admin else platform.get("users") or []
    for entry in entries:
        seen = any(
            killed.visible(entry, one, admin=bool(admin))
            for one in credentials
        )
        remains = any(name.startswith(entry.prefix) for name in names)
        if seen and not remains and entry.process.state() == "killed":
            known.drop(entry.owner)


def crash_killed(
    entries: list[ledger.Entry], tasks: list[ownership.Task]
) -> None:
    """Tell Rally of killed runs, whose tasks it has as running."""
    states = {entry.task: entry.process.state() for entry in entries}
    for task in tasks:
        if not task.ended and states.get(task.uuid) == "killed":
            rally_api.crash(task.uuid)
