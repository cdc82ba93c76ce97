"""Guests of a test class, booted with the credentials of Tempest."""

import pathlib
import secrets
import typing as t
import uuid

from rally_vmperf import documents
from rally_vmperf.guests import cloud
from rally_vmperf.guests import models
from rally_vmperf.guests import request
from rally_vmperf.guests.booting import boot
from rally_vmperf.guests.cleanup import killed
from rally_vmperf.guests.cleanup import ledger
from rally_vmperf.guests.cleanup import ownership
from rally_vmperf.guests.cleanup import removal
from rally_vmperf.runs import guest_arrival

Progress = t.Callable[[str], None]


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


class Guests:
    """The guests of one owner, from boot to deletion.

    Resources have names in the form of Rally, and the ledger has an entry, so
    that ``rally-vmperf cleanup`` finds the resources of a killed run.

    :param user: The credential of the owner of the guests.
    :param admin: The credential of an administrator, or None.
    :param journal_dir: The directory of the journals and the ledger.
    :param progress: The function that logs progress.
    """

    def __init__(
        self,
        user: cloud.Credential,
        admin: cloud.Credential | None,
        journal_dir: pathlib.Path,
        progress: Progress,
    ) -> None:
        self.id = str(uuid.uuid4())
        self._user = user
        self._admin = admin
        self._ledger = ledger.Ledger(journal_dir)
        self._progress = progress
        self._owner = ownership.Owner(
            f"c_rally_{ownership.shorten_owner(self.id)}"
        )

    def connect(self) -> t.Any:
        """Return a connection to the cloud with the owner of the guests."""
        return cloud.connect(self._user)

    def connect_admin(self) -> t.Any:
        """Return an administrator's connection to the cloud, or None."""
        return cloud.connect(self._admin) if self._admin else None

    def boot(
        self,
        options: documents.Arguments,
        tenant_network: str | None,
        ports_open: range,
        *,
        one_host: bool,
    ) -> models.BootedGuests:
        """Boot guests, wait until all answer SSH, and return them.

        If the boot fails, all created resources are deleted.

        :param options: The options of vmperf_guests.
        :param tenant_network: The identifier of the network of the project;
            None if Tempest created none.
        :param ports_open: The ports on which guests listen for other guests.
        :param one_host: Whether the guests share a host, unless the options
            specify a placement.
        :raises GuestError: If the boot fails; the message names the solution.
        """
        self._ledger.write(
            ledger.Entry.of_this_process(
                self.id, self.id, self._owner.prefix, self._user
            )
        )
        connection = self.connect()
        try:
            booted = boot.boot(
                connection,
                request.parse_config(
                    options, tenant_network, one_host=one_host
                ),
                self._new_name,
                self._progress,
                admin=self.connect_admin(),
                ports_open=ports_open,
            )
            booted, arrival = guest_arrival.wait_for_guests(
                connection, booted, options["ssh_timeout"], self._progress
            )
            arrival.close()
        except BaseException:
            self.remove(interrupted=True)
            raise
        return booted

    def remove(self, *, interrupted: bool = False) -> None:
        """Delete the guests and all resources that were created for them.

        :param interrupted: Whether requests may be in progress.
        :raises GuestError: If a resource remains; the message names it and
            the command that deletes it.
        """
        removal.remove_resources(
            self.connect(),
            self._owner,
            self._progress,
            interrupted=interrupted,
            disks=False,
            remedy=killed.format_cleanup_command((), self.id),
        )
        self._ledger.drop(self.id)

    def _new_name(self) -> str:
        """Return a new name for a resource, with the owner's prefix."""
        return f"{self._owner.prefix}_{secrets.token_hex(4)}"
