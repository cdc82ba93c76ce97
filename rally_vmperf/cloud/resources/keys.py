"""SSH keys of the cloud's owner and of the peer."""

import pathlib

from rally_vmperf import atomic
from rally_vmperf.cloud.state import addresses
from rally_vmperf.cloud.system import commands
from rally_vmperf.cloud.system import errors
from rally_vmperf.cloud.system import layout


def make(folders: layout.Layout) -> None:
    """Make sure that the login key pair and the peer's host key exist.

    :param folders: the state root's folders
    """
    for name, comment in (
        ("id_ed25519", "vmperf-cloud"),
        ("peer_host_ed25519", "vmperf-peer"),
    ):
        path = folders.etc / name
        if not is_pair(path):
            make_pair(path, comment)
    peer = addresses.load(folders).peer
    kind, key, *_ = (folders.etc / "peer_host_ed25519.pub").read_text().split()
    atomic.write(folders.root / "known_hosts", f"{peer} {kind} {key}\n")


def is_pair(path: pathlib.Path) -> bool:
    """Return whether a private key is readable and matches its public key.

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
    :param comment: of the public key
    """
    for part in (path, path.with_suffix(".pub")):
        part.unlink(missing_ok=True)
    commands.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment,
         "-f", path]
    )  # fmt: skip
    path.with_suffix(".pub").chmod(0o600)
