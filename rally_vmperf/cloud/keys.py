"""SSH keys of the cloud's owner and of the peer."""

import collections.abc
import pathlib

from rally_vmperf.cloud import addresses
from rally_vmperf.cloud import commands
from rally_vmperf.cloud import credentials
from rally_vmperf.cloud import errors
from rally_vmperf.cloud import layout


def make(
    place: layout.Layout, found: collections.abc.Callable[[str, str], None]
) -> None:
    """Have a key pair to log in with, and a host key the peer shows.

    :param place: the state root's folders
    :param found: called with what was wrong and what was done
    """
    for name, comment in (
        ("id_ed25519", "vmperf-cloud"),
        ("peer_host_ed25519", "vmperf-peer"),
    ):
        path = place.etc / name
        if not is_pair(path):
            if path.exists() or path.with_suffix(".pub").exists():
                found(f"the key etc/{name} cannot be used", "made anew")
            make_pair(path, comment)
    peer = addresses.load(place).peer
    kind, key, *_ = (place.etc / "peer_host_ed25519.pub").read_text().split()
    credentials.write_private(
        place.root / "known_hosts", f"{peer.ip} {kind} {key}\n"
    )


def is_pair(path: pathlib.Path) -> bool:
    """Tell whether a private key can be read and has its public key.

    :param path: the private key
    """
    if not (path.exists() and path.with_suffix(".pub").exists()):
        return False
    path.chmod(0o600)
    try:
        derived = commands.run(["ssh-keygen", "-y", "-P", "", "-f", path])
    except errors.CloudError:
        return False
    public = path.with_suffix(".pub").read_text()
    return derived.split()[:2] == public.split()[:2]


def make_pair(path: pathlib.Path, comment: str) -> None:
    """Make an ed25519 key pair without a passphrase.

    :param path: the private key
    :param comment: what the public key says about itself
    """
    for part in (path, path.with_suffix(".pub")):
        part.unlink(missing_ok=True)
    commands.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment,
         "-f", path]
    )  # fmt: skip
    path.with_suffix(".pub").chmod(0o600)
