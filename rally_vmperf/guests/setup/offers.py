# SPDX-License-Identifier: Apache-2.0
"""The image, flavor and network of a cloud that suit the first run."""

import collections.abc
import contextlib
import dataclasses
import functools
import typing as t

from rally_vmperf import documents
from rally_vmperf.guests import cloud
from rally_vmperf.guests import networks as guest_networks
from rally_vmperf.guests import resolve
from rally_vmperf.guests import volumes
from rally_vmperf.guests.setup import kinds
from rally_vmperf.measurement.samples import units

#: The name of the image of: rally-vmperf image build.
IMAGE = "vmperf-guest"
_LEAST_MEMORY_MIB, _LEAST_DISK_GIB = 1024, 10
#: The largest number of resources that were not chosen, in a comment.
_MOST_SKIPPED = 5
#: The disk in GiB that workloads need, in addition to the image.
_WORK_GIB = 2


@dataclasses.dataclass(frozen=True, kw_only=True)
class Offer:
    """A resource of the cloud, and the task arguments that select it.

    :param arguments: The arguments; empty if the cloud has no such resource.
    :param reason: The reason for the choice, a comment.
    :param missing: The missing resource and the way to get it; empty if the
        resource exists.
    """

    arguments: documents.Arguments = dataclasses.field(default_factory=dict)
    reason: str = ""
    missing: str = ""


def choose_image(
    connection: cloud.Connection, build_command: str, *, can_build: bool
) -> Offer:
    """Return the image: the one with tools, or one with cloud-init.

    :param build_command: The command that builds and uploads the image.
    :param can_build: A flag that this machine can build the image.
    """
    remedy = f"build and upload it, on Debian as root: {build_command}"
    project = connection.current_project_id or ""
    with cloud.convert_errors("list images"):
        images = sorted(
            connection.image.images(status="active"),
            key=lambda image: str(image.name),
        )
    built = [image for image in images if image.name == IMAGE]
    if built or can_build:
        newest = max(built, key=_get_creation, default=None)
        reference, note = _refer_to(newest, images) if newest else (IMAGE, "")
        return Offer(
            arguments={"image": reference, "user": "debian"},
            reason=f"{note}It contains the tools of the workloads.",
            missing="" if built else f"image {IMAGE!r}: {remedy}",
        )
    chosen, skipped = _choose_with_cloud_init(images, project)
    if chosen is None:
        return Offer(
            arguments={"image": IMAGE, "user": "debian"},
            reason="Set the name of an image with cloud-init.",
            missing="image: the cloud has none that is known to have "
            f"cloud-init (it has: {resolve.format_names(images)}); set image "
            f"and user in vmperf.yaml, or use {IMAGE!r}: {remedy}",
        )
    reference, note = _refer_to(chosen, images)
    if not kinds.is_current(chosen):
        note += "Mirrors may not have packages for this version. "
    return Offer(
        arguments={"image": reference, "user": kinds.find_user(chosen)},
        reason=f"{note}Tools are installed when guests have booted, which "
        f"requires a package mirror.{skipped}",
    )


def _choose_with_cloud_init(
    images: list[t.Any], project: str
) -> tuple[t.Any, str]:
    """Return the newest plain image with cloud-init, or None.

    Images for most hosts precede those of other architectures, which a cloud
    has alone if its hosts are of that kind.

    :returns: The image, and a sentence on the others.
    """
    stated = sorted({*map(kinds.find_architecture, images)} - {""})
    order = list(kinds.USERS)
    for architecture in dict.fromkeys((kinds.ARCHITECTURE, *stated)):
        fitting, skipped = _split(
            images,
            functools.partial(
                kinds.find_image_misfit,
                architecture=architecture,
                project=project,
            ),
        )
        usable = [*filter(kinds.find_distribution, fitting)]
        if usable:
            chosen = max(
                usable,
                key=lambda image: (
                    -kinds.count_purposes(image),
                    kinds.is_current(image),
                    -order.index(kinds.find_distribution(image)),
                    kinds.find_version(image),
                    _get_creation(image),
                ),
            )
            return chosen, skipped
    return None, ""


def _get_creation(image: t.Any) -> str:
    """Return the time when an image was created, in ISO 8601, or ""."""
    return str(getattr(image, "created_at", None) or "")


