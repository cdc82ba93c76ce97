"""The end of a guest's console, fit to be printed."""

import re

from openstack import connection as sdk

from rally_vmperf.guests import cloud

_ESCAPES = re.compile(r"\x1b(\[[0-9;?]*[ -/]*[@-~]|[@-Z\\-_])")
_LINES, _WIDTH = 15, 200


def console_end(connection: sdk.Connection, server_id: str) -> str:
    """Return the last lines of a guest's console, or why there are none.

    What the guest wrote is foreign text: printable characters only, few
    lines, and none of them long.
    """
    try:
        answer = connection.compute.get_server_console_output(
            server_id, length=4 * _LINES
        )
    except cloud.REFUSALS as error:
        return f"(no console: {cloud.one_line(error)})"
    return sanitise(answer.get("output") or "") or "(the console is empty)"


def sanitise(text: str) -> str:
    """Return the last lines of a text without anything unprintable."""
    lines = _ESCAPES.sub("", text).splitlines()
    clean = (
        "".join(c if c.isprintable() else " " for c in line).rstrip()
        for line in lines
    )
    kept = [line[:_WIDTH] for line in clean if line]
    return "\n".join(kept[-_LINES:])
