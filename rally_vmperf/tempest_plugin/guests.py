"""Guests of a test class, booted as for Rally, on Tempest's credentials."""

import datetime
import pathlib
import secrets
import typing as t
import uuid

from rally_vmperf.guests import boot
from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.guests import guest
from rally_vmperf.guests import killed
from rally_vmperf.guests import ledger
from rally_vmperf.guests import ownership
from rally_vmperf.guests import removal
from rally_vmperf.guests import request
from rally_vmperf.runs import guest_arrival

Progress = t.Callable[[str], None]

#: Seconds in which a request that was interrupted takes effect, or never.
_SETTLE = 3


def credential(conf: t.Any, given: t.Any) -> cloud.Credential:
    """Return credentials of Tempest's as our own code takes them.

    :param conf: Tempest's configuration
    :param given: a ``KeystoneV3Credentials``
    """
    identity = conf.identity
    return {
        "auth_url": identity.uri_v3,
        "username": given.username,
        "password": given.password,
        "user_domain_name": given.user_domain_name,
        "tenant_name": given.project_name,
        "project_domain_name": given.project_domain_name,
        "region_name": conf.compute.region or identity.region,
        "endpoint_type": conf.compute.endpoint_type.removesuffix("URL"),
        "https_insecure": identity.disable_ssl_certificate_validation,
        "https_cacert": identity.ca_certificates_file,
    }


class Guests:
    """Guests of one owner, from their boot to their removal.

    Names are of Rally's form, and the ledger has an entry, so that
    ``rally-vmperf cleanup`` finds what a killed run leaves.

    :param whose: credential that they are booted with
    :param admin: credential that sees the hosts, if there is one
    :param journal_dir: folder of the journals, with the ledger
    """

    def __init__(
        self,
        whose: cloud.Credential,
        admin: cloud.Credential | None,
        journal_dir: pathlib.Path,
        progress: Progress,
    ) -> None:
        self.id = str(uuid.uuid4())
        self._whose = whose
        self._admin = admin
        self._ledger = ledger.Ledger(journal_dir)
        self._progress = progress
        self._owner = ownership.Owner(f"c_rally_{ownership.short(self.id)}")

    def connect(self) -> t.Any:
        """Return a connection to the cloud, as the owner of the guests."""
        return cloud.connect(self._whose)

    def boot(
        self, options: dict[str, t.Any], tenant_network: str | None
    ) -> guest.Booted:
        """Boot guests and wait until all answer SSH.

        What a boot that fails has made is removed at once.

        :param options: of vmperf_guests
        :param tenant_network: of the project, if Tempest made one
        :raises GuestError: one line with the way out
        """
        self._ledger.write(self._entry())
        connection = self.connect()
        try:
            booted = boot.boot(
                connection,
                request.of_config(options, tenant_network),
                self._new_name,
                self._progress,
                admin=cloud.connect(self._admin) if self._admin else None,
            )
            booted, arriving = guest_arrival.wait(
                connection, booted, options["ssh_timeout"], self._progress
            )
            arriving.close()
        except BaseException:
            self.remove(settle=_SETTLE)
            raise
        return booted

    def remove(self, settle: float = 0) -> None:
        """Remove the guests and all that was made for them.

        :param settle: seconds after which to look again, for requests that
            may still have been under way
        :raises GuestError: with what is left, and how to remove it
        """
        try:
            removal.remove(
                self.connect(),
                self._owner,
                self._progress,
                settle=settle,
                disks=False,
            )
        except errors.GuestError as error:
            remedy = killed.remedy((), self.id)
            raise errors.GuestError(
                f"{error}; remove it with: {remedy}"
            ) from error
        self._ledger.drop(self.id)

    def _new_name(self) -> str:
        return f"{self._owner.prefix}_{secrets.token_hex(4)}"

    def _entry(self) -> ledger.Entry:
        now = datetime.datetime.now(datetime.UTC)
        return ledger.Entry(
            owner=self.id,
            task=self.id,
            prefix=self._owner.prefix,
            auth_url=self._whose["auth_url"],
            project=self._whose.get("tenant_name") or "",
            started_at=now.isoformat(timespec="seconds"),
            process=ledger.this_process(),
        )
