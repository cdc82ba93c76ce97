# SPDX-License-Identifier: Apache-2.0
"""The guests of a run, from the boot to the removal."""

import collections.abc
import dataclasses
import os
import time
import typing as t

from rally_vmperf import documents
from rally_vmperf.execution import assignment
from rally_vmperf.execution import sessions
from rally_vmperf.execution.stations import arrival
from rally_vmperf.execution.stations import reach
from rally_vmperf.guests import cloud
from rally_vmperf.guests import console
from rally_vmperf.guests import errors
from rally_vmperf.guests import models
from rally_vmperf.guests import request
from rally_vmperf.guests.booting import access
from rally_vmperf.guests.booting import boot
from rally_vmperf.guests.booting import host_keys
from rally_vmperf.guests.booting import obstacles
from rally_vmperf.guests.cleanup import inventory
from rally_vmperf.guests.cleanup import ledger
from rally_vmperf.guests.cleanup import ownership
from rally_vmperf.guests.cleanup import removal
from rally_vmperf.guests.cleanup import servers
from rally_vmperf.machines.remote import endpoint
from rally_vmperf.machines.remote import hostkey
from rally_vmperf.machines.remote import routes
from rally_vmperf.measurement import finding
from rally_vmperf.runs import loads
from rally_vmperf.runs import runs

#: The options that name files.
_FILES = ("key_file", "known_hosts", "password_file")


def check_others(
    peer: documents.Arguments | None,
    control: documents.Arguments | None,
    assignments: collections.abc.Sequence[assignment.Assignment],
    progress: runs.Progress,
) -> None:
    """Check peer and control machine, if any, before the guests boot.

    :param peer: The peer, as the task defines it.
    :param control: The control machine, as the task defines it.
    :param progress: The function that reports progress.
    :raises MachineError: If a machine does not answer or has not the tools of
        the workloads; with its name.
    """
    if peer or control:
        sessions.check_others(
            assignments,
            reach.peer_station(peer) if peer else None,
            loads.create_control(control, assignments),
            progress,
        )


def check_access(
    guests: documents.Arguments,
    peer: documents.Arguments | None,
    control: documents.Arguments | None,
) -> None:
    """Reject files, secrets and routes that do not exist on this machine.

    :param guests: The options of the guests.
    :param peer: The peer, as the task defines it.
    :param control: The control machine, as the task defines it.
    :raises GuestError: If an option is not valid, or names no file.
    :raises MachineError: If a secret or a namespace cannot be used.
    """
    request.parse_sources(guests)
    _check_files("vmperf_guests", guests)
    if guests.get("jump") and guests.get("namespace"):
        raise errors.GuestError(
            "vmperf_guests: jump and namespace are mutually exclusive; remove "
            "one of them"
        )
    _check_files("peer", peer)
    _check_files("control", control)
    login, host_key = guests.get("login"), guests.get("host_key")
    if login and "password_file" in login:
        endpoint.password("vmperf_guests login", login["password_file"])
    if host_key and "public_key" in host_key:
        hostkey.parse_host_keys(host_key["public_key"])
    if guests.get("namespace"):
        routes.open_socket(guests["namespace"]).close()


def _check_files(section: str, options: t.Any) -> None:
    """Reject options that name files which do not exist."""
    for path, name in _list_files(section, options):
        if not os.path.isfile(os.path.expanduser(name)):
            raise errors.GuestError(
                f"{path}: file {name!r} does not exist on this machine; fix "
                "the path or remove the option"
            )


