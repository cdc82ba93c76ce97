# SPDX-License-Identifier: Apache-2.0
"""Credentials of the owners of guests."""

from rally_vmperf import documents
from rally_vmperf.guests import errors

#: A credential of Rally, with the keys of ``OpenStackCredential``.
Credential = documents.Arguments
#: The context object of Rally.
Context = documents.Arguments


def get_admin_credential(context: Context) -> Credential | None:
    """Return the environment's administrator, if it has one.

    :param context: The context object of Rally.
    """
    if "admin" in context:
        credential: Credential = context["admin"]["credential"]
        return credential
    return _get_platform(context).get("admin")


def get_guest_credential(
    context: Context, options: documents.Arguments
) -> Credential:
    """Return the credential of the first user, else of the administrator.

    :param options: The options of vmperf_guests. If they select hosts, the
        credential is that of the administrator.
    :raises GuestError: If there are neither users nor an administrator.
    """
    admin = get_admin_credential(context)
    forced = any(
        section.get(option)
        for section in (options, *options.get("groups", ()))
        for option in ("host", "hosts", "aggregate")
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


def get_tenant_network(context: Context) -> str | None:
    """Return the id of Rally's network for the first user, or None."""
    users = context.get("users")
    if not users or "network@openstack" not in context["config"]:
        return None
    tenant = context["tenants"][users[0]["tenant_id"]]
    return str(tenant["networks"][0]["id"])


def _get_platform(context: Context) -> documents.Facts:
    """Return the OpenStack platform of Rally's environment, or {}."""
    env = context.get("env") or {}
    platform: documents.Facts = env.get("platforms", {}).get("openstack", {})
    return platform
