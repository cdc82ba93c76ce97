# SPDX-License-Identifier: Apache-2.0
"""Resolve images, flavors and networks by name or identifier."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.guests import models
from rally_vmperf.guests import request
from rally_vmperf.measurement import promises
from rally_vmperf.measurement.samples import units

#: A resource of the SDK that has an identifier and a name.
Resource = t.TypeVar("Resource", bound=t.Any)


def get_image(
    connection: cloud.Connection, reference: request.ResourceReference
) -> t.Any:
    """Return the active image with a name or id, as an object of the SDK."""
    with cloud.convert_errors("list images"):
        image = find_by_reference("image", reference, connection.image.images)
    if image.status != "active":
        raise errors.GuestError(
            f"image {image.name!r} is {image.status}: must be active; wait "
            "or choose another image"
        )
    return image


def get_flavor(
    connection: cloud.Connection, reference: request.ResourceReference
) -> models.Flavor:
    """Return the flavor with a name or id."""
    with cloud.convert_errors("list flavors"):
        sdk_flavor = get_by_reference(
            "flavor", reference, connection.compute.flavors()
        )
    extra_specs = read_extra_specs(connection, sdk_flavor)
    return models.Flavor(
        id=sdk_flavor.id,
        name=sdk_flavor.name,
        vcpus=sdk_flavor.vcpus,
        memory_mib=sdk_flavor.ram,
        disk_gib=sdk_flavor.disk,
        ephemeral_gib=sdk_flavor.ephemeral or 0,
        # Before microversion 2.75, no swap is an empty text.
        swap_mib=sdk_flavor.swap or 0,
        extra_specs=extra_specs or {},
        has_hidden_extra_specs=extra_specs is None,
    )


def read_extra_specs(
    connection: cloud.Connection, sdk_flavor: t.Any
) -> dict[str, str] | None:
    """Return the extra specs of a flavor; None if Nova hides them."""
    action = f"read the limits of flavor {sdk_flavor.name}"
    with cloud.convert_errors(action), cloud.skip_if_forbidden():
        detailed = connection.compute.fetch_flavor_extra_specs(sdk_flavor)
        return dict(detailed.extra_specs or {})
    return None


def boots_nodes(extra_specs: collections.abc.Mapping[str, str]) -> bool:
    """Return whether a flavor boots nodes of Ironic, by its extra specs."""
    return str(extra_specs.get("resources:VCPU")) == "0" or any(
        name.startswith("resources:CUSTOM_BAREMETAL") for name in extra_specs
    )


def find_network_misfit(network: t.Any) -> str:
    """Return what prevents the traffic of a network, or "".

    :param network: The network, as an object of the SDK.
    """
    if getattr(network, "is_admin_state_up", None) is False:
        return "is down; enable it with: openstack network set --enable"
    if str(getattr(network, "status", None) or "ACTIVE") in ("DOWN", "ERROR"):
        return f"is {network.status}; choose another network"
    return ""


def get_only(
    kind: str, option: str, resources: collections.abc.Sequence[Resource]
) -> Resource:
    """Return the only resource of a list; reject any other number.

    :param option: The option that selects a resource, for the message.
    :raises GuestError: If there are several resources or none; the line lists
        their names.
    """
    if len(resources) == 1:
        return resources[0]
    raise errors.GuestError(
        f"{kind}: the project sees {format_names(resources)}; choose one with "
        f'"{option}": {{"name": ...}}'
    )


def read_property(image: t.Any, name: str) -> str:
    """Return a property of an image in lower case, or ""."""
    properties = getattr(image, "properties", None) or {}
    content = getattr(image, name, None) or properties.get(name)
    return str(content or "").lower()


def create_group_image(image: t.Any, group: request.Group) -> models.Image:
    """Return the image of a group, with the properties of a copy.

    :param image: The image, as an object of the SDK.
    """
    requested = group.image_properties.get(promises.CPU_POLICY)
    own = read_property(image, promises.CPU_POLICY)
    return models.Image(
        id=image.id, name=image.name, cpu_policy=str(requested or own)
    )


def get_group_flavor(
    connection: cloud.Connection, group: request.Group
) -> models.Flavor:
    """Return the flavor of a group, with the extra specs of a copy."""
    flavor = get_flavor(connection, group.flavor)
    return dataclasses.replace(
        flavor, extra_specs={**flavor.extra_specs, **group.extra_specs}
    )


def check_fit(
    image: t.Any, flavor: models.Flavor, volume_gib: int | None = None
) -> None:
    """Reject an image that does not fit into the flavor or the volume.

    :param image: The image, as an object of the SDK.
    :param volume_gib: The size of the boot volume in GiB; None for the disk of
        the flavor.
    :raises GuestError: If the image does not fit; the line has both sizes.
        If the flavor boots no virtual machines.
    """
    if boots_nodes(flavor.extra_specs):
        raise errors.GuestError(
            f"flavor {flavor.name!r} boots nodes of Ironic and no virtual "
            "machines, by its extra specs; choose another flavor"
        )
    if (image.min_ram or 0) > flavor.memory_mib:
        raise errors.GuestError(
            f"flavor {flavor.name!r} has {flavor.memory_mib} MiB of memory, "
            f"image {image.name!r} requires {image.min_ram}; choose a larger "
            "flavor"
        )
    required_bytes = max(image.virtual_size or 0, image.size or 0)
    required_gib = max(image.min_disk or 0, -(-required_bytes // units.GIB))
    if volume_gib is not None:
        if required_gib > volume_gib:
            raise errors.GuestError(
                f"boot_volume size_gib={volume_gib}: must be >= "
                f"{required_gib} for image {image.name!r}"
            )
    elif not flavor.disk_gib:
        raise errors.GuestError(
            f"flavor {flavor.name!r} has no disk, and Nova boots its guests "
            "from volumes only; add boot_volume: {size_gib: "
            f"{max(1, required_gib)}}} to the guests, or choose a flavor with "
            "a disk"
        )
    elif required_gib > flavor.disk_gib:
        raise errors.GuestError(
            f"flavor {flavor.name!r} has a disk of {flavor.disk_gib} GiB, "
            f"image {image.name!r} requires {required_gib}; choose a larger "
            "flavor"
        )


def find_content_size(image: t.Any) -> int:
    """Return the bytes that an image has at least in a guest; 0 if unknown.

    The virtual size of a snapshot is that of its disk, most of which may be
    free; qcow2 stores used blocks only, which may be compressed.

    :param image: The image, as an object of the SDK.
    """
    return int(image.size or 0) if image.disk_format == "qcow2" else 0


def find_by_reference(
    kind: str,
    reference: request.ResourceReference,
    list_resources: collections.abc.Callable[
        ..., collections.abc.Iterable[Resource]
    ],
) -> Resource:
    """Return the resource with a name or id, filtered by the service.

    A cloud may have many thousands.  All of them are listed only for the error
    message if the resource does not exist.

    :param list_resources: The function that lists resources with the
        attributes in its arguments.
    """
    return get_by_reference(
        kind,
        reference,
        list(list_resources(**{reference.by: reference.value}))
        or list_resources(),
    )


def get_by_reference(
    kind: str,
    reference: request.ResourceReference,
    candidates: collections.abc.Iterable[Resource],
) -> Resource:
    """Return the candidate with a name or id.

    :raises GuestError: If there are several candidates or none; the line lists
        the choices.
    """
    resources = list(candidates)
    matches = [
        resource
        for resource in resources
        if getattr(resource, reference.by) == reference.value
    ]
    if len(matches) == 1:
        return matches[0]
    if matches:
        identifiers = ", ".join(sorted(resource.id for resource in matches))
        raise errors.GuestError(
            f"{kind} {reference.value!r}: {len(matches)} have this name; "
            f"select it by id: {identifiers}"
        )
    raise errors.GuestError(
        f"{kind} {reference.value!r} does not exist; the project sees "
        f"{format_names(resources)}"
    )


def join_names(names: collections.abc.Iterable[str]) -> str:
    """Return sorted names separated by commas, or "none"."""
    return ", ".join(sorted(names)) or "none"


def format_names(
    resources: collections.abc.Iterable[t.Any], limit: int = 20
) -> str:
    """Return the names of resources as text, in alphabetical order."""
    resource_names = sorted(
        {str(resource.name or resource.id) for resource in resources}
    )
    listed = join_names(resource_names[:limit])
    remaining = len(resource_names) - limit
    return f"{listed} and {remaining} more" if remaining > 0 else listed
