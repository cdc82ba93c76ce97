# SPDX-License-Identifier: Apache-2.0
"""The guests that a task requests: groups and common options."""

import collections.abc
import dataclasses
import ipaddress
import typing as t

from rally_vmperf import documents
from rally_vmperf.guests import errors
from rally_vmperf.machines.remote import target

if t.TYPE_CHECKING:
    from rally_vmperf.machines.remote import hostkey
    from rally_vmperf.machines.remote import routes

Address = t.Literal["auto", "floating", "fixed"]
IpVersion = t.Literal[4, 6]
#: Options for the SSH access to booted guests.
SSH_OPTIONS = ("jump", "namespace", "allowed_sources", "login")
ServerGroup = t.Literal[
    "affinity", "anti-affinity", "soft-affinity", "soft-anti-affinity"
]
#: The name of the only group of a task.
GROUP = "default"


@dataclasses.dataclass(frozen=True, kw_only=True)
class ResourceReference:
    """A reference to a resource of the cloud, by exact name or identifier."""

    by: t.Literal["name", "id"]
    value: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Volume:
    """A volume of a guest.

    :param type: The name of its type; None for the default of the cloud.
    """

    size_gib: int
    type: str | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Group:
    """A group of guests of one flavor and image, as written in a task.

    :param login: The login; None for the key that is generated for the run.
    :param boot_volume: The boot volume; None for the disk of the flavor.
    :param volumes: The data volumes of each guest.
    :param host_key: The source of the host key; empty for a generated one.
    :param extra_specs: The extra specs of a temporary copy of the flavor;
        empty for the flavor itself.
    :param image_properties: The properties of a temporary copy of the image;
        empty for the image itself.
    :param network: The network; None for those of the request.
    :param host: The forced compute host; None for that of the request.
    :param aggregate: The name of the forced host aggregate; None for that of
        the request.
    """

    name: str = GROUP
    image: ResourceReference
    flavor: ResourceReference
    count: int = 1
    boot_volume: Volume | None = None
    volumes: tuple[Volume, ...] = ()
    user: str = "debian"
    user_data: str | None = None
    login: target.Login | None = None
    host_key: documents.Arguments = dataclasses.field(default_factory=dict)
    config_drive: bool = False
    extra_specs: documents.Arguments = dataclasses.field(default_factory=dict)
    image_properties: documents.Arguments = dataclasses.field(
        default_factory=dict
    )
    network: ResourceReference | None = None
    host: str | None = None
    aggregate: str | None = None


#: The options of a group that are not defaults of all groups.
_OF_ONE_GROUP = ("network", "host", "aggregate")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Request:
    """The guests of one run and their common options.

    :param network: The network; None for ``tenant_network``, else the only
        network of the project.
    :param tenant_network: The network that Rally created for this project.
    :param networks: The networks in the order of the ports, if several.
    :param ssh_network: The network for SSH; None to select it by a rule.
    :param traffic_network: The network for the traffic between guests; None
        for the SSH network.
    :param host: The forced compute host; None if there is none.
    :param hosts: The forced compute hosts, assigned in rotation.
    :param aggregate: The name of the forced host aggregate; None if there is
        none.
    :param jump: The jump hosts in order.
    :param namespace: The network namespace of this machine; None if there is
        none.
    :param allowed_sources: The networks from which SSH is allowed; if
        empty, they are detected.
    :param key_type: The type of the generated keys; None for the default.
    :param max_host_share: The maximum utilisation of a host, in percent of the
        resources that Nova may allocate.
    :param max_image_copy_gib: The maximum size of an image that is copied,
        in GiB.
    :param empty_host: A flag that a host with guests of others is rejected.
    :param one_host: A flag that the guests share a host unless another
        placement is requested.
    :param sequential: A flag that groups boot one after another if they do
        not fit together.
    :param migrate_to: The host to which a guest is migrated; empty if Nova
        chooses it, None without a migration.
    :param resize_to: The flavor to which a guest is resized; None without a
        resize.
    :param pinged_from: The address of the peer that pings guests; empty
        without one.
    :param host_cpus: The number of CPUs that the task states for each host;
        None if it states none.
    """

    groups: tuple[Group, ...]
    network: ResourceReference | None = None
    tenant_network: str | None = None
    networks: tuple[ResourceReference, ...] = ()
    ssh_network: ResourceReference | None = None
    traffic_network: ResourceReference | None = None
    address: Address = "auto"
    ip_version: IpVersion = 4
    floating_network: ResourceReference | None = None
    host: str | None = None
    hosts: tuple[str, ...] = ()
    aggregate: str | None = None
    availability_zone: str | None = None
    server_group: ServerGroup | None = None
    jump: tuple[target.JumpHost, ...] = ()
    namespace: str | None = None
    allowed_sources: "tuple[routes.Network, ...]" = ()
    key_type: "hostkey.Type | None" = None
    max_host_share: float = 90
    max_image_copy_gib: float = 10
    empty_host: bool = False
    boot_timeout: float = 600
    one_host: bool = False
    sequential: bool = False
    migrate_to: str | None = None
    resize_to: ResourceReference | None = None
    pinged_from: str = ""
    host_cpus: int | None = None

    @property
    def count(self) -> int:
        """Return the number of guests in all groups."""
        return sum(group.count for group in self.groups)

    def for_group(self, group: Group) -> "Request":
        """Return the request for the guests of one group."""
        has_place = bool(group.host or group.aggregate)
        plain = dataclasses.replace(
            group, network=None, host=None, aggregate=None
        )
        return dataclasses.replace(
            self,
            groups=(plain,),
            network=group.network or self.network,
            host=group.host if has_place else self.host,
            aggregate=group.aggregate if has_place else self.aggregate,
        )


