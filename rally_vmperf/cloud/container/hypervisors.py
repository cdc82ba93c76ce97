"""The hypervisors in the container: what differs between them, and removal."""

import dataclasses
import pathlib
import typing as t
import uuid

import openstack

from rally_vmperf.cloud.resources import inventory
from rally_vmperf.cloud.state import addresses
from rally_vmperf.cloud.system import errors
from rally_vmperf.cloud.system import layout

NAMES = ("vmperf-hypervisor", "vmperf-hypervisor-2")
_ENDED = ("completed", "error", "failed", "cancelled")
#: The version of Nova's API whose migrations have an identifier and a time.
_MIGRATIONS = "2.59"


@dataclasses.dataclass(frozen=True)
class Hypervisor:
    """A compute host of the cloud, as its configuration files describe it.

    :param number: 1, or 2 for the one in namespaces of its own.
    :param address: The address of migrations and of VXLAN.
    :param uuid: The identifier of the host in libvirt.
    """

    number: int
    address: str
    uuid: str
    folders: layout.Layout

    @property
    def name(self) -> str:
        """The name of the host in Nova and Neutron."""
        return NAMES[self.number - 1]

    @property
    def data(self) -> pathlib.Path:
        """The directory of its data."""
        return self.folders.hypervisor_data(self.number)

    @property
    def nova(self) -> pathlib.Path:
        """The configuration file that nova-compute reads last."""
        return self.folders.etc / f"hypervisor-{self.number}/nova.conf"

    @property
    def neutron(self) -> pathlib.Path:
        """The configuration file that the agents read last."""
        return self.folders.etc / f"hypervisor-{self.number}/neutron.conf"

    @property
    def libvirtd(self) -> pathlib.Path:
        """The configuration file of libvirtd."""
        return self.data / "libvirt/etc/libvirtd.conf"

    @property
    def qemu(self) -> pathlib.Path:
        """The configuration file of libvirt's driver for QEMU."""
        return self.data / "libvirt/etc/qemu.conf"

    @property
    def socket(self) -> pathlib.Path:
        """The socket of libvirtd."""
        return self.folders.run / f"libvirt-{self.address}/libvirt-sock"

    @property
    def external_port(self) -> str:
        """The device of the network "public"."""
        return f"ext{self.number}"


def describe(
    folders: layout.Layout, chosen: addresses.Addresses, host_secret: str
) -> list[Hypervisor]:
    """Return both hypervisors, whether or not the second one runs.

    :param folders: The paths of the cloud.
    :param chosen: The address ranges of the cloud.
    :param host_secret: 32 hexadecimal digits, which identify the host.
    """
    first = uuid.UUID(hex=host_secret)
    return [
        Hypervisor(1, chosen.controller, str(first), folders),
        Hypervisor(2, chosen.second, str(uuid.uuid5(first, "2")), folders),
    ]


def check_removable(cloud: t.Any) -> None:
    """Reject the removal of the second hypervisor while it is in use.

    :param cloud: A connection as administrator.
    :raises errors.CloudError: With the names of its guests, or with its
        migrations that have not ended.
    """
    name = NAMES[1]
    guests = [
        server.name
        for server in cloud.compute.servers(all_projects=True)
        if server.compute_host == name
    ]
    if guests:
        raise errors.CloudError(
            f"--hypervisors=1: hypervisor {name} has guests "
            f"({', '.join(sorted(guests))}); migrate or delete them first"
        )
    answer = cloud.compute.get("/os-migrations", microversion=_MIGRATIONS)
    openstack.exceptions.raise_from_response(answer)
    running = [
        one["instance_uuid"]
        for one in answer.json()["migrations"]
        if name in (one["source_compute"], one["dest_compute"])
        and one["status"] not in _ENDED
    ]
    if running:
        raise errors.CloudError(
            f"--hypervisors=1: hypervisor {name} has migrations that have "
            f"not ended, of {', '.join(running)}; wait for their end"
        )


def forget(cloud: t.Any) -> None:
    """Delete the second hypervisor in Nova and Neutron, if it is there.

    It has ended.

    :param cloud: A connection as administrator.
    """
    for service in cloud.compute.services(host=NAMES[1]):
        cloud.compute.update_service_forced_down(service, forced=True)
        cloud.compute.delete_service(service)
    for agent in cloud.network.agents(host=NAMES[1]):
        cloud.network.delete_agent(agent)
    inventory.wait(
        f"the removal of hypervisor {NAMES[1]}",
        lambda: len(list(cloud.compute.hypervisors())) <= 1,
    )
