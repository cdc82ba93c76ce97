"""Credentials of the cloud's users, and the files that clients read."""

import collections.abc
import json
import pathlib
import typing as t

from rally_vmperf import atomic
from rally_vmperf import documents
from rally_vmperf import resources
from rally_vmperf.cloud.services import schema
from rally_vmperf.cloud.services import templates
from rally_vmperf.cloud.state import addresses
from rally_vmperf.cloud.state import credentials
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


def known_passwords(folders: layout.Layout) -> dict[str, str]:
    """Return the passwords that clouds.yaml tells its users, by purpose.

    :param folders: the state root's folders
    """
    found = {}
    try:
        told = documents.read_yaml(folders.clouds)
        for user in ("admin", "member"):
            account = told["clouds"][f"vmperf-{user}"]["auth"]
            found[user] = str(account["password"])
    except (documents.DocumentError, LookupError, TypeError):
        return found
    return found


def load_secrets(
    folders: layout.Layout, found: collections.abc.Callable[[str, str], None]
) -> dict[str, str]:
    """Return the secrets by purpose; lost ones are replaced by new ones.

    :param folders: the state root's folders
    :param found: called with what was wrong and what was done
    """
    path = folders.etc / "secrets.json"
    lost = len(credentials.PURPOSES) - len(credentials.known(path))
    if not lost or not schema.any_filled(folders):
        return credentials.load(path)
    handed_over = known_passwords(folders)
    kept = (
        "those of admin and member, in clouds.yaml, are as before"
        if len(handed_over) == 2
        else "clouds.yaml has new ones: recreate Rally's environments"
    )
    # Before they are: what is written here is no digest of any secrets.
    atomic.write(_passwords_note(folders), "lost")
    found(f"{lost} secrets are lost from {path.name}", f"recreated; {kept}")
    return credentials.load(path, handed_over)


def passwords_changed(folders: layout.Layout, secrets: dict[str, str]) -> bool:
    """Return whether users in Keystone may have other passwords than these.

    :param folders: the state root's folders
    :param secrets: passwords by purpose
    """
    written = _passwords_note(folders)
    return written.exists() and written.read_text() != _digest(secrets)


def note_passwords(folders: layout.Layout, secrets: dict[str, str]) -> None:
    """Record that users in Keystone have these passwords.

    :param folders: the state root's folders
    :param secrets: passwords by purpose
    """
    atomic.write(_passwords_note(folders), _digest(secrets))


def _digest(secrets: dict[str, str]) -> str:
    return credentials.digest(secrets[name] for name in credentials.PURPOSES)


def _passwords_note(folders: layout.Layout) -> pathlib.Path:
    return folders.data / "done" / "passwords"


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
