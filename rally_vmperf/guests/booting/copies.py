"""Temporary copies of flavors and images, with other properties.

A copy exists as long as the guests of its run. The flavor and the image that
are copied are not changed.
"""

import collections.abc
import dataclasses
import typing as t

from openstack import exceptions as sdk_errors

from rally_vmperf import documents
from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.guests import waiting
from rally_vmperf.guests.booting import ports
from rally_vmperf.guests.planning import capacity

#: Attributes of a flavor that a copy has as well.
_FLAVOR_FIELDS = ("vcpus", "ram", "disk", "ephemeral", "swap", "rxtx_factor")
#: Fields of an image that a copy has as well.
_COPIED_FIELDS = ("container_format", "disk_format", "min_disk", "min_ram")
#: Fields of an image that Glance sets, or that differ in a copy. All other
#: fields are properties.
_IMAGE_FIELDS = frozenset(
    {
        *_COPIED_FIELDS,
        "checksum",
        "created_at",
        "direct_url",
        "file",
        "id",
        "locations",
        "name",
        "os_hash_algo",
        "os_hash_value",
        "os_hidden",
        "owner",
        "protected",
        "schema",
        "self",
        "size",
        "status",
        "stores",
        "tags",
        "updated_at",
        "virtual_size",
        "visibility",
    }
)
#: The prefix of properties that only Glance sets.
_RESERVED = "os_glance_"
#: Fields that show that the data of a copy is complete.
_DATA_FIELDS = ("size", "os_hash_algo", "os_hash_value")
_CHUNK_BYTES = 1 << 20


def create_copies(
    connection: cloud.Connection,
    admin: cloud.Connection | None,
    demands: collections.abc.Iterable[capacity.Demand],
    new_name: ports.Names,
    progress: waiting.Progress,
) -> tuple[capacity.Demand, ...]:
    """Return the demands with copies of flavors and images, where requested.

    Groups with the same flavor and extra specs share a copy, and groups with
    the same image and properties. The names in the demands remain those of
    the flavor and the image that were copied.

    :param connection: The connection of the owner of the guests, whose project
        has the images and may use the flavors.
    :param admin: The connection of an administrator; None only if no group
        has extra specs.
    :raises GuestError: If a copy cannot be created, or if it differs from the
        request; the message names the way without a copy.
    """
    flavors: dict[tuple[str, ...], str] = {}
    images: dict[tuple[str, ...], str] = {}
    copied_demands = []
    for demand in demands:
        group, flavor, image = demand.group, demand.flavor, demand.image
        if group.extra_specs and admin is not None:
            key = _create_key(flavor.id, group.extra_specs)
            if key not in flavors:
                name = new_name()
                progress(f"flavor {name}: a copy of {flavor.name} with {key}")
                flavors[key] = _copy_flavor(
                    admin,
                    flavor.id,
                    name,
                    group.extra_specs,
                    str(connection.current_project_id),
                )
            flavor = dataclasses.replace(flavor, id=flavors[key])
        if group.image_properties:
            key = _create_key(image.id, group.image_properties)
            if key not in images:
                name = new_name()
                progress(f"image {name}: a copy of {image.name} with {key}")
                images[key] = _copy_image(
                    connection, image.id, name, group.image_properties
                )
            image = dataclasses.replace(image, id=images[key])
        copied_demands.append(
            dataclasses.replace(demand, flavor=flavor, image=image)
        )
    return tuple(copied_demands)
