# SPDX-License-Identifier: Apache-2.0
"""Images that are created in Glance, and their data."""

import collections.abc
import typing as t

from openstack import exceptions as sdk_errors

from rally_vmperf import documents
from rally_vmperf.guests import cloud

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
