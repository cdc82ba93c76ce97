# SPDX-License-Identifier: Apache-2.0
"""Two variants of a guest, and who may have them."""

from tests.functional import laboratory

#: One that the guest shows, one that Nova cannot apply to a single vCPU.
PROPERTIES = {"hw_vif_model": "e1000", "hw_cpu_threads": "2"}
SPECS = {"hw:cpu_policy": "shared", "quota:cpu_shares": "2048"}
VARIANTS = [
    {
        "name": "virtio",
        "extra_specs": SPECS,
        "image_properties": {"hw_vif_model": "virtio"},
    },
    {"name": "e1000", "image_properties": PROPERTIES},
]


class SettingsCase(laboratory.Case):
    """A test of a task that compares two variants."""

    def start(self, **arguments):
        """Run the task of two variants; return the completed process."""
        return self.laboratory.start(
            laboratory.TOP / "tasks" / "nic-models.yaml",
            variants=VARIANTS,
            flavors=["vmperf.tiny"],
            network="public",
            peer=laboratory.peer(),
            **arguments,
        )


class TestSettings(SettingsCase):
    """Settings that are rejected before a guest boots."""

    def test_extra_specs_without_an_administrator(self):
        """The validation rejects them, with the way out."""
        self.laboratory.use("member")
        process = self.start()
        self.assertNotEqual(0, process.returncode)
        self.assertIn(
            f"extra_specs={SPECS!r} of group 'virtio': only an administrator "
            "creates flavors; add an admin",
            process.stdout,
        )
