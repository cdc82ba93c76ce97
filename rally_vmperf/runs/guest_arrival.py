"""The guests of a run, from the boot to the removal."""

import collections.abc
import dataclasses
import time
import typing as t

from rally_vmperf import documents
from rally_vmperf.execution.stations import arrival
from rally_vmperf.guests import cloud
from rally_vmperf.guests import console
from rally_vmperf.guests import errors
from rally_vmperf.guests import models
from rally_vmperf.guests import request
from rally_vmperf.guests.booting import access
from rally_vmperf.guests.booting import boot
from rally_vmperf.guests.booting import host_keys
from rally_vmperf.guests.cleanup import inventory
from rally_vmperf.guests.cleanup import ledger
from rally_vmperf.guests.cleanup import ownership
from rally_vmperf.guests.cleanup import removal
from rally_vmperf.measurement import finding
from rally_vmperf.runs import runs


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunGuests:
    """The guests of one run, with all resources that are created for them.

    Resources have names in the form of Rally, and the ledger has an entry, so
    that ``rally-vmperf cleanup`` finds the resources of a killed run.

    :param id: The identifier of the run, a part of which is in all names.
    :param task: The identifier of the task.
    :param options: The options of vmperf_guests.
    :param user: The credential of the owner of the guests.
    :param admin: The credential of an administrator; None if there is none.
    :param run_ledger: The ledger of the runs with resources.
    :param new_name: The function that returns new names of resources.
    :param progress: The function that reports progress.
    :param remedy: The command that removes the resources that remain.
    """

    id: str
    task: str
    options: documents.Arguments
    user: cloud.Credential
    admin: cloud.Credential | None
    run_ledger: ledger.Ledger
    new_name: t.Callable[[], str]
    progress: runs.Progress
    remedy: str

    @property
    def owner(self) -> ownership.Owner:
        """The owner of the resources of this run."""
        return ownership.of_names(self.id, self.new_name)

    def connect(self) -> cloud.Connection:
        """Return a connection to the cloud with the owner of the guests."""
        return cloud.connect(self.user)

    def connect_admin(self) -> cloud.Connection | None:
        """Return an administrator's connection to the cloud, or None."""
        return cloud.connect(self.admin) if self.admin else None

    def boot(
        self,
        tenant_network: str | None,
        ports_open: range,
        *,
        one_host: bool,
    ) -> tuple[models.BootedGuests, arrival.Guests]:
        """Boot the guests, and wait for SSH; return them and connections.

        The caller removes all resources, also if this function raises.

        :param tenant_network: The identifier of the network of the project;
            None if none was created for it.
        :param ports_open: The ports on which guests listen for other guests.
        :param one_host: A flag that the guests share a host, unless the
            options specify a placement.
        :raises GuestError: If the boot fails; the message names the solution.
        """
        connection = self.connect()
        booted = boot.boot(
            connection,
            request.parse_config(
                self.options, tenant_network, one_host=one_host
            ),
            self.new_name,
            self.progress,
            admin=self.connect_admin(),
            ports_open=ports_open,
        )
        return wait_for_guests(
            connection, booted, self.options["ssh_timeout"], self.progress
        )

    def write_entry(self) -> None:
        """Write the ledger's entry of this run, before resources exist."""
        self.run_ledger.write(
            ledger.Entry.of_this_process(
                self.id, self.task, self.owner.prefix, self.user
            )
        )

    def remove(self, *, interrupted: bool = False) -> None:
        """Delete the guests and all resources that were created for them.

        :param interrupted: A flag that requests may be in progress.
        :raises GuestError: If a resource remains; the message names it and
            the command that deletes it.
        """
        removal.remove_resources(
            self.connect(),
            self.owner,
            self.progress,
            interrupted=interrupted,
            kinds=self._list_kinds(),
            admin=self.connect_admin(),
            remedy=self.remedy,
        )
        self.run_ledger.drop(self.id)

    def _list_kinds(self) -> set[str]:
        """Return the kinds of resources that these guests can have."""
        options = {*self.options}.union(*self.options.get("groups", ()))
        return inventory.GUEST_KINDS - {
            kind
            for option, kind in inventory.OPTIONAL_KINDS.items()
            if option not in options
        }


def wait_for_guests(
    connection: t.Any,
    booted: models.BootedGuests,
    timeout: float,
    progress: runs.Progress,
) -> tuple[models.BootedGuests, arrival.Guests]:
    """Wait until guests answer SSH; return them, and their connections.

    Guests that do not answer are excluded, unless no guest answers.

    :param connection: The connection to the cloud, for the consoles of guests.
    :param timeout: The timeout in seconds.
    :raises GuestError: If no guest answers; with the end of the console of the
        first guest.
    """
    findings: list[finding.Finding] = []
    silent: dict[str, str] = {}
    first_end = ""
    begin = time.monotonic()
    guests = host_keys.read_host_keys(
        connection, booted.guests, timeout, progress
    )
    arriving = arrival.Guests(guests, booted.client_key)
    try:
        left = timeout - (time.monotonic() - begin)
        arrivals = arriving.wait(left, progress)
        for guest_, arrived in zip(guests, arrivals, strict=True):
            if arrived.busy:
                late = finding.Finding(
                    kind="still_booting",
                    subject=guest_.name,
                    detail=f"{arrived.busy} was still at work in "
                    f"{guest_.name} after {timeout:g} s",
                )
                findings.append(late)
            if arrived.error:
                reason, console_end = _diagnose_unreached(
                    connection, guest_, arrived, booted.ssh_sources
                )
                silent[guest_.name] = reason
                first_end = first_end or f"{reason}; {console_end}"
        if len(silent) == len(guests):
            raise errors.GuestError(first_end)
        boot.delete_failed(
            connection,
            {
                guest_.id: silent[guest_.name]
                for guest_ in guests
                if guest_.name in silent
            },
            progress,
        )
        arriving.leave(silent)
    except BaseException:
        arriving.close()
        raise
    arrived_all = dataclasses.replace(
        booted, guests=guests, findings=(*booted.findings, *findings)
    )
    return arrived_all.without(silent), arriving


def _diagnose_unreached(
    connection: t.Any,
    guest_: models.Guest,
    arrived: arrival.Arrival,
    ssh_sources: collections.abc.Sequence[str] | None,
) -> tuple[str, str]:
    """Return why a guest was not reached, and the end of its console."""
    output = console.diagnose(connection, guest_.id, guest_.host_key)
    name = f"guest {guest_.name} at {guest_.address}"
    end = f"end of the guest's console:\n{output.end}"
    if arrived.at_jump:
        return f"{name} was not tried: {arrived.error}", end
    reason = "raise ssh_timeout, or look at its network and image"
    if ssh_sources is not None:
        reason += (
            f"; SSH is permitted from {access.format_sources(ssh_sources)}; "
            "to "
            'change it: "allowed_sources": [NETWORK], 0.0.0.0/0 for all'
        )
    if output.hints:
        reason = "by its console " + "; ".join(output.hints)
    return f"{name} does not answer SSH: {arrived.error}; {reason}", end
