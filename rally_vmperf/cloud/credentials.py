"""Secrets of the embedded cloud: one for each purpose."""

import json
import os
import pathlib
import secrets

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


def load(path: pathlib.Path) -> dict[str, str]:
    """Return the secrets by purpose; make those that are missing.

    :param path: the file that keeps them
    """
    known: dict[str, str] = {}
    if path.exists():
        known = json.loads(path.read_text())
    missing = [purpose for purpose in PURPOSES if purpose not in known]
    if missing:
        known.update((purpose, secrets.token_hex(16)) for purpose in missing)
        write_private(path, json.dumps(known, indent=1) + "\n")
    return known
