# SPDX-License-Identifier: Apache-2.0
"""Secrets and keys of the embedded cloud."""

import json
import pathlib
import secrets

from rally_vmperf import atomic
from rally_vmperf.image import commands
from tests.cloud.state import addresses
from tests.cloud.system import documents
from tests.cloud.system import layout

PURPOSES = (
    *("admin", "member", "libvirt_host", "metadata", "rabbitmq"),
    *("service_glance", "service_neutron", "service_nova"),
    *("service_placement", "database_glance", "database_keystone"),
    *("database_neutron", "database_nova", "database_placement"),
)
#: Those of the services for volumes, which a cloud may lack.
PURPOSES_OF_VOLUMES = ("service_cinder", "database_cinder")
#: The file of the secret by which Erlang's nodes trust each other.
_COOKIE = "rabbitmq/.erlang.cookie"
#: The key of both hypervisors.
_HYPERVISORS = "hypervisor_ed25519"


def load(
    path: pathlib.Path, *, used: bool, has_volumes: bool = False
) -> dict[str, str]:
    """Return the secrets by purpose; make those that are missing.

    :param path: The file of the secrets.
    :param used: Whether databases contain the secrets.
    :param has_volumes: Whether they contain those of volumes, too.
    :raises errors.HostError: If secrets of databases are missing.
    """
    content = documents.read(path) or {}
    purposes = (*PURPOSES, *PURPOSES_OF_VOLUMES)
    passwords = {
        purpose: content[purpose]
        for purpose in purposes
        if content.get(purpose) and isinstance(content[purpose], str)
    }
    missing = [purpose for purpose in purposes if purpose not in passwords]
    in_databases = purposes if has_volumes else PURPOSES
    lost = [purpose for purpose in missing if purpose in in_databases]
    if lost and used:
        raise commands.HostError(
            f"{path} lacks {len(lost)} secrets of the databases; start "
            "with new ones: python -m tests.cloud up --rebuild"
        )
    if missing:
        passwords |= {purpose: secrets.token_hex(16) for purpose in missing}
        atomic.write(path, json.dumps(passwords, indent=1) + "\n")
    return passwords


def make_keys(folders: layout.Layout) -> None:
    """Make the login key pair, host keys and RabbitMQ's secret.

    Existing keys are kept. Peer and control machine share the host key, and
    so do both hypervisors.

    :param folders: The paths of the cloud.
    """
    for name in ("id_ed25519", "peer_host_ed25519", _HYPERVISORS):
        path = folders.etc / name
        public = path.with_suffix(".pub")
        if public.exists() and path.exists():
            continue
        # ssh-keygen overwrites no file.
        path.unlink(missing_ok=True)
        commands.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "vmperf",
             "-f", path]
        )  # fmt: skip
        public.chmod(0o600)
    ranges = addresses.load(folders)
    for name, path, hosts in (
        (
            "peer_host_ed25519",
            folders.root / "known_hosts",
            (ranges.peer, ranges.control),
        ),
        (
            _HYPERVISORS,
            folders.etc / "hypervisor_known_hosts",
            (ranges.management[2], ranges.management[3]),
        ),
    ):
        kind, key, *_ = (folders.etc / f"{name}.pub").read_text().split()
        names = ",".join(map(str, hosts))
        atomic.write(path, f"{names} {kind} {key}\n")
    cookie = folders.data / _COOKIE
    if not cookie.exists():
        # Erlang's own has 36 bits.
        atomic.write(cookie, secrets.token_hex(32), mode=0o400)
