# SPDX-License-Identifier: Apache-2.0
"""Key pairs generated on this machine, for strict verification."""

import dataclasses
import pathlib
import typing as t

import asyncssh

from rally_vmperf.machines import base

Type = t.Literal["ed25519", "ecdsa"]
_ALGORITHMS: dict[Type, str] = {
    "ed25519": "ssh-ed25519",
    "ecdsa": "ecdsa-sha2-nistp256",
}
_FIPS = pathlib.Path("/proc/sys/crypto/fips_enabled")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Pair:
    """A key pair in OpenSSH's formats.

    :param type: The name of the type in cloud-init.
    :param private: The PEM text, for ``ssh_keys`` of cloud-init or for
        ``Ssh``.
    :param public: The public key line, for strict verification or
        authorized_keys.
    """

    private: str = dataclasses.field(repr=False)
    public: str
    type: Type


def generate(comment: str, key_type: Type | None = None) -> Pair:
    """Generate an SSH key pair with a comment; return it as a Pair.

    :param key_type: The type; None for Ed25519, or for ECDSA if this machine
        enforces FIPS 140.
    """
    key_type = key_type or ("ecdsa" if _is_fips_enforced() else "ed25519")
    key = asyncssh.generate_private_key(_ALGORITHMS[key_type], comment=comment)
    return Pair(
        type=key_type,
        private=key.export_private_key().decode(),
        public=key.export_public_key().decode().strip(),
    )


def parse_host_keys(host_key: str) -> list[asyncssh.SSHKey]:
    """Parse public key lines into a list of keys.

    :raises MachineError: If a line is not a valid public key.
    """
    try:
        return [
            asyncssh.import_public_key(line)
            for line in host_key.strip().split("\n")
        ]
    except (asyncssh.KeyImportError, ValueError, OverflowError):
        raise base.MachineError(
            f"host key {host_key[:60]!r} is not a valid OpenSSH public key "
            "line; copy it from /etc/ssh/ssh_host_ed25519_key.pub"
        ) from None


def _is_fips_enforced() -> bool:
    """Return whether the kernel of this machine enforces FIPS 140."""
    try:
        return _FIPS.read_text().strip() == "1"
    except OSError:
        return False
