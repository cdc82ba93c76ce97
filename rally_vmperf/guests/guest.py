"""A booted guest: what Nova, Neutron and the request say of it."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.machines.remote import target
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.comparison import caps as caps_


@dataclasses.dataclass(frozen=True, kw_only=True)
class Flavor:
    """A flavor of Nova's.

    :param extra_specs: empty where policy hides them
    """

    id: str
    name: str
    vcpus: int
    memory_mib: int
    disk_gib: int
    extra_specs: collections.abc.Mapping[str, str] = dataclasses.field(
        default_factory=dict
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Image:
    """An image of Glance's."""

    id: str
    name: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Disk:
    """What a guest boots from.

    :param type: the volume's, None for a flavor's disk
    """

    source: t.Literal["flavor", "volume"]
    size_gib: int
    type: str | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Guest(target.Target):
    """A Nova server that runs workloads.

    :param group: name of the group of guests that it belongs to
    :param id: its server's identifier
    :param boot: which QEMU process it is: the server's identifier and how
        often the controller booted or started it
    :param host: None where Nova shows it to administrators only
    :param host_id: a hash of project and host, which members see
    :param host_cpu: what the hypervisor's processors can, by libvirt's names,
        which Nova shows to administrators only
    :param host_vcpus: how many processors the hypervisor has, likewise
    :param host_memory_mib: how much memory, likewise
    :param networks: names, in the order of its ports
    :param network: name of the one on which it is reached
    :param boot_seconds: until Nova said that it is active
    """

    group: str
    id: str
    boot: str
    server_name: str
    flavor: Flavor
    image: Image
    disk: Disk
    fixed_address: str
    floating_address: str | None = None
    reached_by: t.Literal["fixed", "floating"] = "fixed"
    host_id: str | None = None
    host: str | None = None
    hypervisor: str | None = None
    host_cpu: tuple[str, ...] = ()
    host_vcpus: int | None = None
    host_memory_mib: int | None = None
    availability_zone: str | None = None
    server_group: str | None = None
    config_drive: bool = False
    networks: tuple[str, ...] = ()
    network: str = ""
    created_at: str | None = None
    boot_seconds: float = 0

    def started(self) -> "Guest":
        """Return this guest after it was stopped and started again."""
        return dataclasses.replace(self, boot=next_boot(self.boot))


def first_boot(server_id: str) -> str:
    """Return the boot id of a server that was just made."""
    return f"{server_id}#1"


def next_boot(boot: str) -> str:
    """Return the boot id that follows, in which QEMU runs anew."""
    server_id, _, count = boot.rpartition("#")
    return f"{server_id}#{int(count) + 1}"


def to_plain(guest: Guest) -> dict[str, t.Any]:
    """Return a guest as JSON, which Rally's context keeps."""
    plain = dataclasses.asdict(guest)
    plain["networks"] = list(guest.networks)
    plain["host_cpu"] = list(guest.host_cpu)
    plain["jump"] = [_given(hop) for hop in guest.jump]
    plain["login"] = guest.login and _given(guest.login)
    plain["disk"] = _given(guest.disk)
    for key in ("jump", "login", "namespace"):
        if not plain[key]:
            del plain[key]
    return plain


def from_plain(plain: collections.abc.Mapping[str, t.Any]) -> Guest:
    """Return the guest that ``to_plain`` made JSON of."""
    login = plain.get("login")
    return Guest(
        **{
            **plain,
            "login": login and target.Login(**login),
            "jump": target.jump_hosts(plain.get("jump")),
            "flavor": Flavor(**plain["flavor"]),
            "image": Image(**plain["image"]),
            "disk": Disk(**plain["disk"]),
            "networks": tuple(plain["networks"]),
            "host_cpu": tuple(plain["host_cpu"]),
        }
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Booted:
    """The guests of a run, booted.

    :param absent: names of those that did not come, of which findings tell
    :param client_key: private key that lets one into them
    :param findings: what is to be said of their placement and policies
    :param caps: policies that limit their rates
    :param let_in: networks from which their security group lets in SSH, None
        where it is not known
    """

    guests: tuple[Guest, ...]
    absent: tuple[str, ...] = ()
    client_key: str = dataclasses.field(repr=False)
    findings: tuple[finding.Finding, ...] = ()
    caps: tuple[caps_.Cap, ...] = ()
    let_in: tuple[str, ...] | None = None

    def without(self, missing: collections.abc.Mapping[str, str]) -> "Booted":
        """Return this with guests gone that did not come.

        :param missing: name -> why, in one line
        """
        return dataclasses.replace(
            self,
            guests=tuple(x for x in self.guests if x.name not in missing),
            absent=(*self.absent, *missing),
            findings=(*self.findings, *absences(missing)),
        )


def absences(
    missing: collections.abc.Mapping[str, str],
) -> list[finding.Finding]:
    """Return a finding on each guest that did not come.

    :param missing: name -> why, in one line
    """
    return [
        finding.Finding("guest_unavailable", name, why)
        for name, why in missing.items()
    ]


def _given(value: t.Any) -> dict[str, t.Any]:
    return {k: v for k, v in dataclasses.asdict(value).items() if v}
