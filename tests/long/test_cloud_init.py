# SPDX-License-Identifier: Apache-2.0
"""An image with cloud-init, as most clouds have, boots and is measured."""

import os
import pathlib
import shutil
import unittest
from unittest import mock

from rally_vmperf import resources
from rally_vmperf.guests.booting import images
from rally_vmperf.image import guest_image
from rally_vmperf.image import packages
from tests import patience
from tests.functional import laboratory
from tests.long import long

TASK = pathlib.Path(__file__).parent / "tasks" / "cloud-init.yaml"
#: The name of the image in the cloud.
NAME = "vmperf-cloud-init"
#: The lines of finish.sh that install configure.py and its units, and what
#: replaces them.
OURS = (
    "vmperf-guest.service",
    "vmperf-commands.service",
    "configure.py",
)


def write_recipe(folder: pathlib.Path) -> None:
    """Write the files of the guest image with cloud-init in a folder."""
    shutil.copytree(resources.path("etc", "guest-image"), folder)
    finish = folder / "finish.sh"
    text = finish.read_text()
    text = text.replace(
        'install -D -m 644 "$files/configure.py" '
        '"$root/usr/lib/vmperf-guest/configure.py"\n',
        "",
    ).replace(
        'install -m 644 "$files/vmperf-guest.service" '
        '"$files/vmperf-commands.service" \\\n'
        '    "$root/etc/systemd/system/"\n',
        "",
    )
    text = text.replace(
        "systemd-resolved.service vmperf-guest.service\n",
        "systemd-resolved.service\n",
    )
    for name in OURS:
        if name in text:
            raise AssertionError(f"finish.sh: still installs {name}")
    finish.write_text(text)
    names = folder / "packages.txt"
    names.write_text(names.read_text() + "\ncloud-init\ncloud-guest-utils\n")


@long.LONG
@unittest.skipUnless(os.geteuid() == 0, "building an image needs root")
class TestCloudInit(laboratory.Case):
    def setUp(self):
        super().setUp()
        lab = self.laboratory
        folder = lab.folder / "cloud-init"
        write_recipe(folder)
        recipe = guest_image.Recipe(
            output=lab.folder / "cloud-init.qcow2",
            workloads=("sysbench",),
        )
        log = lab.folder / "cloud-init.log"
        packages.install(guest_image.TOOLS, log)
        # The recipe of our image is changed, and not copied.
        with mock.patch.object(
            guest_image.resources,
            "path",
            autospec=True,
            return_value=folder,
        ):
            guest_image.build(recipe, log)
        image_id = images.upload_image(
            lab.admin,
            NAME,
            recipe.output,
            guest_image.list_properties(recipe),
            print,
        )
        self.addCleanup(lab.admin.image.delete_image, image_id)
        # Rally measures in a project of its own.
        lab.admin.image.update_image(image_id, visibility="public")
        self.image_id = image_id

    def test_boot_and_measurement(self):
        """Host key and user data arrive, and every repetition is complete."""
        lab = self.laboratory
        lab.use("admin")
        before = lab.journals()
        process = lab.rally(
            *("task", "start", str(TASK)), timeout=patience.seconds(3600)
        )
        records = lab.records(self.new_journal(before, process))
        self.assertEqual(
            ["complete"] * 3, [record.repetition.state for record in records]
        )
        rates = [
            value.sample.value
            for record in records
            for condition in record.repetition.conditions
            for value in condition.observations
            if value.sample.metric.name == "cpu.sysbench.rate"
        ]
        self.assertEqual(3, len(rates))
        self.assertGreater(min(rates), 0)
        manifest = (lab.folder / "cloud-init.manifest").read_text()
        self.assertIn("cloud-init\t", manifest)
