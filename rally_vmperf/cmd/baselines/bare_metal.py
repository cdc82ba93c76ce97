# SPDX-License-Identifier: Apache-2.0
"""Options for bare metal and its peer, and checks of its size."""

import argparse
import asyncio
import collections.abc
import getpass
import re
import typing as t

from rally_vmperf import documents
from rally_vmperf.baseline import document
from rally_vmperf.cmd import machine_options

if t.TYPE_CHECKING:
    from rally_vmperf.execution import assignment
    from rally_vmperf.execution.stations import roles
    from rally_vmperf.machines import shapes


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options for bare metal, its peer and the SSH connections."""
    machine_options.add_arguments(parser, "measure", required=True)
    parser.add_argument(
        "--cpu-list",
        type=parse_cpu_list,
        metavar="LIST",
        help="CPUs of bare metal that may be used, such as 8-15 or 0-3,8; "
        "isolated CPUs must be listed; default: the CPUs that the kernel "
        "assigns to processes",
    )
    parser.add_argument(
        "--peer",
        metavar="USER@ADDRESS",
        help="other end of network workloads, [user@]host[:port]; default: "
        "the peer in the task",
    )


def peer_station(
    parsed: argparse.Namespace,
    assignments: "collections.abc.Iterable[assignment.Assignment]",
    peer: documents.Arguments | None,
) -> "roles.Station | None":
    """Return the station of the other end of network workloads, or None.

    :param parsed: The parsed arguments; their peer takes precedence.
    :param assignments: The workloads; without a network workload, no peer is
        required.
    :param peer: The peer in the task, or None.
    :raises BaselineError: If a peer is required and not specified.
    """
    from rally_vmperf.execution import assignment
    from rally_vmperf.execution.stations import reach
    from rally_vmperf.machines.remote import jump
    from rally_vmperf.machines.remote import ssh_config

    if parsed.peer:
        login = jump.parse_hop(parsed.peer)
        host_config = ssh_config.read_entry(login.address)
        peer = {
            "address": login.address,
            "port": login.port,
            "user": login.user or host_config.user or getpass.getuser(),
            **machine_options.read_login_files(parsed),
        }
    if not assignment.required_endpoints(assignments):
        return None
    if peer is None:
        raise document.BaselineError(
            "network workloads require a peer: add --peer USER@ADDRESS"
        )
    return reach.peer_station(peer)


def find_too_large_shapes(
    parsed: argparse.Namespace,
    requested_shapes: collections.abc.Iterable[document.Shape],
) -> "dict[document.Shape, shapes.TooSmall]":
    """Return the error of each shape too large for the machine, by shape.

    :param parsed: The parsed arguments.
    :param requested_shapes: The shapes to check.
    :raises MachineError: If the machine does not answer.
    """
    from rally_vmperf.machines import shapes

    async def check_shapes() -> dict[document.Shape, shapes.TooSmall]:
        """Return the errors of the shapes that exceed the machine."""
        machine = machine_options.connect(parsed)
        shape_errors = {}
        try:
            for shape in requested_shapes:
                try:
                    await shapes.check(
                        machine,
                        cpus=shape.vcpus,
                        memory_mib=shape.memory_mib,
                        copies=shape.copies,
                        allowed=parsed.cpu_list or "",
                    )
                except shapes.TooSmall as error:
                    shape_errors[shape] = error
        finally:
            await machine.close()
        return shape_errors

    return asyncio.run(check_shapes())


def parse_cpu_list(text: str) -> str:
    """Return a list of CPUs such as ``0-3,8`` unchanged; reject others.

    :raises ArgumentTypeError: If the text is not a valid list of CPUs.
    """
    from rally_vmperf.machines import cpus

    if not re.fullmatch(r"[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*", text) or (
        not cpus.parse_ranges(text)
    ):
        raise argparse.ArgumentTypeError(
            f"{text!r}: must be a list of CPUs such as 8-15 or 0-3,8"
        )
    return text
