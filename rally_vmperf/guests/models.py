# SPDX-License-Identifier: Apache-2.0
"""Booted guests with the facts from Nova, Neutron and the request."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf import documents
from rally_vmperf.machines.remote import target
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.comparison import rate_caps


@dataclasses.dataclass(frozen=True, kw_only=True)
class Flavor:
    """A flavor in Nova.

    :param ephemeral_gib: The size of the disk next to the boot disk; 0 for
        none. A guest with a boot volume has it, too.
    :param swap_mib: The size of the disk for swap; 0 for none.
    :param extra_specs: The extra specs; empty if a policy hides them.
    :param has_hidden_extra_specs: A flag that a policy hides them.
    """

    id: str
    name: str
    vcpus: int
    memory_mib: int
    disk_gib: int
    ephemeral_gib: int = 0
    swap_mib: int = 0
    extra_specs: collections.abc.Mapping[str, str] = dataclasses.field(
        default_factory=dict
    )
    has_hidden_extra_specs: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class Image:
    """An image in Glance.

    :param cpu_policy: The property ``hw_cpu_policy``, also a requested one;
        "" without it.
    """

    id: str
    name: str
    cpu_policy: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Disk:
    """The boot disk of a guest.

    :param type: The volume type; None for the disk of a flavor.
    :param is_encrypted: A flag that the header of an encryption takes a part
        of it.
    """

    source: t.Literal["flavor", "volume"]
    size_gib: int
    type: str | None = None
    is_encrypted: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class Volume(target.Volume):
    """A data volume of a guest.

    :param type: The name of its type; None if Cinder does not report it.
    :param requested_type: The name of the requested type; None for the
        default of the cloud.
    """

    type: str | None = None
    requested_type: str | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Guest(target.Target):
    """A Nova server that runs workloads.

    :param group: The name of its group of guests.
    :param id: The identifier of its server.
    :param boot: The identifier of its QEMU process: the identifier of the
        server and the number of its starts by the controller.
    :param host: The compute host; None if Nova hides it from members.
    :param host_id: A hash of project and host, which members see.
    :param hypervisor_version: The hypervisor with its version, such as QEMU
        7.2.22, which Nova shows to administrators only.
    :param nova_microversion: The largest microversion of Nova's API.
    :param host_cpu: The features of the hypervisor's processors by libvirt's
        names, which Nova shows to administrators only.
    :param host_vcpus: The number of the hypervisor's processors; None if it is
        not known.
    :param host_memory_mib: The memory of the hypervisor in MiB; None if it is
        not known.
    :param networks: The names of its networks in the order of its ports.
    :param network: The name of its SSH network.
    :param requested_at: The time of the request for its latest boot on the
        monotonic clock of the controller, in seconds.
    :param boot_seconds: The seconds until its status was ACTIVE.
    :param ssh_seconds: The seconds until it answered SSH.
    :param settings: The extra specs and image properties that were requested
        in addition to those of its flavor and image.
    :param topology: The NUMA nodes and the page size from Nova, with settings
        only; None if they are hidden.
    """

    group: str
    id: str
    boot: str
    server_name: str
    flavor: Flavor
    image: Image
    disk: Disk
    volumes: tuple[Volume, ...] = ()
    fixed_address: str
    floating_address: str | None = None
    reached_by: t.Literal["fixed", "floating"] = "fixed"
    host_id: str | None = None
    host: str | None = None
    hypervisor: str | None = None
    hypervisor_version: str | None = None
    nova_microversion: str | None = None
    host_cpu: tuple[str, ...] = ()
    host_vcpus: int | None = None
    host_memory_mib: int | None = None
    availability_zone: str | None = None
    server_group: str | None = None
    config_drive: bool = False
    networks: tuple[str, ...] = ()
    network: str = ""
    created_at: str | None = None
    requested_at: float = 0
    boot_seconds: float = 0
    ssh_seconds: float = 0
    settings: documents.Arguments = dataclasses.field(default_factory=dict)
    topology: documents.Facts | None = None

    def started(self, requested_at: float) -> "Guest":
        """Return this guest after it was stopped and started again."""
        return dataclasses.replace(
            self, boot=add_boots(self.boot, 1), requested_at=requested_at
        )

    def answered(self, answered_at: float) -> "Guest":
        """Return this guest after it answered SSH at a monotonic time."""
        seconds = round(answered_at - self.requested_at, 1)
        return dataclasses.replace(self, ssh_seconds=seconds)


def create_boot_id(server_id: str) -> str:
    """Return the boot id of a new server."""
    return f"{server_id}#1"


def add_boots(boot_id: str, count: int) -> str:
    """Return the boot id of a server that has started further times."""
    server_id, _, former = boot_id.rpartition("#")
    return f"{server_id}#{int(former) + count}"


@dataclasses.dataclass(frozen=True, kw_only=True)
class BootedGuests:
    """The booted guests of a run.

    :param absent: The names of the guests that failed; each has a finding.
    :param client_key: The private key for the login.
    :param findings: The findings on their placement and policies.
    :param caps: The policies that limit their rates.
    :param volume_caps: The policies that limit their data volumes, by the
        number of the volume.
    :param ssh_sources: The networks from which their security group allows
        SSH; None if they are not known.
    :param sequential: A flag that they are the first of several groups, which
        boot one after another.
    """

    guests: tuple[Guest, ...]
    absent: tuple[str, ...] = ()
    client_key: str = dataclasses.field(repr=False)
    findings: tuple[finding.Finding, ...] = ()
    caps: tuple[rate_caps.Cap, ...] = ()
    volume_caps: collections.abc.Mapping[int, tuple[rate_caps.Cap, ...]] = (
        dataclasses.field(default_factory=dict)
    )
    ssh_sources: tuple[str, ...] | None = None
    sequential: bool = False

    def without(
        self, missing: collections.abc.Mapping[str, str]
    ) -> "BootedGuests":
        """Return the booted guests without those that failed.

        :param missing: The one-line reasons by name of the guest.
        """
        return dataclasses.replace(
            self,
            guests=tuple(
                guest for guest in self.guests if guest.name not in missing
            ),
            absent=(*self.absent, *missing),
            findings=(*self.findings, *create_absence_findings(missing)),
        )


def create_absence_findings(
    missing: collections.abc.Mapping[str, str],
) -> list[finding.Finding]:
    """Return a finding on each guest that failed.

    :param missing: The one-line reasons by name of the guest.
    """
    return [
        finding.Finding("guest_unavailable", name, reason)
        for name, reason in missing.items()
    ]
