"""Volumes that guests boot from, made of the image before the guests are."""

import collections.abc
import time
import typing as t

from openstack import connection as sdk

from rally_vmperf.guests import choices
from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.guests import request
from rally_vmperf.guests import waiting

Json = dict[str, t.Any]
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


def check(connection: sdk.Connection, asked: request.Request) -> None:
    """Refuse volumes where there are none, or none of this type.

    :raises GuestError: with the types there are
    """
    if not asked.boot_volume:
        return
    with cloud.asking("look for a block-storage service"):
        found = there(connection)
    if not found:
        raise errors.GuestError(
            "boot_volume: the cloud has no block-storage service (Cinder) in "
            "this region; leave it out, then the flavor's disk is used"
        )
    wanted = asked.boot_volume.get("type")
    if wanted:
        with cloud.asking("list volume types"):
            types = list(connection.block_storage.types())
        choices.one("boot_volume: type", {"name": wanted}, types)


def make(
    connection: sdk.Connection,
    asked: request.Request,
    image: t.Any,
    new_name: Names,
    progress: waiting.Progress,
) -> list[t.Any]:
    """Return a volume with the image on it for each guest, if asked for.

    :raises GuestError: when a volume fails or takes too long
    """
    if not asked.boot_volume:
        return []
    wanted = asked.boot_volume.get("type")
    made = []
    for _ in range(asked.count):
        name = new_name()
        with cloud.asking(f"create volume {name}"):
            made.append(
                connection.block_storage.create_volume(
                    name=name,
                    size=asked.boot_volume["size_gib"],
                    image_id=image.id,
                    **({"volume_type": wanted} if wanted else {}),
                )
            )
    progress(f"volumes to boot from asked for: {len(made)}")
    deadline = time.monotonic() + asked.boot_timeout
    return [_available(connection, one, deadline) for one in made]


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


def source(volume: t.Any) -> Json:
    """Return what Nova's API is told about a disk that is a volume."""
    disk = {
        "boot_index": 0,
        "uuid": volume.id,
        "source_type": "volume",
        "destination_type": "volume",
        "delete_on_termination": True,
    }
    return {"block_device_mapping": [disk]}


def facts(volume: t.Any) -> Json:
    """Return a volume as plain data."""
    return {
        "source": "volume",
        "size_gib": volume.size,
        "type": volume.volume_type,
    }


def delete(connection: sdk.Connection, volume: t.Any) -> None:
    """Delete a volume.

    Cinder refuses for good what would only have to wait, so it is not asked
    before the volume is free.

    :raises Busy: while the volume is in use
    """
    if volume.status in _PASSING:
        raise cloud.Busy(f"it is {volume.status}")
    connection.block_storage.delete_volume(volume.id, ignore_missing=True)
