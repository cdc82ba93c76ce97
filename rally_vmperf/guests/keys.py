"""Pairs of SSH keys, made here so that nobody has to be trusted."""

import dataclasses

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519


@dataclasses.dataclass(frozen=True, kw_only=True)
class Pair:
    """An ed25519 pair in OpenSSH's formats.

    :param private: the text of a private key file
    :param public: one line, ``ssh-ed25519 AAAA...``
    """

    private: str = dataclasses.field(repr=False)
    public: str


def new_pair() -> Pair:
    """Return a fresh pair."""
    key = ed25519.Ed25519PrivateKey.generate()
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.OpenSSH,
        serialization.NoEncryption(),
    )
    public = key.public_key().public_bytes(
        serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
    )
    return Pair(private=private.decode(), public=public.decode())
