"""Processes that a service left when it ended."""

import os
import re

from rally_vmperf.cloud import commands
from rally_vmperf.cloud import errors
from rally_vmperf.cloud import layout
from rally_vmperf.cloud import ownership
from rally_vmperf.cloud import ports
from rally_vmperf.cloud import procfs
from rally_vmperf.cloud import records
from rally_vmperf.cloud import services

# What agents and libvirt start and find again: guests would miss these.
KEPT = re.compile(r"dnsmasq|haproxy|qemu-system.*")


def of(
    name: str,
    record: records.Record | None,
    place: layout.Layout,
    processes: procfs.ProcessTable,
) -> list[int]:
    """Return the processes of a service, whether or not it is on record.

    One that was killed may leave its workers; an ``up`` that was killed may
    have started a service and not have written it down. Both print into the
    service's log, which no program that renames itself can change.

    :param name: the service
    :param record: what was started, if anything
    :param place: the state root's folders
    :param processes: the machine's process table
    """
    session = record.identity.pid if record else None
    log = place.log / f"{name}.log"
    found = []
    for pid in processes.pids():
        if pid == os.getpid():
            continue
        program = ownership.program(processes.command_line(pid))
        if KEPT.fullmatch(program):
            continue
        if log in processes.outputs(pid) or (
            processes.session(pid) == session
            and processes.environment(pid).get(commands.MARK)
            == str(place.root)
        ):
            found.append(pid)
    return found


def check_addresses(
    service: services.Service, processes: procfs.ProcessTable
) -> None:
    """Refuse to start a service whose addresses another process has.

    Nothing that is left of the service itself may run any more.

    :param service: what is to be started
    :param processes: the machine's process table
    :raises errors.AddressError: naming the address and the process
    """
    for address in service.addresses():
        for pid in ports.holders(processes, address):
            name = ownership.program(processes.command_line(pid)) or "?"
            raise errors.AddressError(
                f"{service.name} cannot have {address}: process {pid} "
                f"({name}) listens there, which is not the cloud's; end it, "
                "then run 'rally-vmperf cloud up' again"
            )
