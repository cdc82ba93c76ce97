"""The wait for host keys that guests print on their consoles.

A console comes from Nova, over a connection that is verified: nobody on the
guests' network can put another key there.
"""

import collections.abc
import time
import typing as t

from openstack import connection as sdk

from rally_vmperf.guests import console
from rally_vmperf.guests import console_keys
from rally_vmperf.guests import errors
from rally_vmperf.guests import waiting

Guest = dict[str, t.Any]

_POLL = 2


def host_keys(
    connection: sdk.Connection,
    guests: collections.abc.Iterable[Guest],
    timeout: float,
    progress: waiting.Progress,
) -> None:
    """Give those guests their host keys that have none yet.

    :param guests: as ``boot`` returns them
    :param timeout: seconds for all of them
    :raises GuestError: when one prints none
    """
    deadline = time.monotonic() + timeout
    waiting_for = [guest for guest in guests if not guest["host_key"]]
    while waiting_for:
        for guest in waiting_for:
            keys = console_keys.read(_log(connection, guest))
            if keys:
                guest["host_key"] = "\n".join(keys)
                progress(f"{guest['name']} shows its host key on its console")
        waiting_for = [one for one in waiting_for if not one["host_key"]]
        if waiting_for and time.monotonic() >= deadline:
            raise errors.GuestError(
                _missing(connection, waiting_for[0], timeout)
            )
        if waiting_for:
            time.sleep(_POLL)


def _log(connection: sdk.Connection, guest: Guest) -> str:
    try:
        return console.log(connection, guest["id"])
    except errors.GuestError:
        return ""  # asked again, and told in the end


def _missing(connection: sdk.Connection, guest: Guest, timeout: float) -> str:
    seen = console.witness(connection, guest["id"])
    why = "; ".join(seen.hints) or (
        "raise ssh_timeout, or have the image print the block SSH HOST KEY "
        "KEYS as cloud-init does, or give host_key: {known: ...}"
    )
    return (
        f"guest {guest['name']} shows no host key on its console after "
        f"{timeout:g} s; {why}; end of its console:\n{seen.end}"
    )
