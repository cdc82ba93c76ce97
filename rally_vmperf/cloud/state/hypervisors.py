"""The hypervisors in the container, and what differs between them."""

import dataclasses
import pathlib
import uuid

from rally_vmperf.cloud.state import addresses
from rally_vmperf.cloud.system import layout

NAMES = ("vmperf-hypervisor", "vmperf-hypervisor-2")
#: The agents of Neutron on the first one; the second one has the first agent.
AGENTS = tuple(
    f"neutron-{name}-agent"
    for name in ("linuxbridge", "dhcp", "l3", "metadata")
)


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