def _refer_to(
    chosen: t.Any, resources: collections.abc.Iterable[t.Any]
) -> tuple[str | dict[str, str], str]:
    """Return the name of a resource, or its identifier if others have it.

    :returns: The reference, and a sentence with the name if it has none.
    """
    namesakes = [
        resource for resource in resources if resource.name == chosen.name
    ]
    if len(namesakes) == 1 and chosen.name:
        return str(chosen.name), ""
    if not chosen.name:
        return {"id": str(chosen.id)}, ""
    return (
        {"id": str(chosen.id)},
        f"{chosen.name}, one of {len(namesakes)} with this name. ",
    )


def _split(
    resources: collections.abc.Iterable[t.Any],
    find_misfit: collections.abc.Callable[[t.Any], str],
) -> tuple[list[t.Any], str]:
    """Return the resources that fit, and a sentence on the others.

    :param find_misfit: A function that returns why a resource does not fit.
    :returns: The sentence with a blank before it; "" if all fit.
    """
    fitting, skipped = [], []
    for resource in resources:
        if misfit := find_misfit(resource):
            skipped.append(f"{resource.name} ({misfit})")
        else:
            fitting.append(resource)
    if not skipped:
        return fitting, ""
    more = len(skipped) - _MOST_SKIPPED
    shown = ", ".join(skipped[:_MOST_SKIPPED])
    rest = f" and {more} more" if more > 0 else ""
    return fitting, f" Not chosen: {shown}{rest}."


def choose_flavor(
    connection: cloud.Connection, image_reference: str | dict[str, str]
) -> Offer:
    """Return the smallest flavor with 1 vCPU, 1 GiB of memory and 10 GB.

    If no flavor has such a disk, the image and the data of the workloads must
    fit.

    :param image_reference: The name of the image, or its identifier.
    """
    with cloud.convert_errors("list flavors"):
        flavors = sorted(
            connection.compute.flavors(),
            key=lambda flavor: (flavor.vcpus, flavor.ram, flavor.disk),
        )
    query = image_reference
    if isinstance(query, str):
        query = {"name": query}
    with cloud.convert_errors("list images"):
        images = list(connection.image.images(**query))
    image_gib = max(map(_get_disk_gib, images), default=2)
    least_mib = max(
        _LEAST_MEMORY_MIB, *(image.min_ram or 0 for image in images), 0
    )
    usual, skipped = _split(
        flavors,
        lambda flavor: kinds.find_flavor_misfit(
            flavor,
            getattr(flavor, "extra_specs", None)
            or resolve.read_extra_specs(connection, flavor)
            or {},
            next(
                filter(None, map(kinds.find_architecture, images)),
                kinds.ARCHITECTURE,
            ),
        ),
    )
    fitting = [flavor for flavor in usual if flavor.ram >= least_mib]
    needed_gib = image_gib + _WORK_GIB
    for least_gib in (max(_LEAST_DISK_GIB, image_gib), needed_gib):
        for flavor in fitting:
            if flavor.disk >= least_gib:
                return _offer_flavor(flavor, flavors, 0, skipped)
    for flavor in fitting:
        if not flavor.disk:
            size_gib = max(_LEAST_DISK_GIB, needed_gib)
            return _offer_flavor(flavor, flavors, size_gib, skipped)
    return Offer(
        arguments={"flavors": ["m1.small"]},
        reason=f"Set the name of a flavor.{skipped}",
        missing=f"flavor: none has {least_mib} MiB of memory and "
        f"{needed_gib} GiB of disk (the cloud has: "
        f"{resolve.format_names(flavors)}); set flavors in vmperf.yaml",
    )


