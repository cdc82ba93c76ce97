"""A guest's console, fit to be printed: the last witness of what went wrong.

What the guest wrote is foreign text.
"""

import dataclasses
import re

from openstack import connection as sdk

from rally_vmperf.guests import cloud
from rally_vmperf.guests import console_signs
from rally_vmperf.guests import errors

_ESCAPES = re.compile(r"\x1b(\[[0-9;?]*[ -/]*[@-~]|[@-Z\\-_])")
_LINES, _WIDTH = 15, 200
#: Lines of a whole boot; Nova gives 100 KiB at most.
_MOST = 2000


@dataclasses.dataclass(frozen=True, kw_only=True)
class Witness:
    """What a console has to say.

    :param hints: what it is a sign of, in words of ours
    :param end: its last lines, or why there are none
    """

    hints: list[str]
    end: str


def log(connection: sdk.Connection, server_id: str) -> str:
    """Return the console as plain lines.

    :raises GuestError: when Nova does not give it
    """
    with cloud.asking("console"):
        answer = connection.compute.get_server_console_output(
            server_id, length=_MOST
        )
    return plain(answer.get("output") or "")


def witness(
    connection: sdk.Connection, server_id: str, host_key: str | None = None
) -> Witness:
    """Return what the console has to say of a guest.

    :param host_key: what the guest should show to SSH, where it is known
    """
    try:
        text = log(connection, server_id)
    except errors.GuestError as error:
        return Witness(hints=[], end=f"(no {error})")
    return Witness(
        hints=console_signs.hints(text, host_key),
        end=sanitise(text) or "(the console is empty)",
    )


def console_end(connection: sdk.Connection, server_id: str) -> str:
    """Return the last lines of a guest's console, or why there are none."""
    return witness(connection, server_id).end


def plain(text: str) -> str:
    """Return a text without anything unprintable but the ends of lines."""
    lines = _ESCAPES.sub("", text).splitlines()
    return "\n".join(
        "".join(c if c.isprintable() else " " for c in line).rstrip()
        for line in lines
    )


def sanitise(text: str) -> str:
    """Return the last lines of a text: printable, few, and none long."""
    kept = [line[:_WIDTH] for line in plain(text).split("\n") if line]
    return "\n".join(kept[-_LINES:])
