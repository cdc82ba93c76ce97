"""Secrets of the embedded cloud: one for each purpose."""

import json
import pathlib
import secrets

from rally_vmperf import atomic
from rally_vmperf.cloud.system import documents
from rally_vmperf.cloud.system import errors

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


def load(path: pathlib.Path, *, used: bool) -> dict[str, str]:
    """Return the secrets by purpose; make those that are missing.

    :param path: The file of the secrets.
    :param used: Whether databases contain the secrets.
    :raises errors.CloudError: If secrets of databases are missing.
    """
    found = known(path)
    missing = [purpose for purpose in PURPOSES if purpose not in found]
    if missing and used:
        raise errors.CloudError(
            f"{path} lacks {len(missing)} secrets of the databases; start "
            "with new ones: rally-vmperf cloud up --rebuild"
        )
    if missing:
        found |= {purpose: secrets.token_hex(16) for purpose in missing}
        atomic.write(path, json.dumps(found, indent=1) + "\n")
    return found
