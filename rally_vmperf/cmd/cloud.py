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


def add_root(parser: argparse.ArgumentParser) -> None:
    """Add the option that all these commands share."""
    parser.add_argument(
        "--root",
        type=pathlib.Path,
        default=layout.DEFAULT_ROOT,
        metavar="FOLDER",
        help="folder of the cloud's state (default: %(default)s)",
    )


def layout_of(parsed: argparse.Namespace) -> layout.Layout:
    """Return the folders of the cloud that was asked for."""
    preflight.check_user(os.geteuid())
    return layout.Layout(state_root.check_name(parsed.root.absolute()))


def _network(text: str) -> addresses.Addresses:
    try:
        return addresses.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(
            f"{error}; give one such as 10.66.0.0/22"
        ) from None


class Up(base.Command):
    """Bring up a real OpenStack on this machine, for tests, or repair it.

    It requires root and Debian 12.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""
        add_root(parser)
        parser.add_argument(
            "--disk-cache",
            choices=settings.DISK_CACHES,
            help="cache mode of guests' disks (default: as before; the first "
            "time none, by which guests measure the disk and not this "
            "machine's memory)",
        )
        parser.add_argument(
            "--network",
            type=_network,
            metavar="CIDR",
            help="network of /22 or larger, whose first three /24 become the "
            "cloud's (default: as before; the first time one that nothing on "
            "this machine uses)",
        )

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Start what does not run yet."""
        from rally_vmperf.cloud import recovery

        folders = layout_of(parsed_args)
        recovery.up(
            folders,
            console.Progress(),
            parsed_args.disk_cache,
            parsed_args.network,
        )


class Down(base.Command):
    """Stop the embedded cloud and remove its traces from this machine.

    It takes root. Databases, secrets and logs stay without --purge.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""
        add_root(parser)
        parser.add_argument(
            "--purge",
            action="store_true",
            help="delete databases, secrets and logs too; the guest image "
            "and the installed packages stay",
        )

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Stop what runs."""
        from rally_vmperf.cloud import teardown

        teardown.down(
            layout_of(parsed_args),
            console.Progress(),
            purge=parsed_args.purge,
        )


class Status(base.Lister):
    """Show which parts of the embedded cloud are running.

    It takes root.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""
        add_root(parser)

    def take_action(
        self, parsed_args: argparse.Namespace
    ) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return the table."""
        from rally_vmperf.cloud import status

        lines = status.of_cloud(layout_of(parsed_args))
        return status.COLUMNS, [line.cells() for line in lines]
