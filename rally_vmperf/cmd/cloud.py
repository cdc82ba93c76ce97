"""Commands for the embedded test cloud."""

import argparse
import os
import pathlib

from rally_vmperf.cloud import preflight
from rally_vmperf.cloud.state import addresses
from rally_vmperf.cloud.state import settings
from rally_vmperf.cloud.state import state_root
from rally_vmperf.cloud.system import console
from rally_vmperf.cloud.system import layout
from rally_vmperf.cmd import base


def add_root_option(parser: argparse.ArgumentParser) -> None:
    """Add the option for the state directory."""
    parser.add_argument(
        "--root",
        type=pathlib.Path,
        default=layout.DEFAULT_ROOT,
        metavar="DIRECTORY",
        help="state directory of the cloud (default: %(default)s)",
    )


def get_layout(parsed: argparse.Namespace) -> layout.Layout:
    """Return the directories of the cloud in the state directory."""
    preflight.check_user(os.geteuid())
    return layout.Layout(state_root.check_name(parsed.root.absolute()))


def _parse_network(text: str) -> addresses.Addresses:
    """Return the three ranges of a cloud in a network; reject others."""
    try:
        return addresses.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(
            f"{error}; use a network such as 10.66.0.0/22"
        ) from None


class Up(base.Command):
    """Start the embedded test cloud, an OpenStack in a container.

    The command requires root and Debian 12 or 13.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        add_root_option(parser)
        parser.add_argument(
            "--disk-cache",
            choices=settings.DISK_CACHES,
            help="cache mode of the disks of guests (default: the previous "
            "mode, initially none, so that guests measure the disk and not "
            "the memory of this machine)",
        )
        parser.add_argument(
            "--network",
            type=_parse_network,
            metavar="CIDR",
            help="network of /22 or larger, whose first three /24 networks "
            "the cloud uses (default: the previous network, initially one "
            "that this machine does not use)",
        )

        parser.add_argument(
            "--hypervisors",
            type=int,
            choices=(1, 2),
            help="number of hypervisors (default: the previous number, "
            "initially 1); a second one allows live migration",
        )
        parser.add_argument(
            "--rebuild",
            action="store_true",
            help="start with empty databases; guest image, passwords, "
            "baselines and journals remain, and packages of the container up "
            "to an age of 30 days",
        )

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Start the cloud, or apply new options to one that runs."""
        from rally_vmperf.cloud import bringup

        bringup.up(
            get_layout(parsed_args),
            console.Progress(),
            disk_cache=parsed_args.disk_cache,
            network=parsed_args.network,
            hypervisor_count=parsed_args.hypervisors,
            rebuild=parsed_args.rebuild,
        )


class Down(base.Command):
    """Stop the embedded cloud and all that runs in it.

    The command requires root. Files are deleted with --purge only.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        add_root_option(parser)
        parser.add_argument(
            "--purge",
            action="store_true",
            help="delete the state directory, too, with packages, guest "
            "image, databases, secrets, baselines and journals",
        )

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Stop all services."""
        from rally_vmperf.cloud import teardown

        teardown.down(
            get_layout(parsed_args),
            console.Progress(),
            purge=parsed_args.purge,
        )


class Status(base.Lister):
    """Show the state of the services of the embedded cloud.

    The command requires root.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        add_root_option(parser)

    def take_action(
        self, parsed_args: argparse.Namespace
    ) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return columns and one row per service."""
        from rally_vmperf.cloud import status

        return status.COLUMNS, [*status.describe(get_layout(parsed_args))]
