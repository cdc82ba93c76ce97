"""Volumes that guests boot from, created from the image beforehand."""

import collections.abc
import time
import typing as t

from openstack import connection as sdk

from rally_vmperf.guests import choices
from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.guests import guest
from rally_vmperf.guests import request
from rally_vmperf.guests import waiting

Names = collections.abc.Callable[[], str]

#: What a volume passes through by itself on its way to be deletable.
_PASSING = (
    "creating",
    "downloading",
    "reserved",
    "attaching",
    "in-use",
    "detaching",
    "deleting",
)


def there(connection: sdk.Connection) -> bool:
    """Tell whether the cloud has a block-storage service."""
    # Of a cloud that does not answer the SDK says that it has none.
    connection.authorize()
    return bool(connection.has_service("block-storage"))


def check(connection: sdk.Connection, wanted: request.BootVolume) -> None:
    """Refuse volumes if the cloud has none, or none of this type.

    :raises GuestError: with the types there are
    """
    with cloud.asking("look for a block-storage service"):
        found = there(connection)
    if not found:
        raise errors.GuestError(
            "boot_volume: the cloud has no block-storage service (Cinder) in "
            "this region; leave it out, then the flavor's disk is used"
        )
    if wanted.type:
        with cloud.asking("list volume types"):
            types = list(connection.block_storage.types())
        named = request.Reference(by="name", value=wanted.type)
        choices.one("boot_volume: type", named, types)


def make(
    connection: sdk.Connection,
    wanted: collections.abc.Mapping[
        str, tuple[guest.Image, request.BootVolume]
    ],
    timeout: float,
    new_name: Names,
    progress: waiting.Progress,
) -> dict[str, t.Any]:
    """Return a volume for each guest that boots from one, as the SDK has it.

    :param wanted: guest -> what is to be on the volume, and the volume
    :param timeout: seconds in which all must be there
    :raises GuestError: when a volume fails or takes too long
    """
    made = {}
    for name, (image, volume) in wanted.items():
        title = new_name()
        with cloud.asking(f"create volume {title}"):
            made[name] = connection.block_storage.create_volume(
                name=title,
                size=volume.size_gib,
                image_id=image.id,
                **({"volume_type": volume.type} if volume.type else {}),
            )
    if made:
        progress(f"volumes to boot from asked for: {len(made)}")
    deadline = time.monotonic() + timeout
    return {
        name: _available(connection, one, deadline)
        for name, one in made.items()
    }


def _available(
    connection: sdk.Connection, volume: t.Any, deadline: float
) -> t.Any:
    while True:
        with cloud.asking(f"look at volume {volume.name}"):
            volume = connection.block_storage.get_volume(volume.id)
        if volume.status == "available":
            return volume
        if volume.status.startswith("error"):
            raise errors.GuestError(
                f"volume {volume.name} is in {volume.status}; check that "
                "boot_volume's type has room, or have Cinder's log read"
            )
        if time.monotonic() > deadline:
            raise errors.GuestError(
                f"volume {volume.name} is {volume.status}, not available in "
                "time; raise boot_timeout, or have Cinder's log read"
            )
        time.sleep(1)


def source(volume: t.Any) -> dict[str, t.Any]:
    """Return the block device mapping of a volume, for Nova's API."""
    disk = {
        "boot_index": 0,
        "uuid": volume.id,
        "source_type": "volume",
        "destination_type": "volume",
        "delete_on_termination": True,
    }
    return {"block_device_mapping": [disk]}


def delete(connection: sdk.Connection, volume: t.Any) -> None:
    """Delete a volume.

    Cinder refuses for good what would only have to wait, so it is not asked
    before the volume is free.

    :raises Busy: while the volume is in use
    """
    if volume.status in _PASSING:
        raise cloud.Busy(f"it is {volume.status}")
    connection.block_storage.delete_volume(volume.id, ignore_missing=True)
