"""The image, flavor and network of a cloud that suit the first run."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf import documents
from rally_vmperf.guests import cloud
from rally_vmperf.guests import networks as guest_networks
from rally_vmperf.guests import resolve
from rally_vmperf.guests.setup import image_kinds
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
    with cloud.convert_errors("list images"):
        images = sorted(
            connection.image.images(status="active"),
            key=lambda image: str(image.name),
        )
    arguments = {"image": IMAGE, "user": "debian"}
    exists = any(image.name == IMAGE for image in images)
    if exists or can_build:
        return Offer(
            arguments=arguments,
            reason="It contains the tools of the workloads.",
            missing="" if exists else f"image {IMAGE!r}: {remedy}",
        )
    fitting, skipped = _split(images, image_kinds.find_misfit)
    for distribution, user in image_kinds.USERS.items():
        newest = max(
            (
                image
                for image in fitting
                if image_kinds.find_distribution(image) == distribution
            ),
            key=lambda image: (
                image_kinds.find_version(image),
                str(getattr(image, "created_at", None) or ""),
            ),
            default=None,
        )
        if newest is not None:
            return Offer(
                arguments={"image": newest.name, "user": user},
                reason="Tools are installed when guests have booted, "
                "which requires a package mirror." + skipped,
            )
    return Offer(
        arguments=arguments,
        reason="Set the name of an image with cloud-init.",
        missing="image: the cloud has none that is known to have cloud-init "
        f"(it has: {resolve.format_names(images)}); set image and user in "
        f"vmperf.yaml, or use {IMAGE!r}: {remedy}",
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


def choose_flavor(connection: cloud.Connection, image_name: str) -> Offer:
    """Return the smallest flavor with 1 vCPU, 1 GiB of memory and 10 GB.

    If no flavor has such a disk, the image and the data of the workloads must
    fit.

    :param image_name: The name of the image.
    """
    with cloud.convert_errors("list flavors"):
        flavors = sorted(
            connection.compute.flavors(),
            key=lambda flavor: (flavor.vcpus, flavor.ram, flavor.disk),
        )
    with cloud.convert_errors("list images"):
        images = list(connection.image.images(name=image_name))
    image_gib = max(
        (
            max(
                image.min_disk or 0,
                -(-(image.virtual_size or image.size or 0) // resolve.GIB),
            )
            for image in images
        ),
        default=2,
    )
    least_mib = max(
        _LEAST_MEMORY_MIB, *(image.min_ram or 0 for image in images), 0
    )
    usual, skipped = _split(
        flavors,
        lambda flavor: resolve.find_flavor_misfit(
            getattr(flavor, "extra_specs", None)
            or resolve.read_extra_specs(connection, flavor)
        ),
    )
    fitting = [flavor for flavor in usual if flavor.ram >= least_mib]
    needed_gib = image_gib + _WORK_GIB
    for least_gib in (max(_LEAST_DISK_GIB, image_gib), needed_gib):
        for flavor in fitting:
            if flavor.disk >= least_gib:
                return Offer(
                    arguments={"flavors": [flavor.name]},
                    reason=f"{_describe(flavor)}, {flavor.disk} GiB of disk: "
                    f"the smallest that suffices.{skipped}",
                )
    for flavor in fitting:
        if not flavor.disk:
            size_gib = max(_LEAST_DISK_GIB, needed_gib)
            return Offer(
                arguments={
                    "flavors": [flavor.name],
                    "guest_options": {"boot_volume": {"size_gib": size_gib}},
                },
                reason=f"{_describe(flavor)} and no disk: guests boot from "
                f"volumes.{skipped}",
            )
    return Offer(
        arguments={"flavors": ["m1.small"]},
        reason="Set the name of a flavor.",
        missing=f"flavor: none has {least_mib} MiB of memory and "
        f"{needed_gib} GiB of disk (the cloud has: "
        f"{resolve.format_names(flavors)}); set flavors in vmperf.yaml",
    )


def _describe(flavor: t.Any) -> str:
    """Return the vCPUs and the memory of a flavor as text."""
    vcpus = units.number_of("vCPU", flavor.vcpus)
    return f"{vcpus}, {flavor.ram} MiB of memory"


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


def choose_network(connection: cloud.Connection) -> Offer:
    """Return the network, and whether guests get floating IPs.

    A network behind a router to an external network is preferred, because
    every user can boot guests on it.
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
    usable = [
        networks[network_id]
        for network_id in dict.fromkeys(
            subnet.network_id for subnet in subnets
        )
        if network_id in networks
        and not resolve.find_network_misfit(networks[network_id])
    ]
    usable.sort(
        key=lambda network: (
            network.id not in gateways,
            not network.is_router_external,
            str(network.name),
        )
    )
    if not usable:
        return Offer(
            reason="Set network to the name of a network with DHCP.",
            missing="network: the project sees no network with an IPv4 subnet "
            "and DHCP (it sees: "
            f"{resolve.format_names(list(networks.values()))}); create one "
            "with: openstack network create; openstack subnet create; "
            "openstack router create; then set network in vmperf.yaml",
        )
    network = usable[0]
    arguments: dict[str, t.Any] = {"network": network.name}
    reason = "Guests are reached at their addresses in this network."
    if network.id in gateways:
        pool = networks.get(gateways[network.id])
        reason = (
            f"Guests get floating IPs of {pool.name if pool else 'its router'}"
        )
    elif not network.is_router_external:
        arguments["guest_options"] = {"address": "fixed"}
    return Offer(arguments=arguments, reason=reason)


def _find_gateways(connection: cloud.Connection) -> dict[str, str]:
    """Return the external network behind each network's router, by id."""
    routers = {
        router.id: router.external_gateway_info["network_id"]
        for router in connection.network.routers()
        if router.external_gateway_info
    }
    ports = connection.network.ports(
        device_owner=list(guest_networks.INTERFACES)
    )
    return {
        port.network_id: routers[port.device_id]
        for port in ports
        if port.device_id in routers
    }
