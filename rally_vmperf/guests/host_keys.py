"""How the host key of guests is known before one talks to them."""

import dataclasses
import typing as t

from rally_vmperf.guests import request
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
