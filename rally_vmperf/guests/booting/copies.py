# SPDX-License-Identifier: Apache-2.0
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
from rally_vmperf.guests import schema
from rally_vmperf.guests import waiting
from rally_vmperf.guests.booting import images
from rally_vmperf.guests.booting import ports
from rally_vmperf.guests.planning import capacity

#: Attributes of a flavor that a copy has as well.
_FLAVOR_FIELDS = ("vcpus", "ram", "disk", "ephemeral", "swap", "rxtx_factor")
#: Fields of an image that a copy has as well, in addition to its properties.
_IMAGE_FIELDS = ("container_format", "disk_format", "min_disk", "min_ram")
#: Fields that show that the data of a copied image is complete.
_DATA_FIELDS = ("size", "os_hash_algo", "os_hash_value")
#: The prefix of properties that only Glance sets.
_RESERVED = "os_glance_"
#: The property of an encrypted image.
_ENCRYPTION_KEY = "cinder_encryption_key_id"
_CHUNK_BYTES = 1 << 20

#: An identifier and its properties, which define a copy.
_Key = tuple[str, tuple[tuple[str, str], ...]]
Properties = collections.abc.Mapping[str, str]


def create_copies(
    connection: cloud.Connection,
    admin: cloud.Connection | None,
    demands: collections.abc.Iterable[capacity.Demand],
    new_name: ports.Names,
    progress: waiting.Progress,
) -> tuple[capacity.Demand, ...]:
    """Return the demands with copies of flavors and images, where requested.

    Groups with the same flavor and extra specs share a copy, and groups with
    the same image and properties. The demands keep the names of the flavors
    and images that were copied.

    :param connection: The connection of the owner of the guests, whose project
        receives the images and may use the flavors.
    :param admin: The connection of an administrator; None only if no group
        has extra specs.
    :raises GuestError: If a copy cannot be created, or if it differs from the
        request; the message names the way without a copy.
    """
    flavor_ids: dict[_Key, str] = {}
    image_ids: dict[_Key, str] = {}
    copied_demands = []
    for demand in demands:
        flavor, image = demand.flavor, demand.image
        if (specs := demand.group.extra_specs) and admin is not None:
            key = flavor.id, tuple(sorted(specs.items()))
            if key not in flavor_ids:
                name = new_name()
                progress(_describe("flavor", name, flavor.name, specs))
                flavor_ids[key] = _copy_flavor(
                    connection, admin, flavor.id, name, specs
                )
            flavor = dataclasses.replace(flavor, id=flavor_ids[key])
        if properties := demand.group.image_properties:
            key = image.id, tuple(sorted(properties.items()))
            if key not in image_ids:
                name = new_name()
                progress(_describe("image", name, image.name, properties))
                image_ids[key] = _copy_image(
                    connection, image.id, name, properties
                )
            image = dataclasses.replace(image, id=image_ids[key])
        copied_demands.append(
            dataclasses.replace(demand, flavor=flavor, image=image)
        )
    return tuple(copied_demands)


def _describe(
    kind: str, name: str, source: str, properties: Properties
) -> str:
    """Return a line of progress on a copy."""
    values = ", ".join(f"{key}={value}" for key, value in properties.items())
    return f"{kind} {name} is a temporary copy of {source} with {values}"


def _copy_flavor(
    connection: cloud.Connection,
    admin: cloud.Connection,
    source_id: str,
    name: str,
    extra_specs: Properties,
) -> str:
    """Create and check a copy of a flavor; return its identifier.

    The copy is private, and the project of ``connection`` has access to it.
    """
    compute = admin.compute
    with cloud.convert_errors(f"create flavor {name}"):
        source = compute.get_flavor(source_id, get_extra_specs=True)
        attributes = {key: getattr(source, key) for key in _FLAVOR_FIELDS}
        specs = {**(source.extra_specs or {}), **extra_specs}
        flavor_id = str(
            compute.create_flavor(name=name, is_public=False, **attributes).id
        )
        compute.create_flavor_extra_specs(flavor_id, specs)
        compute.flavor_add_tenant_access(
            flavor_id, connection.current_project_id
        )
        copied = compute.get_flavor(flavor_id, get_extra_specs=True)
    _compare(
        f"flavor {name}",
        {**attributes, **specs},
        {
            **{key: getattr(copied, key) for key in _FLAVOR_FIELDS},
            **(copied.extra_specs or {}),
        },
        "set flavor to one that has these extra specs",
    )
    return flavor_id


def _copy_image(
    connection: cloud.Connection,
    source_id: str,
    name: str,
    image_properties: Properties,
) -> str:
    """Create and check a copy of an image; return its identifier.

    The copy is private to the project.
    """
    glance = connection.image
    with cloud.convert_errors(
        f"create image {name} (set image to one that has the properties, if "
        "Glance does not permit it)"
    ):
        source = images.get_document(glance.get(f"/images/{source_id}"))
        if _ENCRYPTION_KEY in source:
            raise errors.GuestError(
                f"image_properties: image {source.get('name')!r} is "
                "encrypted: Cinder would delete its key together with a copy; "
                "set image to one that has these properties"
            )
        properties = {
            key: value
            for key, value in source.items()
            if key in _IMAGE_FIELDS
            or (
                key not in schema.IMAGE_FIELDS
                and not key.startswith(_RESERVED)
            )
        }
        properties |= image_properties
        image_id = images.create_image(
            glance,
            {
                **properties,
                "name": name,
                "tags": [cloud.IMAGE_TAG],
                "visibility": "private",
            },
        )
        copied = _copy_data(glance, source_id, image_id)
    data_fields = {key: source.get(key) for key in _DATA_FIELDS}
    _compare(
        f"image {name}",
        {**properties, **data_fields, "status": "active"},
        copied,
        "set image to one that has these properties",
    )
    return image_id


def _copy_data(
    glance: t.Any, source_id: str, image_id: str
) -> documents.Facts:
    """Copy the data of an image to another image; return its fields.

    It passes through this machine in chunks, because Glance can only copy
    images between stores and clouds.
    """
    download = glance.get(f"/images/{source_id}/file", stream=True)
    sdk_errors.raise_from_response(download)
    return images.put_data(
        glance, image_id, download.iter_content(_CHUNK_BYTES)
    )


def _compare(
    title: str,
    requested: documents.Facts,
    stored: documents.Facts,
    remedy: str,
) -> None:
    """Reject a copy whose stored values differ from the requested ones."""
    for key, value in requested.items():
        if stored.get(key) != value:
            raise errors.GuestError(
                f"{title}: {key}={value!r} was requested, the cloud stored "
                f"{stored.get(key)!r}; {remedy}"
            )
