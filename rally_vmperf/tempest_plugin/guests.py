"""Guests of a test class, booted with the credentials of Tempest."""

import pathlib
import secrets
import typing as t
import uuid

from rally_vmperf import documents
from rally_vmperf.guests import cloud
from rally_vmperf.guests.cleanup import killed
from rally_vmperf.guests.cleanup import ledger
from rally_vmperf.guests.cleanup import ownership
from rally_vmperf.runs import guest_arrival
from rally_vmperf.runs import runs


def convert_credential(
    conf: t.Any, keystone_credentials: t.Any
) -> cloud.Credential:
    """Return credentials of Tempest as a credential (dict) of Rally.

    :param conf: The configuration of Tempest.
    :param keystone_credentials: The ``KeystoneV3Credentials``.
    """
    user = keystone_credentials
    identity = conf.identity
    return {
        "auth_url": identity.uri_v3,
        "username": user.username,
        "password": user.password,
        "user_domain_name": user.user_domain_name,
        "tenant_name": user.project_name,
        "project_domain_name": user.project_domain_name,
        "region_name": conf.compute.region or identity.region,
        "endpoint_type": conf.compute.endpoint_type.removesuffix("URL"),
        "https_insecure": identity.disable_ssl_certificate_validation,
        "https_cacert": identity.ca_certificates_file,
    }


def create_run_guests(
    options: documents.Arguments,
    user: cloud.Credential,
    admin: cloud.Credential | None,
    journal_dir: pathlib.Path,
    progress: runs.Progress,
) -> guest_arrival.RunGuests:
    """Return the guests of a test class, before they are booted.

    :param options: The options of vmperf_guests.
    :param user: The credential of the owner of the guests.
    :param admin: The credential of an administrator, or None.
    :param journal_dir: The directory of the journals and the ledger.
    """
    identifier = str(uuid.uuid4())
    prefix = f"c_rally_{ownership.shorten_owner(identifier)}"
    return guest_arrival.RunGuests(
        id=identifier,
        task=identifier,
        options=options,
        user=user,
        admin=admin,
        run_ledger=ledger.Ledger(journal_dir),
        new_name=lambda: f"{prefix}_{secrets.token_hex(4)}",
        progress=progress,
        remedy=killed.format_cleanup_command((), identifier),
    )
