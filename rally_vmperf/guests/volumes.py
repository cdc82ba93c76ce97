# SPDX-License-Identifier: Apache-2.0
"""Volumes of guests, created before the guests.

Boot volumes are created from the image; data volumes are empty.
"""

import collections.abc
import dataclasses
import time
import typing as t

from openstack.block_storage.v3 import volume as sdk_volume

from rally_vmperf import documents
from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.guests import models
from rally_vmperf.guests import request
from rally_vmperf.guests import resolve
from rally_vmperf.guests import waiting
from rally_vmperf.measurement.samples import units

Names = collections.abc.Callable[[], str]


@dataclasses.dataclass(frozen=True, kw_only=True)
class GuestVolumes:
    """The volumes of a guest, as objects of the SDK.

    :param boot: The boot volume; None if the guest has the disk of its flavor.
    :param data: The data volumes in the order of the request.
    """

    boot: sdk_volume.Volume | None = None
    data: tuple[sdk_volume.Volume, ...] = ()


#: Temporary states of a volume, in which it cannot be deleted.
_TRANSITIONAL = (
    "creating",
    "downloading",
    "reserved",
    "attaching",
    "in-use",
    "detaching",
    "deleting",
)


def is_available(connection: cloud.Connection) -> bool:
    """Return whether the cloud has a block-storage service."""
    # If a cloud does not answer, the SDK reports that it has none.
    connection.authorize()
    return bool(connection.has_service("block-storage"))


def check_volume_types(
    connection: cloud.Connection, group: request.Group
) -> None:
    """Reject volumes of a type that the cloud does not support.

    :raises GuestError: If it does not; the line lists the types.
    """
    requested = {
        "boot_volume": [group.boot_volume] if group.boot_volume else [],
        "volumes": group.volumes,
    }
    options = [option for option, listed in requested.items() if listed]
    if not options:
        return
    with cloud.convert_errors("find the block-storage service"):
        has_service = is_available(connection)
    if not has_service:
        raise errors.GuestError(
            f"{options[0]}: the cloud has no block-storage service (Cinder) "
            "in this region; remove the option to use the disk of the flavor"
        )
    names = {
        (option, volume.type): None
        for option in options
        for volume in requested[option]
        if volume.type
    }
    if not names:
        return
    with cloud.convert_errors("list volume types"):
        types = list(connection.block_storage.types())
    for option, name in names:
        reference = request.ResourceReference(by="name", value=name)
        resolve.get_by_reference(f"{option}: type", reference, types)


def create_volumes(
    connection: cloud.Connection,
    groups: collections.abc.Mapping[str, tuple[models.Image, request.Group]],
    timeout: float,
    new_name: Names,
    progress: waiting.Progress,
) -> dict[str, GuestVolumes]:
    """Create the volumes of guests, and return them by guest name.

    :param groups: The image and the group of each guest.
    :param timeout: The timeout in seconds for all volumes.
    :raises GuestError: If a volume fails or is not available in time.
    """
    requested: dict[str, GuestVolumes] = {}
    for name, (image, group) in groups.items():
        boot = None
        if group.boot_volume:
            boot = _create_volume(
                connection, group.boot_volume, new_name(), image_id=image.id
            )
        data = tuple(
            _create_volume(connection, volume, new_name())
            for volume in group.volumes
        )
        requested[name] = GuestVolumes(boot=boot, data=data)
    for kind, number in (
        ("boot volume", sum(1 for each in requested.values() if each.boot)),
        ("data volume", sum(len(each.data) for each in requested.values())),
    ):
        if number:
            progress(f"{units.number_of(kind, number)} requested")
    deadline = time.monotonic() + timeout
    return {
        name: GuestVolumes(
            boot=volumes.boot
            and _wait_until_available(connection, volumes.boot, deadline),
            data=tuple(
                _wait_until_available(connection, volume, deadline)
                for volume in volumes.data
            ),
        )
        for name, volumes in requested.items()
    }


