"""The guest image in Glance, and Glance's file of it."""

import collections.abc
import hashlib
import pathlib
import typing as t

from rally_vmperf.cloud.system import commands
from rally_vmperf.cloud.system import errors


def ensure(
    cloud: t.Any,
    wanted: dict[str, t.Any],
    path: pathlib.Path,
    store: pathlib.Path,
    found: collections.abc.Callable[[str, str], None],
) -> None:
    """Upload the guest image unless Glance has this build of it, intact.

    :param cloud: a connection as administrator
    :param wanted: its name and properties
    :param path: the file
    :param store: the folder of Glance's files
    :param found: called with what was wrong and what was done
    """
    stamp = str(path.stat().st_mtime_ns)
    name = wanted["name"]
    for image in cloud.image.images(name=name):
        if image.properties.get("vmperf_build") == stamp:
            wrong = damage(image, store / image.id)
            if wrong is None:
                return
            found(f"image {name}: {wrong}", "uploaded again")
        cloud.image.delete_image(image)
    cloud.create_image(
        filename=str(path), wait=True, vmperf_build=stamp, **wanted
    )


def damage(image: t.Any, path: pathlib.Path) -> str | None:
    """Return what is wrong with an image; None when it is intact.

    :param image: as Glance describes it
    :param path: its file
    """
    if image.status != "active":
        return f"it is {image.status}, as its upload was interrupted"
    if not path.is_file():
        return "Glance's file of it is gone"
    if path.stat().st_size != image.size:
        return (
            f"Glance's file of it has {path.stat().st_size} bytes of "
            f"{image.size}"
        )
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, image.hash_algo or "sha512")
    if image.hash_value and digest.hexdigest() != image.hash_value:
        return "Glance's file of it has another checksum"
    return None


def readable(path: pathlib.Path) -> bool:
    """Return whether a qcow2 file is complete, by its own tables.

    :param path: the guest image
    """
    try:
        # 3: some of its space is not in use
        commands.run(["qemu-img", "check", "-f", "qcow2", path], accept=(0, 3))
    except errors.CloudError:
        return False
    return True
