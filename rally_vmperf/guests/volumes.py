"""Boot volumes of guests, created from the image before the guests."""

import collections.abc
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

Names = collections.abc.Callable[[], str]
#: The boot volumes, as objects of the SDK, by guest.
Volumes = dict[str, sdk_volume.Volume]

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


def check_volume_type(
    connection: cloud.Connection, boot_volume: request.BootVolume
) -> None:
    """Reject boot volumes of a type that the cloud does not support.

    :raises GuestError: If it does not; the line lists the types.
    """
    with cloud.convert_errors("find the block-storage service"):
        has_service = is_available(connection)
    if not has_service:
        raise errors.GuestError(
            "boot_volume: the cloud has no block-storage service (Cinder) in "
            "this region; remove the option to use the disk of the flavor"
        )
    if boot_volume.type:
        with cloud.convert_errors("list volume types"):
            types = list(connection.block_storage.types())
        reference = request.ResourceReference(
            by="name", value=boot_volume.type
        )
        resolve.get_by_reference("boot_volume: type", reference, types)


def create_volumes(
    connection: cloud.Connection,
    boot_volumes: collections.abc.Mapping[
        str, tuple[models.Image, request.BootVolume]
    ],
    timeout: float,
    new_name: Names,
    progress: waiting.Progress,
) -> Volumes:
    """Create guests' boot volumes; return SDK objects by guest name.

    :param boot_volumes: The image and the options of the volume, by guest.
    :param timeout: The timeout in seconds for all volumes.
    :raises GuestError: If a volume fails or is not available in time.
    """
    created = {}
    for name, (image, volume) in boot_volumes.items():
        title = new_name()
        with cloud.convert_errors(f"create volume {title}"):
            created[name] = connection.block_storage.create_volume(
                name=title,
                size=volume.size_gib,
                image_id=image.id,
                **({"volume_type": volume.type} if volume.type else {}),
            )
    if created:
        progress(f"{len(created)} boot volumes requested")
    deadline = time.monotonic() + timeout
    return {
        name: _wait_until_available(connection, volume, deadline)
        for name, volume in created.items()
    }


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
                "space of the boot_volume type, or the log of Cinder"
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
        source="volume", size_gib=volume.size, type=volume.volume_type
    )


def create_device_mapping(volume: t.Any) -> documents.Arguments:
    """Return the block device mapping of a volume for Nova's API."""
    disk = {
        "boot_index": 0,
        "uuid": volume.id,
        "source_type": "volume",
        "destination_type": "volume",
        "delete_on_termination": True,
    }
    return {"block_device_mapping": [disk]}


def delete_volume(connection: cloud.Connection, volume: t.Any) -> None:
    """Delete a volume.

    Cinder rejects the deletion of a volume in use permanently, so it is not
    requested before the volume is free.

    :raises CloudBusy: If the volume is in use.
    """
    if volume.status in _TRANSITIONAL:
        raise cloud.CloudBusy(f"it is {volume.status}")
    connection.block_storage.delete_volume(volume.id, ignore_missing=True)
