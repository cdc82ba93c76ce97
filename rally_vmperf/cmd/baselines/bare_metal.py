"""Bare metal: where it is, how it is reached, which shapes fit it."""

import argparse
import asyncio
import collections.abc
import getpass
import re
import typing as t

from rally_vmperf.baseline import document
from rally_vmperf.baseline import matching

if t.TYPE_CHECKING:
    from rally_vmperf.execution import assignment
    from rally_vmperf.execution.stations import station as stations
    from rally_vmperf.machines import base
    from rally_vmperf.machines import shape as shapes


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that name the machine, its peer and the routes there."""
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument(
        "--local", action="store_true", help="this machine is bare metal"
    )
    where.add_argument(
        "--host",
        metavar="USER@ADDRESS",
        help="bare metal is reached by SSH, [user@]host[:port]; its host key "
        "must be known",
    )
    parser.add_argument(
        "--cpu-list",
        type=cpu_list,
        metavar="LIST",
        help="CPUs of bare metal to choose from, such as 8-15 or 0-3,8; "
        "isolated CPUs have to be named; default: those that the kernel gives "
        "to any program",
    )
    parser.add_argument(
        "--jump",
        type=hops,
        metavar="USER@ADDRESS",
        help="reach --host through it, as ssh -J does: "
        "[user@]host[:port], a comma between several",
    )
    parser.add_argument(
        "--key-file",
        metavar="FILE",
        help="private key for --host, --jump and --peer",
    )
    parser.add_argument(
        "--known-hosts",
        metavar="FILE",
        help="host keys of --host, --jump and --peer; default: the user's own",
    )
    parser.add_argument(
        "--peer",
        metavar="USER@ADDRESS",
        help="other end of network workloads, [user@]host[:port]; default: "
        "the task's",
    )


def connect(parsed: argparse.Namespace) -> "base.Machine":
    """Return bare metal as the options name it."""
    from rally_vmperf.machines import local
    from rally_vmperf.machines.remote import endpoint
    from rally_vmperf.machines.remote import jump
    from rally_vmperf.machines.remote import ssh

    if parsed.local:
        return local.Local("bare metal")
    login = jump.named(parsed.host)
    files = {"key_file": parsed.key_file, "known_hosts": parsed.known_hosts}
    return ssh.Ssh(
        endpoint.Endpoint(
            "bare metal",
            host=login["address"],
            port=login["port"],
            user=login["user"],
            way=jump.chain(
                [{**hop, **files} for hop in parsed.jump or ()],
                login["address"],
            ),
            **files,
        )
    )


def peer_station(
    parsed: argparse.Namespace,
    assignments: "collections.abc.Iterable[assignment.Assignment]",
    peer: dict[str, t.Any] | None,
) -> "stations.Station | None":
    """Return the other end of network workloads, None where none is needed.

    :param peer: as the task names it; the options come first
    """
    from rally_vmperf.execution import assignment
    from rally_vmperf.execution.stations import reach
    from rally_vmperf.machines.remote import jump
    from rally_vmperf.machines.remote import ssh_config

    if parsed.peer:
        peer = jump.named(parsed.peer)
        known = ssh_config.entry(peer["address"])
        peer["user"] = peer["user"] or known.user or getpass.getuser()
        if parsed.key_file:
            peer["key_file"] = parsed.key_file
        if parsed.known_hosts:
            peer["known_hosts"] = parsed.known_hosts
    if not assignment.needs(assignments):
        return None
    if peer is None:
        raise document.BaselineError(
            "network workloads need another end: add --peer USER@ADDRESS"
        )
    return reach.peer_station(peer)


def too_small(
    parsed: argparse.Namespace,
    asked: collections.abc.Iterable[matching.Shape],
) -> "dict[matching.Shape, shapes.TooSmall]":
    """Return the shapes that the machine is too small for, and why.

    :raises MachineError: when the machine does not answer
    """
    from rally_vmperf.machines import shape as shapes

    async def look() -> dict[matching.Shape, shapes.TooSmall]:
        machine = connect(parsed)
        found = {}
        try:
            for shape in asked:
                try:
                    await shapes.check(
                        machine,
                        cpus=shape.vcpus,
                        memory_mib=shape.memory_mib,
                        copies=shape.copies,
                        allowed=parsed.cpu_list or "",
                    )
                except shapes.TooSmall as error:
                    found[shape] = error
        finally:
            await machine.close()
        return found

    return asyncio.run(look())


def cpu_list(text: str) -> str:
    """Return a list of CPUs such as ``0-3,8``.

    :raises ArgumentTypeError: for anything else
    """
    from rally_vmperf.machines import cpus

    if not re.fullmatch(r"[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*", text) or (
        not cpus.ranges(text)
    ):
        raise argparse.ArgumentTypeError(
            f"{text!r} is no list of CPUs; write it like 8-15 or 0-3,8"
        )
    return text


def hops(text: str) -> list[dict[str, t.Any]]:
    """Return the jump hosts of ``[user@]host[:port]``, a comma between two.

    :raises ArgumentTypeError: for anything else
    """
    from rally_vmperf.machines import base
    from rally_vmperf.machines.remote import jump

    try:
        return [jump.named(part) for part in text.split(",")]
    except base.MachineError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
