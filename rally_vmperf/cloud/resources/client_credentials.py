"""Credentials of the cloud's users, and the files that clients read."""

import json
import pathlib
import typing as t

from rally_vmperf import atomic
from rally_vmperf import resources
from rally_vmperf.cloud.state import addresses
from rally_vmperf.cloud.state import templates
from rally_vmperf.cloud.system import commands
from rally_vmperf.cloud.system import errors
from rally_vmperf.cloud.system import layout


def environment_spec(
    user: str, password: str, auth_url: str
) -> dict[str, t.Any]:
    """Return a spec for ``rally env create --spec``.

    :param user: admin, who lets Rally make users, or member, who does not
    :param password: the user's password
    :param auth_url: where Keystone is
    """
    account = {
        "username": user,
        "password": password,
        "project_name": user,
        "user_domain_name": "Default",
        "project_domain_name": "Default",
    }
    role = {"admin": account} if user == "admin" else {"users": [account]}
    return {
        "existing@openstack": {
            "auth_url": auth_url,
            "region_name": layout.REGION,
            "endpoint_type": "public",
            **role,
        }
    }


def write(folders: layout.Layout, secrets: dict[str, str]) -> None:
    """Write the specs for both users.

    :param folders: the state root's folders
    :param secrets: passwords by purpose
    """
    auth_url = addresses.load(folders).auth_url
    for user in ("admin", "member"):
        spec = environment_spec(user, secrets[user], auth_url)
        atomic.write(
            folders.root / f"rally-env-{user}.json",
            json.dumps(spec, indent=2) + "\n",
        )


_TEMPEST_CONF = "tempest.conf.j2"
#: Flavors of Tempest's guests: the usual one, and another to resize to.
_FLAVORS = ("vmperf.small", "vmperf.duo")
_EXTERNAL = "public"


def write_tempest_conf(
    folders: layout.Layout, shipped: templates.Templates, cloud: t.Any
) -> None:
    """Write the file; only root can read it.

    :param folders: the state root's folders
    :param shipped: the templates
    :param cloud: a connection as administrator
    """
    image = shipped.data("resources.yaml.j2")["image"]["name"]
    flavor, other = (_id(cloud.compute.find_flavor, one) for one in _FLAVORS)
    text = shipped.render(
        _TEMPEST_CONF,
        image_id=_id(cloud.image.find_image, image),
        flavor_id=flavor,
        flavor_alt_id=other,
        network_id=_id(cloud.network.find_network, _EXTERNAL),
        extensions=sorted(one.alias for one in cloud.network.extensions()),
        limits_file=resources.path("etc", "tempest-limits.embedded.yaml"),
    )
    atomic.write(folders.root / "tempest.conf", text)


def _id(find: t.Callable[..., t.Any], name: str) -> str:
    return str(find(name, ignore_missing=False).id)


def make_keys(folders: layout.Layout) -> None:
    """Make sure that the login key pair and the peer's host key exist.

    :param folders: the state root's folders
    """
    for name, comment in (
        ("id_ed25519", "vmperf-cloud"),
        ("peer_host_ed25519", "vmperf-peer"),
    ):
        path = folders.etc / name
        if not _is_pair(path):
            _make_pair(path, comment)
    peer = addresses.load(folders).peer
    kind, key, *_ = (folders.etc / "peer_host_ed25519.pub").read_text().split()
    atomic.write(folders.root / "known_hosts", f"{peer} {kind} {key}\n")


def _is_pair(path: pathlib.Path) -> bool:
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


def _make_pair(path: pathlib.Path, comment: str) -> None:
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