def _create_volume(
    connection: cloud.Connection,
    volume: request.Volume,
    name: str,
    **source: str,
) -> t.Any:
    """Request a volume, and return it as an object of the SDK.

    :param source: The image that it is created from, if any.
    """
    with cloud.convert_errors(f"create volume {name}"):
        return connection.block_storage.create_volume(
            name=name,
            size=volume.size_gib,
            **source,
            **({"volume_type": volume.type} if volume.type else {}),
        )


def _wait_until_available(
    connection: cloud.Connection, volume: t.Any, deadline: float
) -> t.Any:
    """Wait for a volume, and return it; reject a failed or late one."""
    while True:
        with cloud.convert_errors(f"read the status of volume {volume.name}"):
            volume = connection.block_storage.get_volume(volume.id)
        if volume.status == "available":
            return volume
        if volume.status.startswith("error"):
            raise errors.GuestError(
                f"volume {volume.name} is in {volume.status}; check the free "
                "space of its volume type, or the log of Cinder"
            )
        if time.monotonic() > deadline:
            raise errors.GuestError(
                f"volume {volume.name} is {volume.status}, not available in "
                "time; raise boot_timeout, or check the log of Cinder"
            )
        time.sleep(1)


def describe_disk(volume: t.Any, flavor: models.Flavor) -> models.Disk:
    """Return the boot disk of a guest.

    :param volume: The boot volume as an object of the SDK; None for the disk
        of the flavor.
    """
    if volume is None:
        return models.Disk(source="flavor", size_gib=flavor.disk_gib)
    return models.Disk(
        source="volume",
        size_gib=volume.size,
        type=volume.volume_type,
        is_encrypted=bool(volume.is_encrypted),
    )


def describe_disks(
    volumes: GuestVolumes, group: request.Group, flavor: models.Flavor
) -> dict[str, t.Any]:
    """Return the boot disk and the data volumes of a guest, as its fields.

    :param group: The group of the guest, with the requested volumes.
    """
    data_volumes = tuple(
        models.Volume(
            id=volume.id,
            size_gib=volume.size,
            type=volume.volume_type,
            requested_type=requested.type,
            is_encrypted=bool(volume.is_encrypted),
        )
        for requested, volume in zip(group.volumes, volumes.data, strict=True)
    )
    return {
        "disk": describe_disk(volumes.boot, flavor),
        "volumes": data_volumes,
    }


def create_device_mapping(
    volumes: GuestVolumes, image: models.Image
) -> documents.Arguments:
    """Return the options of Nova's API for the disks of a server.

    The boot disk is the boot volume, or else a local disk from the image,
    which Nova requires in the mapping if there are other disks.
    """
    options: documents.Arguments = {}
    disks = [_map_volume(volume, -1) for volume in volumes.data]
    if volumes.boot is not None:
        disks.insert(0, _map_volume(volumes.boot, 0))
    else:
        options = {"image_id": image.id}
        local = {
            "boot_index": 0,
            "uuid": image.id,
            "source_type": "image",
            "destination_type": "local",
            "delete_on_termination": True,
        }
        disks = [local, *disks] if disks else []
    return {**options, "block_device_mapping": disks} if disks else options


def _map_volume(volume: t.Any, boot_index: int) -> documents.Arguments:
    """Return the mapping of a volume, which Nova deletes with the server."""
    return {
        "boot_index": boot_index,
        "uuid": volume.id,
        "source_type": "volume",
        "destination_type": "volume",
        "delete_on_termination": True,
    }


def delete_volume(connection: cloud.Connection, volume: t.Any) -> None:
    """Delete a volume.

    Cinder rejects the deletion of a volume in use permanently, so it is not
    requested before the volume is free.

    :raises CloudBusy: If the volume is in use.
    """
    if volume.status in _TRANSITIONAL:
        raise cloud.CloudBusy(f"it is {volume.status}")
    connection.block_storage.delete_volume(volume.id, ignore_missing=True)
