"""The option ``--jump``, written as OpenSSH's ``ProxyJump``."""

import argparse
import getpass
import re
import typing as t

_HOP = re.compile(
    r"(?:(?P<user>[^@:\s]+)@)?"
    r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<address>[^@:,\[\]\s]+))"
    r"(?::(?P<port>[0-9]{1,5}))?"
)


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
