"""Files by which Rally uses the embedded cloud."""

import json
import typing as t

import yaml

from rally_vmperf.cloud import addresses
from rally_vmperf.cloud import credentials
from rally_vmperf.cloud import layout


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


def write(place: layout.Layout, secrets: dict[str, str]) -> None:
    """Write the specs for both users.

    :param place: the state root's folders
    :param secrets: passwords by purpose
    """
    auth_url = addresses.load(place).auth_url
    for user in ("admin", "member"):
        spec = environment_spec(user, secrets[user], auth_url)
        credentials.write_private(
            place.root / f"rally-env-{user}.json",
            json.dumps(spec, indent=2) + "\n",
        )


def passwords(place: layout.Layout) -> dict[str, str]:
    """Return the passwords that clouds.yaml tells its users, by purpose.

    :param place: the state root's folders
    """
    found = {}
    try:
        told = yaml.safe_load(place.clouds.read_text())
        for user in ("admin", "member"):
            account = told["clouds"][f"vmperf-{user}"]["auth"]
            found[user] = str(account["password"])
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return found
    except yaml.YAMLError:
        return found
    return found
