"""Guests of a test class, booted as for Rally, on Tempest's credentials."""

import pathlib
import secrets
import typing as t
import uuid

from rally_vmperf.guests import cloud
from rally_vmperf.guests import guest
from rally_vmperf.guests import request
from rally_vmperf.guests.booting import boot
from rally_vmperf.guests.cleanup import killed
from rally_vmperf.guests.cleanup import ledger
from rally_vmperf.guests.cleanup import ownership
from rally_vmperf.guests.cleanup import removal
from rally_vmperf.runs import guest_arrival

Progress = t.Callable[[str], None]


def credential(conf: t.Any, given: t.Any) -> cloud.Credential:
    """Return Tempest's credentials in the form of Rally's.

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
        self,
        options: dict[str, t.Any],
        tenant_network: str | None,
        ports_open: range,
        *,
        one_host: bool,
    ) -> guest.Booted:
        """Boot guests and wait until all answer SSH.

        What a boot that fails has made is removed at once.

        :param options: of vmperf_guests
        :param tenant_network: of the project, if Tempest made one
        :param ports_open: those at which guests listen for one another
        :param one_host: they are to share one, where nothing else is asked
        :raises GuestError: one line with the way out
        """
        self._ledger.write(
            ledger.Entry.of_this_process(
                self.id, self.id, self._owner.prefix, self._whose
            )
        )
        connection = self.connect()
        try:
            booted = boot.boot(
                connection,
                request.of_config(options, tenant_network, one_host=one_host),
                self._new_name,
                self._progress,
                admin=cloud.connect(self._admin) if self._admin else None,
                ports_open=ports_open,
            )
            booted, arriving = guest_arrival.wait(
                connection, booted, options["ssh_timeout"], self._progress
            )
            arriving.close()
        except BaseException:
            self.remove(interrupted=True)
            raise
        return booted

    def remove(self, *, interrupted: bool = False) -> None:
        """Remove the guests and all that was made for them.

        :param interrupted: requests may still be under way
        :raises GuestError: with what is left, and how to remove it
        """
        removal.remove(
            self.connect(),
            self._owner,
            self._progress,
            interrupted=interrupted,
            disks=False,
            remedy=killed.remedy((), self.id),
        )
        self._ledger.drop(self.id)

    def _new_name(self) -> str:
        return f"{self._owner.prefix}_{secrets.token_hex(4)}"
