"""Credentials of the users that guests are booted for."""

import collections.abc
import typing as t

from rally_vmperf.guests import errors

Json = collections.abc.Mapping[str, t.Any]
Credential = Json


def of_admin(context: Json) -> Credential | None:
    """Return the environment's administrator, if it has one.

    :param context: Rally's context object
    """
    if "admin" in context:
        return context["admin"]["credential"]
    return _platform(context).get("admin")


def of_guests(context: Json, options: Json) -> Credential:
    """Return who owns the guests: the first user, else the administrator.

    :param options: of vmperf_guests; only an administrator may choose hosts
    :raises GuestError: when there is nobody
    """
    admin = of_admin(context)
    forced = any(options.get(x) for x in ("host", "hosts", "aggregate"))
    if admin and forced:
        return admin
    users = [one["credential"] for one in context.get("users", [])]
    users = users or _platform(context).get("users") or []
    chosen = users[0] if users else admin
    if chosen is None:
        raise errors.GuestError(
            "vmperf_guests: the environment has neither users nor an admin; "
            "create it from a specification with existing@openstack"
        )
    return chosen


def tenant_network(context: Json) -> str | None:
    """Return the network that Rally's context made for the first user."""
    users = context.get("users")
    if not users or "network@openstack" not in context["config"]:
        return None
    tenant = context["tenants"][users[0]["tenant_id"]]
    return str(tenant["networks"][0]["id"])


def _platform(context: Json) -> Json:
    env = context.get("env") or {}
    return env.get("platforms", {}).get("openstack", {})
