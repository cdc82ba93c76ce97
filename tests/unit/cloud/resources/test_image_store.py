import hashlib
import types

import ddt

from rally_vmperf.cloud.resources import image_store
from tests.unit.cloud import base

CONTENT = b"a guest image"


class FakeImages:
    """Glance, in as far as it is asked.

    :param images: those that are there
    """

    def __init__(self, *images):
        self.image = self
        self.held = list(images)
        self.uploaded = []

    def images(self, name):
        """Return the images of a name."""
        return [image for image in self.held if image.name == name]

    def delete_image(self, image):
        """Remove one."""
        self.held.remove(image)

    def create_image(self, **wanted):
        """Take one."""
        self.uploaded.append(wanted)


@ddt.ddt
class EnsureTestCase(base.CloudTestCase):
    def setUp(self):
        super().setUp()
        self.folders.image.write_bytes(CONTENT)
        self.stamp = str(self.folders.image.stat().st_mtime_ns)
        self.store = self.folders.data / "glance" / "images"
        (self.store / "1").write_bytes(CONTENT)

    def image(self, **change):
        described = {
            "id": "1",
            "name": "vmperf-guest",
            "status": "active",
            "size": len(CONTENT),
            "hash_algo": "sha512",
            "hash_value": hashlib.sha512(CONTENT).hexdigest(),
            "properties": {"vmperf_build": self.stamp},
        }
        return types.SimpleNamespace(**{**described, **change})

    def ensure(self, *images):
        cloud = FakeImages(*images)
        image_store.ensure(
            cloud,
            {"name": "vmperf-guest"},
            self.folders.image,
            self.store,
            self.found,
        )
        return cloud

    def test_whole(self):
        cloud = self.ensure(self.image())
        self.assertEqual((1, []), (len(cloud.held), cloud.uploaded))
        self.assertEqual([], self.findings)

    def test_first_time_and_another_build(self):
        for images in ([], [self.image(properties={})]):
            cloud = self.ensure(*images)
            self.assertEqual([], cloud.held)
            self.assertEqual(self.stamp, cloud.uploaded[0]["vmperf_build"])
        self.assertEqual([], self.findings)

    @ddt.data(
        (None, "gone"),
        (CONTENT[:3], "has 3 bytes of 13"),
        (CONTENT[::-1], "another checksum"),
    )
    @ddt.unpack
    def test_damaged_file(self, content, trouble):
        (self.store / "1").unlink()
        if content:
            (self.store / "1").write_bytes(content)
        cloud = self.ensure(self.image())
        self.assertEqual(([], 1), (cloud.held, len(cloud.uploaded)))
        self.assertRegex(
            self.findings[0], f"^image vmperf-guest: .*{trouble}; uploaded"
        )

    def test_an_interrupted_upload(self):
        cloud = self.ensure(self.image(status="queued", size=None))
        self.assertEqual(1, len(cloud.uploaded))
        self.assertIn("it is queued", self.findings[0])
