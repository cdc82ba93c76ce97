# SPDX-License-Identifier: Apache-2.0
"""Options for a machine, local or over SSH, and the connection to it."""

import argparse
import dataclasses
import os
import typing as t

from rally_vmperf import documents
from rally_vmperf import errors

if t.TYPE_CHECKING:
    from rally_vmperf.machines import base
    from rally_vmperf.machines.remote import target


def add_arguments(
    parser: argparse.ArgumentParser, action: str, *, required: bool
) -> None:
    """Add the options for a machine, local or over SSH.

    :param action: The verb that the help texts use for the machine.
    :param required: Whether one of the options is required.
    """
    machine = parser.add_mutually_exclusive_group(required=required)
    machine.add_argument(
        "--local", action="store_true", help=f"{action} this machine"
    )
    machine.add_argument(
        "--host",
        metavar="USER@ADDRESS",
        help=f"{action} this machine over SSH, [user@]host[:port]; its host "
        "key must be in the known hosts",
    )
    parser.add_argument(
        "--jump",
        type=parse_jump_hosts,
        metavar="USER@ADDRESS",
        help="jump hosts for --host, as in ssh -J: [user@]host[:port], "
        "separated by commas",
    )
    parser.add_argument(
        "--key-file",
        metavar="FILE",
        help="private key of the SSH connections",
    )
    parser.add_argument(
        "--known-hosts",
        metavar="FILE",
        help="known hosts file of the SSH connections; default: the file of "
        "the user",
    )


def read_login_files(parsed: argparse.Namespace) -> dict[str, t.Any]:
    """Return the paths of the key and of the known hosts; None by default.

    Each connection reads them, so that pipes are rejected.

    :raises VMPerfError: If a path is not a file that can be read.
    """
    files = {"key_file": parsed.key_file, "known_hosts": parsed.known_hosts}
    for name, path in files.items():
        if path is None:
            continue
        try:
            with open(os.path.expanduser(path), opener=documents.open_regular):
                pass
        except OSError as error:
            option = name.replace("_", "-")
            raise errors.VMPerfError(
                f"--{option}={path}: {error.strerror}"
            ) from None
    return files


def connect(parsed: argparse.Namespace) -> "base.Machine":
    """Return the machine (local or over SSH) that the options specify."""
    from rally_vmperf.machines import local
    from rally_vmperf.machines.remote import endpoint
    from rally_vmperf.machines.remote import jump
    from rally_vmperf.machines.remote import ssh

    if parsed.local:
        return local.Local("bare metal")
    login = jump.parse_hop(parsed.host)
    files = read_login_files(parsed)
    return ssh.Ssh(
        endpoint.Endpoint(
            "bare metal",
            host=login.address,
            port=login.port,
            user=login.user,
            way=jump.create_route(
                [
                    dataclasses.replace(hop, **files)
                    for hop in parsed.jump or ()
                ],
                login.address,
            ),
            **files,
        )
    )


def parse_jump_hosts(text: str) -> "list[target.JumpHost]":
    """Return the jump hosts in ``[user@]host[:port],...``.

    :raises ArgumentTypeError: If the text is not valid.
    """
    from rally_vmperf.machines import base
    from rally_vmperf.machines.remote import jump

    try:
        return [jump.parse_hop(hop) for hop in text.split(",")]
    except base.MachineError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
