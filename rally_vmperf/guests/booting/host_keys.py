"""How the host key of guests is known: given, known, or from the console.

A console comes from Nova, over a connection that is verified: nobody on the
guests' network can put another key there.
"""

import base64
import collections.abc
import contextlib
import dataclasses
import time
import typing as t
from email import message
from email.mime import multipart
from email.mime import text

import yaml
from openstack import connection as sdk

from rally_vmperf import documents
from rally_vmperf.guests import console
from rally_vmperf.guests import errors
from rally_vmperf.guests import guest
from rally_vmperf.guests import request
from rally_vmperf.guests import waiting
from rally_vmperf.machines.remote import hostkey


@dataclasses.dataclass(frozen=True, kw_only=True)
class HostKey:
    """What a guest's host key will be.

    :param public: lines of which it must show one, None when that is not
        known before it has booted
    :param cloud_config: what its cloud-init is told of it
    """

    public: str | None
    cloud_config: dict[str, t.Any] = dataclasses.field(repr=False)


def choose(
    source: request.KeySource, type_: hostkey.Type | None = None
) -> HostKey:
    """Return the host key of one more guest.

    By default it is made here and given to the guest, so that the first
    connection is verified already.

    :param type_: of the key that is made, None for the usual one
    """
    if source.kind == "public_key":
        # Else cloud-init would replace what is in the image.
        return HostKey(
            public=source.line,
            cloud_config={"ssh_deletekeys": False},
        )
    if source.kind == "console":
        return HostKey(
            public=None,
            cloud_config={"ssh": {"emit_keys_to_console": True}},
        )
    pair = hostkey.generate("guest", type_)
    return HostKey(
        public=pair.public,
        cloud_config={
            "ssh_deletekeys": True,
            "ssh_keys": {
                f"{pair.type}_private": pair.private,
                f"{pair.type}_public": pair.public,
            },
            "ssh": {"emit_keys_to_console": False},
        },
    )


#: Seconds between two looks.
_POLL = 2


def learn(
    connection: sdk.Connection,
    guests: collections.abc.Sequence[guest.Guest],
    timeout: float,
    progress: waiting.Progress,
) -> tuple[guest.Guest, ...]:
    """Return the guests with their host keys; read missing ones from consoles.

    :param timeout: seconds for all of them
    :raises GuestError: when one prints none
    """
    deadline = time.monotonic() + timeout
    found = {one.name: one.host_key for one in guests}
    while True:
        missing = [one for one in guests if not found[one.name]]
        for one in missing:
            keys: list[str] = []
            # Asked again, and told in the end.
            with contextlib.suppress(errors.GuestError):
                keys = console.read_keys(console.log(connection, one.id))
            if keys:
                found[one.name] = "\n".join(keys)
                progress(f"{one.name} shows its host key on its console")
        missing = [one for one in missing if not found[one.name]]
        if not missing:
            return tuple(
                dataclasses.replace(one, host_key=found[one.name])
                for one in guests
            )
        if time.monotonic() >= deadline:
            raise errors.GuestError(_missing(connection, missing[0], timeout))
        time.sleep(_POLL)


def _missing(
    connection: sdk.Connection, one: guest.Guest, timeout: float
) -> str:
    seen = console.witness(connection, one.id)
    why = "; ".join(seen.hints) or (
        "raise ssh_timeout, or have the image print the block SSH HOST KEY "
        "KEYS as cloud-init does, or give host_key: {public_key: ...}"
    )
    return (
        f"guest {one.name} shows no host key on its console after "
        f"{timeout:g} s; {why}; end of its console:\n{seen.end}"
    )


_LIMIT = 65535


def compose(host_key: HostKey, client_key: str, own: str | None) -> str:
    """Return user data for Nova, in base64.

    Nothing is installed or upgraded, so that the boot takes no longer. Ours
    comes last, so that it wins over the same keys in the user's document.

    :param client_key: public key that may log in
    :param own: a cloud-config document of the user's, or None
    :raises GuestError: when the user's document is none, or too long
    """
    document = {
        **host_key.cloud_config,
        "ssh_authorized_keys": [client_key],
        "no_ssh_fingerprints": True,
        "package_update": False,
        "package_upgrade": False,
    }
    parts = multipart.MIMEMultipart()
    if own:
        parts.attach(_part(_checked(own)))
    parts.attach(_part("#cloud-config\n" + yaml.safe_dump(document)))
    encoded = base64.b64encode(parts.as_bytes()).decode()
    if len(encoded) > _LIMIT:
        raise errors.GuestError(
            f"user_data: {len(encoded)} bytes as sent, Nova takes {_LIMIT}; "
            "shorten it or put it into the image"
        )
    return encoded


def _part(document: str) -> message.Message:
    return text.MIMEText(document, "cloud-config", "utf-8")


def _checked(own: str) -> str:
    try:
        parsed = documents.parse_yaml(own, "user_data")
    except documents.DocumentError as error:
        raise errors.GuestError(
            f"{error}; give a cloud-config document"
        ) from error
    if not isinstance(parsed, dict):
        raise errors.GuestError(
            f"user_data: a cloud-config document is a mapping, this is "
            f"{type(parsed).__name__}; give keys such as write_files"
        )
    header = "#cloud-config\n"
    return own if own.startswith(header) else header + own
