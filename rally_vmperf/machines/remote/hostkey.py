"""Keys: made here, so that nobody must trust what a network says."""

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

    :param type: as cloud-init names it
    :param private: PEM text; for a host key it goes to cloud-init's
        ``ssh_keys``, for a client key to ``Ssh``
    :param public: one line, for strict verification or authorized_keys
    """

    private: str = dataclasses.field(repr=False)
    public: str
    type: Type


def generate(comment: str, type_: Type | None = None) -> Pair:
    """Make a key pair; the comment ends its public line.

    :param type_: None for Ed25519, or ECDSA where this machine is held to
        FIPS 140, as those that it reaches will be
    """
    type_ = type_ or ("ecdsa" if _fips() else "ed25519")
    key = asyncssh.generate_private_key(_ALGORITHMS[type_], comment=comment)
    return Pair(
        type=type_,
        private=key.export_private_key().decode(),
        public=key.export_public_key().decode().strip(),
    )


def pinned(host_key: str) -> list[asyncssh.SSHKey]:
    """Read public lines, of which a host must match one exactly.

    :raises MachineError: when one is no public key
    """
    try:
        return [
            asyncssh.import_public_key(line)
            for line in host_key.strip().split("\n")
        ]
    except (asyncssh.KeyImportError, ValueError, OverflowError):
        raise base.MachineError(
            f"host key {host_key[:60]!r} is no OpenSSH public key line; "
            "take one from /etc/ssh/ssh_host_ed25519_key.pub"
        ) from None


def _fips() -> bool:
    """Tell whether this machine's kernel is held to FIPS 140."""
    try:
        return _FIPS.read_text().strip() == "1"
    except OSError:
        return False
