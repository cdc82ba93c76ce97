"""Options that say where bare metal is and how it is reached."""

import argparse
import collections.abc
import getpass
import re
import typing as t

from rally_vmperf.baseline import document

if t.TYPE_CHECKING:
    from rally_vmperf.execution import assignment
    from rally_vmperf.execution import station as stations
    from rally_vmperf.machines import base

_HOP = re.compile(
    r"(?:(?P<user>[^@:\s]+)@)?"
    r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<address>[^@:,\[\]\s]+))"
    r"(?::(?P<port>[0-9]{1,5}))?"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that name the machine, its peer and the ways there."""
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument(
        "--local", action="store_true", help="this machine is bare metal"
    )
    where.add_argument(
        "--host",
        metavar="USER@ADDRESS",
        help="bare metal is reached by SSH; its host key must be known",
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
        help="other end of network workloads; default: the task's",
    )


def connect(parsed: argparse.Namespace) -> "base.Machine":
    """Return bare metal as the options name it."""
    from rally_vmperf.machines import endpoint
    from rally_vmperf.machines import jump
    from rally_vmperf.machines import local
    from rally_vmperf.machines import ssh

    if parsed.local:
        return local.Local("bare metal")
    user, _, address = parsed.host.rpartition("@")
    files = {"key_file": parsed.key_file, "known_hosts": parsed.known_hosts}
    return ssh.Ssh(
        endpoint.Endpoint(
            "bare metal",
            host=address,
            user=user or getpass.getuser(),
            way=jump.chain([{**hop, **files} for hop in parsed.jump or ()]),
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
    from rally_vmperf.execution import reach

    if parsed.peer:
        user, _, address = parsed.peer.rpartition("@")
        peer = {"user": user or getpass.getuser(), "address": address}
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


def hops(text: str) -> list[dict[str, t.Any]]:
    """Return the jump hosts of ``[user@]host[:port]``, a comma between two.

    :raises ArgumentTypeError: for anything else
    """
    return [_hop(part) for part in text.split(",")]


def _hop(text: str) -> dict[str, t.Any]:
    found = _HOP.fullmatch(text)
    port = int((found and found["port"]) or 22)
    if found is None or not 0 < port < 1 << 16:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no jump host; write user@host or user@host:port, "
            "with an IPv6 address in brackets"
        )
    return {
        "address": found["six"] or found["address"],
        "port": port,
        "user": found["user"] or getpass.getuser(),
    }
