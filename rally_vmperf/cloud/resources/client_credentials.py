"""Credentials of the cloud's users, and the files that clients read."""

import json
import typing as t

from rally_vmperf import atomic
from rally_vmperf import resources
from rally_vmperf.cloud.state import addresses
from rally_vmperf.cloud.state import templates
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
