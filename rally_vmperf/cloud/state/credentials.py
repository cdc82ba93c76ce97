"""Secrets of the embedded cloud: one for each purpose."""

import collections.abc
import hashlib
import json
import pathlib
import secrets

from rally_vmperf import atomic
from rally_vmperf.cloud.system import documents

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
        atomic.write(path, json.dumps(found, indent=1) + "\n")
    return found


def digest(values: collections.abc.Iterable[str]) -> str:
    """Return a digest of the secrets."""
    return hashlib.sha256("\0".join(values).encode()).hexdigest()
