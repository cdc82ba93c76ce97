"""Keys: made here, so that nobody must trust what a network says."""

import dataclasses

import asyncssh

from rally_vmperf.machines import base


@dataclasses.dataclass(frozen=True, kw_only=True)
class Pair:
    """An Ed25519 key pair in OpenSSH's formats.

    :param private: PEM text; for a host key it goes to cloud-init's
        ``ssh_keys``, for a client key to ``Ssh``
    :param public: one line, for strict verification or authorized_keys
    """

    private: str = dataclasses.field(repr=False)
    public: str


def generate(comment: str) -> Pair:
    """Make a key pair; the comment ends its public line."""
    key = asyncssh.generate_private_key("ssh-ed25519", comment=comment)
    return Pair(
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