def _get_disk_gib(image: t.Any) -> int:
    """Return the size of the disk that an image requires, in GiB."""
    size = image.virtual_size or image.size or 0
    return max(image.min_disk or 0, -(-size // units.GIB))


def _offer_flavor(
    flavor: t.Any,
    flavors: collections.abc.Iterable[t.Any],
    volume_gib: int,
    skipped: str,
) -> Offer:
    """Return the offer of a flavor.

    :param flavors: All flavors, some of which may have the same name.
    :param volume_gib: The size of the boot volume in GiB; 0 for none.
    :param skipped: The sentence on flavors that do not fit.
    """
    reference, note = _refer_to(flavor, flavors)
    arguments: dict[str, t.Any] = {"flavors": [reference]}
    disk = f", {flavor.disk} GiB of disk: the smallest that suffices."
    if volume_gib:
        disk = " and no disk: guests boot from volumes."
        arguments["guest_options"] = {"boot_volume": {"size_gib": volume_gib}}
    return Offer(
        arguments=arguments,
        reason=f"{note}{_describe(flavor)}{disk}{skipped}",
    )


def _describe(flavor: t.Any) -> str:
    """Return the vCPUs and the memory of a flavor as text."""
    vcpus = units.number_of("vCPU", flavor.vcpus)
    return f"{vcpus}, {flavor.ram} MiB of memory"


def list_volume_types(connection: cloud.Connection) -> str:
    """Return the names of the volume types of the cloud as text, or "".

    They are a hint: a cloud whose Cinder does not answer has none.
    """
    types: list[t.Any] = []
    with contextlib.suppress(*cloud.CLOUD_ERRORS):
        if volumes.is_available(connection):
            types = list(connection.block_storage.types())
    return resolve.format_names(types) if types else ""


def join_options(flavor: Offer, network: Offer) -> tuple[Offer, Offer]:
    """Return both offers, with the further options of guests in the last."""
    options = {
        **flavor.arguments.get("guest_options", {}),
        **network.arguments.get("guest_options", {}),
    }
    if not options:
        return flavor, network
    rest = {
        name: argument
        for name, argument in flavor.arguments.items()
        if name != "guest_options"
    }
    return (
        dataclasses.replace(flavor, arguments=rest),
        dataclasses.replace(
            network, arguments={**network.arguments, "guest_options": options}
        ),
    )


def choose_network(
    connection: cloud.Connection, *, is_admin: bool = False
) -> Offer:
    """Return the network, and whether guests get floating IPs.

    A network behind a router to an external network is preferred, because
    every user can boot guests on it.

    :param is_admin: Whether the user is an administrator.
    """
    with cloud.convert_errors("list networks"):
        networks = {
            network.id: network for network in connection.network.networks()
        }
        subnets = [
            subnet
            for subnet in connection.network.subnets()
            if subnet.ip_version == 4 and subnet.is_dhcp_enabled
        ]
        gateways = _find_gateways(connection)
    project = connection.current_project_id or ""
    with_subnets = dict.fromkeys(subnet.network_id for subnet in subnets)
    usable, skipped = _split(
        (networks[key] for key in with_subnets if key in networks),
        functools.partial(
            kinds.find_network_misfit, project=project, is_admin=is_admin
        ),
    )
    usable.sort(
        key=lambda network: (
            kinds.has_purpose(network),
            network.id not in gateways,
            not network.is_router_external,
            not kinds.is_own(network, project),
            str(network.name),
        )
    )
    if not usable:
        return Offer(
            reason="Set network to the name of a network with DHCP.",
            missing="network: the project has no network for guests with an "
            "IPv4 subnet and DHCP (it sees: "
            f"{resolve.format_names(list(networks.values()))}); create one "
            "with: openstack network create; openstack subnet create; "
            "openstack router create; then set network in vmperf.yaml",
        )
    network = usable[0]
    reference, note = _refer_to(network, networks.values())
    arguments: dict[str, t.Any] = {"network": reference}
    reason = "Guests are reached at their addresses in this network."
    if network.id in gateways:
        pool = networks.get(gateways[network.id])
        reason = (
            f"Guests get floating IPs of {pool.name if pool else 'its router'}"
        )
    elif not network.is_router_external:
        arguments["guest_options"] = {"address": "fixed"}
    return Offer(arguments=arguments, reason=f"{note}{reason}{skipped}")


def _find_gateways(connection: cloud.Connection) -> dict[str, str]:
    """Return the external network behind each network's router, by id."""
    routers = {
        router.id: router.external_gateway_info["network_id"]
        for router in connection.network.routers()
        if router.external_gateway_info
        and getattr(router, "is_admin_state_up", None) is not False
    }
    ports = connection.network.ports(
        device_owner=list(guest_networks.INTERFACES)
    )
    return {
        port.network_id: routers[port.device_id]
        for port in ports
        if port.device_id in routers
    }
