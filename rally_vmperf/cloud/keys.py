"""SSH keys of the cloud's owner and of the peer."""

import pathlib

from rally_vmperf.cloud import commands
from rally_vmperf.cloud import credentials
from rally_vmperf.cloud import layout


def make(place: layout.Layout) -> None:
    """Have a key pair to log in with, and a host key the peer shows.

    :param place: the state root's folders
    """
    make_pair(place.etc / "id_ed25519", "vmperf-cloud")
    make_pair(place.etc / "peer_host_ed25519", "vmperf-peer")
    kind, key, *_ = (place.etc / "peer_host_ed25519.pub").read_text().split()
    credentials.write_private(
        place.root / "known_hosts", f"{layout.PEER.ip} {kind} {key}\n"
    )


def make_pair(path: pathlib.Path, comment: str) -> None:
    """Have an ed25519 key pair without a passphrase.

    :param path: the private key
    :param comment: what the public key says about itself
    """
    if not path.with_suffix(".pub").exists():
        path.unlink(missing_ok=True)
        commands.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment,
             "-f", path]
        )  # fmt: skip
    path.with_suffix(".pub").chmod(0o600)
