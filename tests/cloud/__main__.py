# SPDX-License-Identifier: Apache-2.0
"""Start, stop and show the embedded test cloud.

``make cloud``, ``make down`` and ``make purge`` run this program.
"""

import argparse
import collections.abc
import os
import pathlib
import sys

from rally_vmperf import errors
from rally_vmperf import termination
from rally_vmperf.image import commands
from tests.cloud.state import addresses
from tests.cloud.state import settings
from tests.cloud.state import state_root
from tests.cloud.system import layout


def create_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.cloud",
        description="Manage the embedded test cloud. Each command requires "
        "root, and may be repeated at any time.",
    )
    subparsers = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, add_arguments, action, description in (
        ("up", _add_up, up, "start the cloud on Debian 12 or 13, or apply "
         "new options to one that runs"),
        ("down", _add_down, down, "stop the cloud and all that runs in it"),
        ("status", None, status, "show the state of the services"),
    ):  # fmt: skip
        subparser = subparsers.add_parser(
            name, help=description, description=f"{description}."
        )
        subparser.set_defaults(action=action)
        subparser.add_argument(
            "--root",
            type=pathlib.Path,
            default=layout.DEFAULT_ROOT,
            metavar="DIRECTORY",
            help="state directory of the cloud (default: %(default)s)",
        )
        if add_arguments:
            add_arguments(subparser)
    return parser


def _add_up(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``up``."""
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
        "--volumes",
        action=argparse.BooleanOptionalAction,
        help="provide volumes, by Cinder on Ceph, or remove them if none "
        "exists (default: as before, initially without)",
    )
    parser.add_argument(
        "--rebuild",
        action="store_true",
        help="start with empty databases; guest image, passwords, "
        "baselines and journals remain, and packages of the container up "
        "to an age of 30 days",
    )


def _add_down(parser: argparse.ArgumentParser) -> None:
    """Add the option of ``down``."""
    parser.add_argument(
        "--purge",
        action="store_true",
        help="delete the state directory, too, with packages, guest "
        "image, databases, secrets, baselines and journals",
    )


def _parse_network(text: str) -> addresses.Addresses:
    """Return the three ranges of a cloud in a network; reject others."""
    try:
        return addresses.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(
            f"{error}; use a network such as 10.66.0.0/22"
        ) from None


def _get_layout(parsed: argparse.Namespace) -> layout.Layout:
    """Return the directories of the cloud in the state directory."""
    commands.check_user(os.geteuid())
    return layout.Layout(state_root.check_name(parsed.root.absolute()))


def up(parsed: argparse.Namespace) -> None:
    """Start the cloud, or apply new options to one that runs."""
    from tests.cloud import bringup

    bringup.up(
        _get_layout(parsed),
        commands.Progress(),
        disk_cache=parsed.disk_cache,
        network=parsed.network,
        hypervisor_count=parsed.hypervisors,
        with_volumes=parsed.volumes,
        rebuild=parsed.rebuild,
    )


def down(parsed: argparse.Namespace) -> None:
    """Stop all services."""
    from tests.cloud import teardown

    teardown.down(_get_layout(parsed), commands.Progress(), purge=parsed.purge)


def status(parsed: argparse.Namespace) -> None:
    """Print a table with one row per service."""
    from tests.cloud import status as services

    rows = [services.COLUMNS, *services.describe(_get_layout(parsed))]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(map(str.ljust, row, widths)) for row in rows)
    print("\n".join(line.rstrip() for line in lines))


def main(arguments: collections.abc.Sequence[str] | None = None) -> int:
    """Run a command, and return its exit code."""
    termination.as_interrupt()
    parsed = create_parser().parse_args(arguments)
    try:
        parsed.action(parsed)
    except errors.VMPerfError as error:
        print(f"tests.cloud: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
