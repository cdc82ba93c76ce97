import types

from rally_vmperf.cloud.resources import image_store
from tests.unit.cloud import base


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


class EnsureTestCase(base.CloudTestCase):
    def setUp(self):
        super().setUp()
        self.folders.image.touch()
        self.stamp = str(self.folders.image.stat().st_mtime_ns)

    def image(self, **change):
        described = {
            "name": "vmperf-guest",
            "status": "active",
            "properties": {"vmperf_build": self.stamp},
        }
        return types.SimpleNamespace(**{**described, **change})

    def ensure(self, *images):
        cloud = FakeImages(*images)
        image_store.ensure(cloud, {"name": "vmperf-guest"}, self.folders.image)
        return cloud

    def test_whole(self):
        cloud = self.ensure(self.image())
        self.assertEqual((1, []), (len(cloud.held), cloud.uploaded))

    def test_first_time_and_another_build(self):
        for images in ([], [self.image(properties={})]):
            cloud = self.ensure(*images)
            self.assertEqual([], cloud.held)
            self.assertEqual(self.stamp, cloud.uploaded[0]["vmperf_build"])

    def test_an_interrupted_upload(self):
        cloud = self.ensure(self.image(status="queued"))
        self.assertEqual(([], 1), (cloud.held, len(cloud.uploaded)))
