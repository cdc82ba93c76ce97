"""Secrets of the embedded cloud: one for each purpose."""

import collections.abc
import hashlib
import json
import os
import pathlib
import secrets

from rally_vmperf.cloud import documents

PURPOSES = (
    "admin",
    "member",
    "libvirt_host",
    "metadata",
    "rabbitmq",
    "service_glance",
    "service_neutron",
    "service_nova",
    "service_placement",
    "database_glance",
    "database_keystone",
    "database_neutron",
    "database_nova",
    "database_placement",
)


def write_private(path: pathlib.Path, text: str, mode: int = 0o600) -> None:
    """Replace a file that others must never be able to read.

    :param path: the file
    :param text: what it will hold
    :param mode: its permissions
    """
    draft = path.with_name(f".{path.name}.new")
    draft.unlink(missing_ok=True)
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as stream:
        stream.write(text)
        os.fchmod(stream.fileno(), mode)
    draft.replace(path)


def known(path: pathlib.Path) -> dict[str, str]:
    """Return the secrets that a file holds, as far as it can be read.

    :param path: the file that keeps them
    """
    content = documents.read(path) or {}
    return {
        purpose: content[purpose]
        for purpose in PURPOSES
        if content.get(purpose) and isinstance(content[purpose], str)
    }


def load(
    path: pathlib.Path, handed_over: collections.abc.Mapping[str, str] = {}
) -> dict[str, str]:
    """Return the secrets by purpose; make those that are missing.

    :param path: the file that keeps them
    :param handed_over: secrets in the hands of users, used before new ones
    """
    found = known(path)
    missing = [purpose for purpose in PURPOSES if purpose not in found]
    if missing:
        for purpose in missing:
            found[purpose] = handed_over.get(purpose) or secrets.token_hex(16)
        write_private(path, json.dumps(found, indent=1) + "\n")
    return found


def digest(values: collections.abc.Iterable[str]) -> str:
    """Return what tells these secrets from others without telling them."""
    return hashlib.sha256("\0".join(values).encode()).hexdigest()
