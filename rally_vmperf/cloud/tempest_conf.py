"""The tempest.conf of the embedded cloud.

Unlike its other files it names image, flavors and network by identifiers that
only the cloud itself knows, so it is written once they are there.
"""

import typing as t

from rally_vmperf import resources
from rally_vmperf.cloud import credentials
from rally_vmperf.cloud import layout
from rally_vmperf.cloud import templates

TEMPLATE = "tempest.conf.j2"
#: Flavors of Tempest's guests: the usual one, and another to resize to.
_FLAVORS = ("vmperf.small", "vmperf.duo")
_EXTERNAL = "public"


def write(
    place: layout.Layout, shipped: templates.Templates, cloud: t.Any
) -> None:
    """Write the file; only root can read it.

    :param place: the state root's folders
    :param shipped: the templates
    :param cloud: a connection as administrator
    """
    image = shipped.data("resources.yaml.j2")["image"]["name"]
    flavor, other = (_id(cloud.compute.find_flavor, one) for one in _FLAVORS)
    text = shipped.render(
        TEMPLATE,
        image_id=_id(cloud.image.find_image, image),
        flavor_id=flavor,
        flavor_alt_id=other,
        network_id=_id(cloud.network.find_network, _EXTERNAL),
        limits_file=resources.path("etc", "tempest-limits.embedded.yaml"),
    )
    credentials.write_private(place.root / "tempest.conf", text)


def _id(find: t.Callable[..., t.Any], name: str) -> str:
    return str(find(name, ignore_missing=False).id)
