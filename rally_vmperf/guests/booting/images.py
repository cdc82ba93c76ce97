# SPDX-License-Identifier: Apache-2.0
"""Images that are created in Glance, and the upload of their data."""

import collections.abc
import io
import os
import pathlib
import typing as t

from openstack import exceptions as sdk_errors

from rally_vmperf import documents
from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors

_IMAGE: documents.Schema = {
    "required": ["id"],
    "properties": {"id": {"type": "string"}},
}


def create_image(glance: t.Any, properties: documents.Arguments) -> str:
    """Create an image without data, and return its identifier.

    :param glance: Glance, as the SDK provides it.
    :param properties: The fields and the properties of the image.
    """
    return str(
        get_document(glance.post("/images", json=dict(properties)))["id"]
    )


def put_data(
    glance: t.Any, image_id: str, data: collections.abc.Iterable[bytes]
) -> documents.Facts:
    """Upload the data of an image; return the fields that Glance stored.

    :param data: A file, or the data in chunks.
    """
    path = f"/images/{image_id}"
    sdk_errors.raise_from_response(
        glance.put(
            f"{path}/file",
            data=data,
            headers={
                "Content-Type": "application/octet-stream",
                "Accept": "",
            },
        )
    )
    return get_document(glance.get(path))


def get_document(response: t.Any) -> documents.Facts:
    """Return the JSON document in a response; reject an error."""
    sdk_errors.raise_from_response(response)
    return cloud.parse_document(response, _IMAGE)


def check_name(connection: cloud.Connection, name: str) -> None:
    """Reject the name of an image that exists, because it is not replaced.

    :raises GuestError: If the project sees an image with this name.
    """
    with cloud.convert_errors("list images"):
        existing = next(iter(connection.image.images(name=name)), None)
    if existing is not None:
        raise errors.GuestError(
            f"image {name!r} exists ({existing.status}, ID {existing.id}) and "
            "is not replaced; choose another name with --name, or delete it "
            f"with: openstack image delete {existing.id}"
        )


def upload_image(
    connection: cloud.Connection,
    name: str,
    path: pathlib.Path,
    properties: documents.Arguments,
    progress: collections.abc.Callable[[str], object],
) -> str:
    """Upload an image from a file, and return its identifier.

    :param name: The name of the image in the cloud.
    :param properties: The fields and the properties of the image.
    :param progress: A function that reports a line.
    :raises GuestError: If the image is not complete; it is then deleted.
    """
    glance = connection.image
    with (
        _ReportingFile(path, progress) as file,
        cloud.convert_errors(f"create image {name!r}"),
    ):
        image_id = create_image(glance, {**properties, "name": name})
        try:
            stored = put_data(glance, image_id, file)
            if (stored.get("status"), stored.get("size")) != (
                "active",
                file.size,
            ):
                raise errors.GuestError(
                    f"image {name!r} is {stored.get('status')} with "
                    f"{stored.get('size')} of {file.size} bytes after the "
                    "upload: must be active and complete; repeat the upload"
                )
        except BaseException:
            glance.delete_image(image_id, ignore_missing=True)
            raise
    return image_id


class _ReportingFile(io.FileIO):
    """A file that reports each tenth of its size that has been read.

    :param path: The path of the file.
    :param progress: A function that reports a line.
    :ivar size: The size of the file in bytes.
    """

    def __init__(
        self,
        path: pathlib.Path,
        progress: collections.abc.Callable[[str], object],
    ) -> None:
        super().__init__(path)
        self.size = os.fstat(self.fileno()).st_size
        self._progress = progress
        self._tenths = 0

    def read(self, size: int | None = -1, /) -> t.Any:
        """Return the next bytes of the file."""
        content = super().read(-1 if size is None else size)
        tenths = 10 * self.tell() // max(self.size, 1)
        if tenths > self._tenths:
            self._tenths = tenths
            self._progress(
                f"uploaded {10 * tenths} % of {self.size / 1024**2:.0f} MiB"
            )
        return content
