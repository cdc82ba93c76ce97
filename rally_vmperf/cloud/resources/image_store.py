"""The guest image in Glance."""

import pathlib
import typing as t


def ensure(
    cloud: t.Any,
    wanted: dict[str, t.Any],
    path: pathlib.Path,
) -> None:
    """Upload the guest image unless Glance has this build of it.

    :param cloud: a connection as administrator
    :param wanted: its name and properties
    :param path: the file
    """
    stamp = str(path.stat().st_mtime_ns)
    name = wanted["name"]
    for image in cloud.image.images(name=name):
        known = image.properties.get("vmperf_build") == stamp
        if known and image.status == "active":
            return
        cloud.image.delete_image(image)
    cloud.create_image(
        filename=str(path), wait=True, vmperf_build=stamp, **wanted
    )
