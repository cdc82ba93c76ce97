"""Processes that a service left behind, and those that use its addresses."""

import os
import re

import psutil

from rally_vmperf.cloud.services import services
from rally_vmperf.cloud.state import ownership
from rally_vmperf.cloud.state import records
from rally_vmperf.cloud.system import commands
from rally_vmperf.cloud.system import errors
from rally_vmperf.cloud.system import layout
from rally_vmperf.cloud.system import procfs

# What agents and libvirt start and find again: guests would miss these.
KEPT = re.compile(r"dnsmasq|haproxy|qemu-system.*")
# What a socket says that listens on all addresses; nothing is bound to it.
EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104


def of(
    name: str,
    record: records.Record | None,
    folders: layout.Layout,
    processes: procfs.ProcessTable,
) -> list[int]:
    """Return the processes of a service, whether or not it is on record.

    One that was killed may leave its workers; an ``up`` that was killed may
    have started a service and not have written it down. Both print into the
    service's log, which no program that renames itself can change.

    :param name: the service
    :param record: what was started, if anything
    :param folders: the state root's folders
    :param processes: the machine's process table
    """
    session = record.identity.pid if record else None
    log = folders.log / f"{name}.log"
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
            == str(folders.root)
        ):
            found.append(pid)
    return found


def check_addresses(
    service: services.Service, processes: procfs.ProcessTable
) -> None:
    """Refuse to start a service whose addresses another process uses.

    Nothing that is left of the service itself may run any more.

    :param service: what is to be started
    :param processes: the machine's process table
    :raises errors.AddressError: naming the address and the process
    """
    for address in service.addresses():
        for pid in holders(address):
            name = ownership.program(processes.command_line(pid)) or "?"
            raise errors.AddressError(
                f"{service.name} cannot have {address}: process {pid} "
                f"({name}) listens there, which is not the cloud's; end it, "
                "then run 'rally-vmperf cloud up' again"
            )


def holders(address: str) -> list[int]:
    """Return the processes that listen on an address, or on all of them.

    :param address: HOST:PORT of this machine
    """
    host, _, port = address.rpartition(":")
    return sorted(
        {
            one.pid
            for one in psutil.net_connections("tcp")
            if one.status == psutil.CONN_LISTEN
            and one.laddr.port == int(port)
            and one.laddr.ip in (host, *EVERYWHERE)
            and one.pid
        }
    )
