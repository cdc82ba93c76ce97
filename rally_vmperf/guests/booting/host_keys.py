# SPDX-License-Identifier: Apache-2.0
"""Host keys of guests: generated, in the image, or read from the console.

Nova provides the console over a verified connection, so that no machine in
the guests' network can replace the key.
"""

import base64
import collections.abc
import contextlib
import dataclasses
import time
from email import message
from email.mime import multipart
from email.mime import text

import yaml

from rally_vmperf import documents
from rally_vmperf.guests import cloud
from rally_vmperf.guests import console
from rally_vmperf.guests import errors
from rally_vmperf.guests import models
from rally_vmperf.guests import waiting
from rally_vmperf.machines.remote import hostkey


@dataclasses.dataclass(frozen=True, kw_only=True)
class HostKey:
    """The expected host key of a guest.

    :param public: The public key lines, one of which the guest must show;
        None if they are not known before it has booted.
    :param cloud_config: The settings of cloud-init for the host key.
    """

    public: str | None
    cloud_config: documents.Arguments = dataclasses.field(repr=False)


def choose_host_key(
    source: documents.Arguments, key_type: hostkey.Type | None = None
) -> HostKey:
    """Return the host key of a new guest.

    By default the key is generated here and passed to the guest, so that even
    the first connection is verified.

    :param source: The option ``host_key``.
    :param key_type: The type of a generated key; None for the default.
    """
    if "public_key" in source:
        # Otherwise cloud-init would replace the key in the image.
        return HostKey(
            public=str(source["public_key"]).strip(),
            cloud_config={"ssh_deletekeys": False},
        )
    if "console" in source:
        return HostKey(
            public=None,
            cloud_config={"ssh": {"emit_keys_to_console": True}},
        )
    pair = hostkey.generate("guest", key_type)
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


#: Seconds between two requests.
_POLL = 2


def read_host_keys(
    connection: cloud.Connection,
    guests: collections.abc.Sequence[models.Guest],
    timeout: float,
    progress: waiting.Progress,
) -> tuple[models.Guest, ...]:
    """Read unknown host keys from consoles; return guests with their keys.

    :param timeout: The timeout in seconds for all guests.
    :raises GuestError: If a guest prints no host key.
    """
    deadline = time.monotonic() + timeout
    host_keys = {guest.name: guest.host_key for guest in guests}
    missing = [guest for guest in guests if not guest.host_key]
    while True:
        for guest in missing:
            # The request is repeated; the last failure is reported.
            with contextlib.suppress(errors.GuestError):
                text = console.read_console(connection, guest.id)
                host_keys[guest.name] = "\n".join(console.read_keys(text))
            if host_keys[guest.name]:
                progress(f"{guest.name} shows its host key on its console")
        missing = [guest for guest in missing if not host_keys[guest.name]]
        if not missing:
            return tuple(
                dataclasses.replace(guest, host_key=host_keys[guest.name])
                for guest in guests
            )
        if time.monotonic() >= deadline:
            raise errors.GuestError(
                _describe_missing_key(connection, missing[0], timeout)
            )
        time.sleep(_POLL)


def _describe_missing_key(
    connection: cloud.Connection, guest: models.Guest, timeout: float
) -> str:
    """Return a message that a console shows no host key, with advice."""
    diagnosis = console.diagnose(connection, guest.id)
    advice = "; ".join(diagnosis.hints) or (
        "raise ssh_timeout, or use an image that prints the block SSH HOST "
        "KEY KEYS as cloud-init does, or set host_key: {public_key: ...}"
    )
    return (
        f"guest {guest.name} shows no host key on its console after "
        f"{timeout:g} s; {advice}; end of its console:\n{diagnosis.end}"
    )


_LIMIT = 65535


def compose_user_data(
    host_key: HostKey, client_key: str, user_document: str | None
) -> str:
    """Return the user data of a guest, encoded in base64 for Nova.

    Nothing is installed or upgraded, so that the boot takes no longer. The
    generated document comes last and overrides the same keys in the user's
    document.

    :param client_key: The public key that may log in.
    :param user_document: The cloud-config document of the user; None if there
        is none.
    :raises GuestError: If the user's document is invalid or too long.
    """
    document = {
        **host_key.cloud_config,
        "ssh_authorized_keys": [client_key],
        "no_ssh_fingerprints": True,
        "package_update": False,
        "package_upgrade": False,
    }
    parts = multipart.MIMEMultipart()
    if user_document:
        parts.attach(_create_mime_part(_check_user_data(user_document)))
    parts.attach(
        _create_mime_part("#cloud-config\n" + yaml.safe_dump(document))
    )
    encoded = base64.b64encode(parts.as_bytes()).decode()
    if len(encoded) > _LIMIT:
        raise errors.GuestError(
            f"user_data: {len(encoded)} encoded bytes: must be at most "
            f"{_LIMIT}; shorten it or move it into the image"
        )
    return encoded


def _create_mime_part(document: str) -> message.Message:
    """Return a cloud-config document as a part of a MIME message."""
    return text.MIMEText(document, "cloud-config", "utf-8")


def _check_user_data(user_document: str) -> str:
    """Return a user's cloud-config with its header; reject other texts."""
    try:
        document = documents.parse_yaml(user_document, "user_data")
    except documents.DocumentError as error:
        raise errors.GuestError(
            f"{error}; it must be a cloud-config document"
        ) from error
    if not isinstance(document, dict):
        raise errors.GuestError(
            f"user_data: a {type(document).__name__} is not a valid "
            "cloud-config document; it must be a mapping with keys such as "
            "write_files"
        )
    header = "#cloud-config\n"
    return (
        user_document
        if user_document.startswith(header)
        else header + user_document
    )