def parse_config(
    config: documents.Arguments,
    tenant_network: str | None = None,
    **flags: t.Any,
) -> Request:
    """Return the request in the options of the vmperf_guests context.

    :param flags: The flags of ``Request`` that the scenario determines.
    :param config: The options; ``groups`` has those of the variants of a
        guest, which replace the others.
    :raises GuestError: If sources are not valid networks.
    """
    options = _select_fields(Request, config)
    for key in (
        "network",
        "ssh_network",
        "traffic_network",
        "floating_network",
    ):
        options[key] = (
            parse_reference(options[key]) if options.get(key) else None
        )
    options["networks"] = tuple(
        map(parse_reference, options.get("networks") or ())
    )
    options["hosts"] = tuple(options.get("hosts") or ())
    options["jump"] = target.jump_hosts(options.get("jump"))
    options["allowed_sources"] = parse_sources(config)
    options["groups"] = tuple(
        _parse_group(group) for group in list_group_options(config)
    )
    return Request(**{**options, "tenant_network": tenant_network, **flags})


def parse_sources(config: documents.Arguments) -> "tuple[routes.Network, ...]":
    """Return the networks in the option ``allowed_sources``, each once.

    :raises GuestError: If a source is not a valid network.
    """
    networks = []
    for text in config.get("allowed_sources") or ():
        try:
            networks.append(ipaddress.ip_network(text))
        except ValueError as error:
            raise errors.GuestError(
                f"vmperf_guests allowed_sources: {error}; it must be an "
                "address, or a network such as 192.0.2.0/24"
            ) from None
    return tuple(dict.fromkeys(networks))


def parse_reference(
    mapping: collections.abc.Mapping[str, str],
) -> ResourceReference:
    """Return the reference in ``{name: ...}`` or ``{id: ...}``."""
    ((by, text),) = mapping.items()
    return ResourceReference(
        by=t.cast(t.Literal["name", "id"], by), value=text
    )


def list_group_options(
    config: documents.Arguments,
) -> list[documents.Arguments]:
    """Return the options of each group as a list.

    Options of a group next to ``groups`` are the defaults of all groups.
    """
    shared = _select_fields(Group, config)
    for key in _OF_ONE_GROUP:
        shared.pop(key, None)
    if "groups" not in config:
        return [{"name": GROUP, **shared}]
    shared.pop("count", None)
    return [{**shared, **group} for group in config["groups"]]


def _parse_group(options: documents.Arguments) -> Group:
    """Return the group of guests in its options."""
    fields = dict(options)
    for key in ("image", "flavor"):
        fields[key] = parse_reference(fields[key])
    if fields.get("network"):
        fields["network"] = parse_reference(fields["network"])
    volume, login = fields.get("boot_volume"), fields.get("login")
    fields["boot_volume"] = Volume(**volume) if volume else None
    fields["volumes"] = parse_volumes(options)
    fields["login"] = target.Login(**login) if login else None
    fields["host_key"] = fields.get("host_key") or {}
    return Group(**fields)


def parse_volumes(options: documents.Arguments) -> tuple[Volume, ...]:
    """Return the data volumes of each guest in the options of its group."""
    return tuple(
        Volume(size_gib=listed["size_gib"], type=listed.get("type"))
        for listed in options.get("volumes") or ()
        for _ in range(listed.get("count", 1))
    )


def _select_fields(
    dataclass: type[t.Any], config: documents.Arguments
) -> dict[str, t.Any]:
    """Return the options, as a dict, that are fields of a dataclass."""
    names = {field.name for field in dataclasses.fields(dataclass)} - {"name"}
    return {key: option for key, option in config.items() if key in names}
