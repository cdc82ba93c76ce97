"""How the host key of guests is known: given, known, or from the console.

A console comes from Nova, over a connection that is verified: nobody on the
guests' network can put another key there.
"""

import collections.abc
import dataclasses
import time
import typing as t

from openstack import connection as sdk

from rally_vmperf.guests import console
from rally_vmperf.guests import errors
from rally_vmperf.guests import request
from rally_vmperf.guests import waiting
from rally_vmperf.machines import hostkey


@dataclasses.dataclass(frozen=True, kw_only=True)
class HostKey:
    """What a guest's host key will be.

    :param public: lines of which it must show one, None when that is not
        known before it has booted
    :param cloud_config: what its cloud-init is told of it
    """

    public: str | None
    cloud_config: dict[str, t.Any] = dataclasses.field(repr=False)


def choose(asked: request.Request) -> HostKey:
    """Return the host key of one more guest.

    By default it is made here and given to the guest, so that the first
    connection is verified already.
    """
    how = asked.host_key or {}
    if "known" in how:
        # Else cloud-init would replace what is in the image.
        return HostKey(
            public=str(how["known"]).strip(),
            cloud_config={"ssh_deletekeys": False},
        )
    if "console" in how:
        return HostKey(
            public=None,
            cloud_config={"ssh": {"emit_keys_to_console": True}},
        )
    pair = hostkey.generate("guest")
    return HostKey(
        public=pair.public,
        cloud_config={
            "ssh_deletekeys": True,
            "ssh_keys": {
                "ed25519_private": pair.private,
                "ed25519_public": pair.public,
            },
            "ssh": {"emit_keys_to_console": False},
        },
    )


Guest = dict[str, t.Any]

_POLL = 2


def learn(
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
            keys = console.read_keys(_log(connection, guest))
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
