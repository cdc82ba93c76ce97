# SPDX-License-Identifier: Apache-2.0
"""Command that prepares the first run on a cloud."""

import argparse
import json
import os
import pathlib
import shlex
import shutil
import typing as t

from rally_vmperf import atomic
from rally_vmperf import documents
from rally_vmperf import errors
from rally_vmperf import opts
from rally_vmperf import sanitize
from rally_vmperf.baseline import document
from rally_vmperf.baseline import store
from rally_vmperf.cmd import base
from rally_vmperf.cmd import rally_api
from rally_vmperf.cmd import task_file

if t.TYPE_CHECKING:
    from rally_vmperf.guests.setup import login

_CONF = """\
[database]
connection = sqlite:///{database}
"""
_TEMPLATE = """\
# A task of rally_vmperf and its arguments, written by rally-vmperf init.
# In this directory, rally-vmperf plan, baseline record and run use them, and
# elsewhere with --settings. For other arguments, see the comments in the task.

# The task: a file, or one of the tasks of the package. Other questions are how
# many guests fit on a host (kvm-density.yaml), and at which allocation ratio
# if they are not always busy (allocation-ratio.yaml).
task: kvm-overhead.yaml

# The baseline of bare metal that guests are compared with, or none.
# To record one: {record_command}
baseline: {baseline}

# {image_reason}
{image}

# {flavor_reason}
{flavor}

# {network_reason}
{network}
{volumes}
# The other end of network workloads, which needs iperf3. Without it, they are
# skipped.
# peer: {{address: 192.0.2.10, user: root, key_file: ~/.ssh/id_ed25519}}

# The number of counted repetitions. For a first verdict in minutes, plan,
# baseline record and run take --quick: short arguments, three repetitions.
repetitions: 6

# The limits, by SLA: those of the task, and one on stolen CPU time, which is
# time that the host gave to other guests.
limits:
  vmperf_overhead:
    # The largest tolerated losses in percent of bare metal.
    max_percent:
      cpu.*.rate: 5
      cpu.*_time: 5
      memory.*: 10
      disk.*.iops: 20
      disk.*.bandwidth: 20
      disk.*.latency_p50: 20
      network.*.throughput: 15
    # The largest tolerated values.
    max:
      guest.cpu.steal_percent: 10
      network.*.retransmits: 1000
    # What the flavor promises: the smallest tolerated values.
    # min:
    #   disk.*.iops: 5000
    # Without a baseline or a peer, limits that need them are not judged, and
    # are listed.
    unmeasured: skip
{promise}"""
#: The SLA of guests without a baseline.
_PROMISE = """\
  # Each guest gets the rates, vCPUs, memory and disk that its flavor, volume
  # type and ports promise, and not more: min_percent is 95, max_percent 110.
  vmperf_promise: {}
"""
#: The hint on data volumes.
_VOLUMES = """
# For workloads with target: volume, add volumes: [{{size_gib: 20}}] to
# guest_options, with a type if it is not the default one.
# The volume types of the cloud: {types}
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
        content = render(
            parsed.baseline,
            document.format_record_command(),
            (image.arguments, image.reason),
            (flavor.arguments, flavor.reason),
            (network.arguments, network.reason),
            offers.list_volume_types(connection),
        )
        write_new(path, content)
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
            write_new(path, _CONF.format(database=database), 0o600)
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


def render(
    baseline: str,
    record_command: str,
    image: tuple[documents.Arguments, str],
    flavor: tuple[documents.Arguments, str],
    network: tuple[documents.Arguments, str],
    volume_types: str = "",
) -> str:
    """Return the content of vmperf.yaml.

    The names and reasons are from the cloud, which is not trusted.

    :param baseline: The name of the baseline, or ``none``.
    :param record_command: The command that records a baseline.
    :param image: The arguments for the image, and the reason.
    :param flavor: The arguments for the flavor, and the reason.
    :param network: The arguments for the network, and the reason.
    :param volume_types: The names of the volume types; empty without Cinder.
    """
    sections = {"image": image, "flavor": flavor, "network": network}
    return _TEMPLATE.format(
        baseline=json.dumps(baseline) if baseline != "none" else baseline,
        record_command=record_command,
        volumes=_VOLUMES.format(types=sanitize.line(volume_types))
        if volume_types
        else "",
        promise=_PROMISE if baseline == "none" else "",
        **{
            name: _format_arguments(arguments)
            for name, (arguments, _) in sections.items()
        },
        **{
            f"{name}_reason": sanitize.line(reason)
            for name, (_, reason) in sections.items()
        },
    )


def _format_arguments(arguments: documents.Arguments) -> str:
    """Return arguments as lines of YAML, with values in JSON."""
    return "\n".join(
        f"{name}: {_format_value(argument)}"
        for name, argument in arguments.items()
    )


def _format_value(argument: object) -> str:
    """Return a value in JSON, with the escapes of YAML.

    The escapes of JSON for emojis are two halves, which YAML does not join.
    """
    return "".join(
        letter
        if letter.isascii() and letter.isprintable()
        else f"\\U{ord(letter):08x}"
        for letter in json.dumps(argument, ensure_ascii=False)
    )


def write_new(path: pathlib.Path, text: str, mode: int = 0o644) -> bool:
    """Write a file unless it exists; return whether it was written.

    :param mode: The permissions of the file.
    :raises VMPerfError: If the file cannot be written. It does not exist
        then, because the next ``init`` would keep it.
    """
    try:
        atomic.write(path, text, replace=False, mode=mode)
    except FileExistsError:
        return False
    except OSError as error:
        raise errors.VMPerfError(
            f"{path}: {error.strerror or error}; free space, or use another "
            "directory"
        ) from error
    return True