def _list_files(
    parent: str, options: t.Any
) -> collections.abc.Iterator[tuple[str, str]]:
    """Yield the paths of options that name files, with the file names."""
    if isinstance(options, list):
        for number, element in enumerate(options):
            yield from _list_files(f"{parent}[{number}]", element)
    elif isinstance(options, dict):
        for key, option in options.items():
            path = f"{parent} {key}"
            if key in _FILES and isinstance(option, str):
                yield path, option
            elif key in ("jump", "login"):
                yield from _list_files(path, option)


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
        **flags: t.Any,
    ) -> "tuple[models.BootedGuests, arrival.ConnectedGuests, GroupBoots]":
        """Boot the guests, and wait for SSH; return them and connections.

        If the groups do not fit together, only the first one is booted. The
        caller removes all resources, also if this function raises.

        :param tenant_network: The identifier of the network of the project;
            None if none was created for it.
        :param ports_open: The ports on which guests listen for other guests.
        :param flags: The flags of the request that the scenario determines.
        :returns: The guests, their connections, and the boots that can
            follow during the run.
        :raises GuestError: If the boot fails; the message names the solution.
        """
        connection = self.connect()
        guest_boot = boot.prepare(
            connection,
            request.parse_config(self.options, tenant_network, **flags),
            self.new_name,
            self.progress,
            admin=self.connect_admin(),
            ports_open=ports_open,
        )
        group = None
        if guest_boot.planned.sequential:
            demand, *_ = guest_boot.planned.demands
            group = demand.group.name
        boots = GroupBoots(run_guests=self, guest_boot=guest_boot)
        connections = boots.boot(group)
        return boots.booted, connections, boots

    def wait(
        self, connection: cloud.Connection, booted: models.BootedGuests
    ) -> tuple[models.BootedGuests, arrival.ConnectedGuests]:
        """Wait until guests answer SSH; return them, and their connections.

        :raises GuestError: If no guest answers.
        """
        return wait_for_guests(
            connection,
            booted,
            self.options["ssh_timeout"],
            self.progress,
            self.connect_admin(),
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
        self._remove(self._list_kinds(), interrupted=interrupted)
        self.run_ledger.drop(self.id)

    def remove_guests(self) -> None:
        """Delete the guests, but not the resources that groups share.

        :raises GuestError: If a resource remains.
        """
        # Placement frees the host a moment after Nova lists no server.
        self._remove(
            self._list_kinds() & inventory.SINGLE_GUEST_KINDS, interrupted=True
        )

    def _remove(self, kinds: set[str], *, interrupted: bool) -> None:
        """Delete the resources of some kinds, and verify it."""
        removal.remove_resources(
            self.connect(),
            self.owner,
            self.progress,
            interrupted=interrupted,
            kinds=kinds,
            admin=self.connect_admin(),
            remedy=self.remedy,
        )

    def _list_kinds(self) -> set[str]:
        """Return the kinds of resources that these guests can have."""
        options = {*self.options}.union(*self.options.get("groups", ()))
        kinds = inventory.OPTIONAL_KINDS
        present = {kind for option, kind in kinds.items() if option in options}
        return (inventory.GUEST_KINDS - {*kinds.values()}) | present


@dataclasses.dataclass(kw_only=True)
class GroupBoots:
    """The boots of groups of guests, of which one exists at a time.

    :ivar booted: The guests of the latest boot.
    :ivar is_new: Whether they have not been measured.
    :ivar is_repeated: Whether guests were booted during the run.
    """

    run_guests: RunGuests
    guest_boot: boot.Boot
    is_new: bool = False
    is_repeated: bool = False

    def __post_init__(self) -> None:
        self.booted = models.BootedGuests(guests=(), client_key="")

    def is_ready(self, group: str | None) -> bool:
        """Return whether the guests of a group have just booted."""
        return self.is_new and group in (None, self.booted.guests[0].group)

    def boot(self, group: str | None) -> arrival.ConnectedGuests:
        """Delete the guests, boot those of a group; return connections.

        All groups boot on the host of the first one, if the user may select
        it.

        :param group: The name of the group; None for all guests, of which some
            may be absent after the first boot.
        :raises GuestError: If a guest remains, or does not boot or answer.
        """
        is_first, self.is_new = not self.booted.guests, False
        if not is_first:
            self.is_repeated = True
            self.run_guests.remove_guests()
        booted, connections = self.run_guests.wait(
            self.guest_boot.connection, self.guest_boot.run(group)
        )
        if booted.absent and (group or not is_first):
            connections.close()
            raise errors.GuestError(
                "; ".join(
                    found.detail
                    for found in booted.findings
                    if found.kind == "guest_unavailable"
                )
            )
        self.booted = dataclasses.replace(booted, sequential=bool(group))
        self.is_new = True
        host = booted.guests[0].host
        if is_first and group and host:
            self.guest_boot.pin_host(host)
        return connections


def wait_for_guests(
    connection: t.Any,
    booted: models.BootedGuests,
    timeout: float,
    progress: runs.Progress,
    admin: cloud.Connection | None = None,
) -> tuple[models.BootedGuests, arrival.ConnectedGuests]:
    """Wait until guests answer SSH; return them, and their connections.

    Guests that do not answer are excluded, unless no guest answers.

    :param connection: The connection to the cloud, for the consoles of guests.
    :param timeout: The timeout in seconds.
    :param admin: The connection of an administrator, who aborts migrations;
        None if there is none.
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
    arriving = arrival.ConnectedGuests(guests, booted.client_key)
    try:
        left = timeout - (time.monotonic() - begin)
        find_obstacle = obstacles.Obstacles(connection, guests).find
        arrivals = arriving.wait(left, progress, find_obstacle)
        for guest, arrived in zip(guests, arrivals, strict=True):
            if arrived.busy:
                late = finding.Finding(
                    kind="still_booting",
                    subject=guest.name,
                    detail=f"{arrived.busy} was still at work in "
                    f"{guest.name} after {timeout:g} s",
                )
                findings.append(late)
            if arrived.error:
                reason, console_end = _diagnose_unreached(
                    connection, guest, arrived, booted.ssh_sources
                )
                silent[guest.name] = reason
                first_end = first_end or f"{reason}; {console_end}"
        if len(silent) == len(guests):
            raise errors.GuestError(first_end)
        servers.delete_failed(
            connection,
            {
                guest.id: silent[guest.name]
                for guest in guests
                if guest.name in silent
            },
            progress,
            admin,
        )
        arriving.leave(silent)
    except BaseException:
        arriving.close()
        raise
    arrived_all = dataclasses.replace(
        booted,
        guests=tuple(
            guest.answered(arrived.answered_at)
            if arrived.answered_at is not None
            else guest
            for guest, arrived in zip(guests, arrivals, strict=True)
        ),
        findings=(*booted.findings, *findings),
    )
    return arrived_all.without(silent), arriving


def _diagnose_unreached(
    connection: t.Any,
    guest: models.Guest,
    arrived: arrival.Arrival,
    ssh_sources: collections.abc.Sequence[str] | None,
) -> tuple[str, str]:
    """Return why a guest was not reached, and the end of its console."""
    output = console.diagnose(connection, guest.id, guest.host_key)
    name = f"guest {guest.name} at {guest.address}"
    end = f"end of the guest's console:\n{output.end}"
    if arrived.at_jump:
        return f"{name} was not tried: {arrived.error}", end
    if arrived.is_final:
        return f"{name} cannot be reached by SSH: {arrived.error}", end
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
