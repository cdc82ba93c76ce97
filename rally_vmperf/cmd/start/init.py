# SPDX-License-Identifier: Apache-2.0
"""Command that prepares the first run on a cloud."""

import argparse
import os
import pathlib
import shlex
import shutil
import typing as t

from rally_vmperf import opts
from rally_vmperf.baseline import document
from rally_vmperf.baseline import store
from rally_vmperf.cmd import base
from rally_vmperf.cmd import rally_api
from rally_vmperf.cmd import task_file
from rally_vmperf.cmd.start import settings

if t.TYPE_CHECKING:
    from rally_vmperf.guests.setup import login

_CONF = """\
[database]
connection = sqlite:///{database}
"""


class Init(base.Command):
    """Prepare the first run on a cloud of clouds.yaml.

    The command checks the login, creates Rally's configuration, database and
    environment, and writes vmperf.yaml with task arguments that suit the
    cloud. Existing files and environments are kept, so that the command can
    be repeated. Nothing is created in the cloud.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        parser.add_argument(
            "--cloud",
            metavar="NAME",
            help="cloud in clouds.yaml; default: OS_CLOUD, or the only one",
        )
        parser.add_argument(
            "--directory",
            type=pathlib.Path,
            default=pathlib.Path(),
            metavar="DIRECTORY",
            help="directory of vmperf.yaml; default: the current directory",
        )
        parser.add_argument(
            "--baseline",
            type=_parse_name,
            default="none",
            metavar="NAME",
            help="baseline of bare metal that guests are compared with, which "
            "is recorded later; default: none",
        )

    def take_action(self, parsed: argparse.Namespace) -> int:
        """Prepare the run; return 1 if something is missing, else 0."""
        from rally_vmperf.guests.setup import login

        cloud_login = login.log_in(parsed.cloud)
        name = cloud_login.cloud_name
        self._describe_login(cloud_login)
        self._configure(parsed)
        state = rally_api.register_environment(name, cloud_login.spec)
        self.print_line(f"Rally environment {name!r}: {state}, and in use")
        path = parsed.directory / task_file.SETTINGS
        missing: list[str] = []
        commands: list[str] = []
        if path.exists():
            self.print_line(f"{path}: exists, kept")
        else:
            missing, commands = self._write_settings(parsed, path, cloud_login)
        for line in missing:
            self.print_line(f"missing: {line}")
        self._print_next_commands(parsed, commands)
        return 1 if missing else 0

    def _write_settings(
        self,
        parsed: argparse.Namespace,
        path: pathlib.Path,
        cloud_login: "login.Login",
    ) -> tuple[list[str], list[str]]:
        """Write arguments that suit the cloud.

        :returns: What the cloud lacks, and the commands that add it.
        """
        from rally_vmperf.guests.setup import offers

        connection = cloud_login.connection
        name = shlex.quote(cloud_login.cloud_name)
        build_command = f"rally-vmperf image build --upload --cloud {name}"
        can_build = _can_build_images()
        image = offers.choose_image(
            connection, build_command, can_build=can_build
        )
        flavor = offers.choose_flavor(
            connection, image.arguments.get("image", offers.IMAGE)
        )
        flavor, network = offers.join_options(
            flavor,
            offers.choose_network(connection, is_admin=cloud_login.is_admin),
        )
        parsed.directory.mkdir(parents=True, exist_ok=True)
        content = settings.render(
            parsed.baseline,
            document.format_record_command(),
            (image.arguments, image.reason),
            (flavor.arguments, flavor.reason),
            (network.arguments, network.reason),
            offers.list_volume_types(connection),
        )
        settings.write_new(path, content)
        self.print_line(f"{path}: written")
        offered = (image, flavor, network)
        commands = [build_command] if can_build and image.missing else []
        return [offer.missing for offer in offered if offer.missing], commands

    def _describe_login(self, cloud_login: "login.Login") -> None:
        """Print the user, its roles, and what they permit."""
        rights = (
            "sees the hosts, and may choose them"
            if cloud_login.is_admin
            else "may not see or choose hosts, which only an administrator may"
        )
        self.print_line(
            f"cloud {cloud_login.cloud_name!r}: user {cloud_login.user!r} of "
            f"project {cloud_login.project!r} (roles: "
            f"{', '.join(cloud_login.roles)}) {rights}"
        )

    def _configure(self, parsed: argparse.Namespace) -> None:
        """Write Rally's configuration if there is none; create the database.

        :raises ValueError: If other users could read the database.
        """
        path = opts.find_file(parsed.config_file)
        if path is None:
            path = pathlib.Path("~/.rally/rally.conf").expanduser()
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            database = path.parent / "rally.sqlite"
            settings.write_new(path, _CONF.format(database=database), 0o600)
            self.print_line(f"Rally's configuration: {path} written")
        else:
            self.print_line(f"Rally's configuration: {path} exists, used")
        sqlite_path = rally_api.create_database(str(path))
        if sqlite_path:
            self.print_line(f"Rally's database: {sqlite_path}")

    def _print_next_commands(
        self, parsed: argparse.Namespace, first_commands: list[str]
    ) -> None:
        """Print the commands that follow, in their order.

        :param first_commands: The commands that supply what is missing.
        """
        self.print_line("next:")
        if parsed.directory.resolve() != pathlib.Path.cwd():
            self.print_line(f"  cd {parsed.directory}")
        for command in first_commands:
            self.print_line(f"  {command}")
        if parsed.baseline != "none":
            self.print_line(
                f"  rally-vmperf baseline record {parsed.baseline} --host "
                "root@COMPUTE_HOST"
            )
        self.print_line("  rally-vmperf plan")
        self.print_line("  rally-vmperf run")


def _can_build_images() -> bool:
    """Return whether this machine can build the guest image."""
    return os.geteuid() == 0 and shutil.which("dpkg") is not None


def _parse_name(text: str) -> str:
    """Return the name of a baseline unchanged; reject an invalid one."""
    if not store.NAME.fullmatch(text):
        raise argparse.ArgumentTypeError(
            f"{text!r}: must be the name of a baseline: {store.NAME_RULE}"
        )
    return text
