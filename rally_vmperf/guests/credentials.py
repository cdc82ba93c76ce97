"""Credentials of the owners of guests."""

import collections.abc
import typing as t

from rally_vmperf.guests import errors

Json = collections.abc.Mapping[str, t.Any]
Credential = Json


def get_admin_credential(context: Json) -> Credential | None:
    """Return the environment's administrator, if it has one.

    :param context: The context object of Rally.
    """
    if "admin" in context:
        return context["admin"]["credential"]
    return _get_platform(context).get("admin")


def get_guest_credential(context: Json, options: Json) -> Credential:
    """Return the credential of the first user, else of the administrator.

    :param options: The options of vmperf_guests. If they select hosts, the
        credential is that of the administrator.
    :raises GuestError: If there are neither users nor an administrator.
    """
    admin = get_admin_credential(context)
    forced = any(
        options.get(option) for option in ("host", "hosts", "aggregate")
    )
    if admin and forced:
        return admin
    users = [user["credential"] for user in context.get("users", [])]
    users = users or _get_platform(context).get("users") or []
    credential = users[0] if users else admin
    if credential is None:
        raise errors.GuestError(
            "vmperf_guests: the environment has neither users nor an admin; "
            "create it from a specification with existing@openstack"
        )
    return credential


def get_tenant_network(context: Json) -> str | None:
    """Return the id of Rally's network for the first user, or None."""
    users = context.get("users")
    if not users or "network@openstack" not in context["config"]:
        return None
    tenant = context["tenants"][users[0]["tenant_id"]]
    return str(tenant["networks"][0]["id"])


def _get_platform(context: Json) -> Json:
    """Return the OpenStack platform of Rally's environment, or {}."""
    env = context.get("env") or {}
    return env.get("platforms", {}).get("openstack", {})
