# SPDX-License-Identifier: Apache-2.0
"""Tests of the command that builds the guest image."""

import contextlib
import io
import pathlib
import shlex
import tempfile
import unittest
from unittest import mock

from openstack import exceptions as sdk_errors

from rally_vmperf import errors
from rally_vmperf.cmd import image
from rally_vmperf.guests.setup import login
from rally_vmperf.image import commands
from rally_vmperf.image import guest_image
from rally_vmperf.image import packages
from tests.unit.cmd.start import prepared

DATA = b"image" * 10000


class TestBuild(unittest.TestCase):
    """Arguments, and the user."""

    def parse(self, *arguments):
        """Return the command and its parsed arguments."""
        command = image.Build(mock.Mock(), None)
        return command, command.get_parser("image").parse_args(arguments)

    def test_arguments(self):
        """Size and release have defaults."""
        _, parsed = self.parse("--size", "3G")
        self.assertEqual(("3G", "bookworm"), (parsed.size, parsed.suite))

    def test_wrong_size(self):
        """It is rejected before a package is installed."""
        for size in ("big", "2", "0G", "2T", "²G", "-1G", ""):
            printed = io.StringIO()
            with (
                contextlib.redirect_stderr(printed),
                self.assertRaises(SystemExit),
            ):
                self.parse(f"--size={size}")
            self.assertRegex(
                printed.getvalue(),
                f"argument --size: size '{size}': must be a number with M ",
            )

    def test_other_user(self):
        """Only root can build an image."""
        command, parsed = self.parse()
        with (
            mock.patch("os.geteuid", autospec=True, return_value=1000),
            self.assertRaisesRegex(errors.VMPerfError, "must be root"),
        ):
            command.take_action(parsed)


def build(recipe, log):
    """Write data in place of an image."""
    recipe.output.write_bytes(DATA)


class UploadTest(unittest.TestCase):
    """The image is uploaded when it is complete, under a name of its own."""

    def setUp(self):
        """Have a cloud without the image, and root's rights."""
        super().setUp()
        self.file = pathlib.Path(
            self.enterContext(tempfile.TemporaryDirectory()), "mine.qcow2"
        )
        self.login = prepared.create_login()
        self.cloud = self.login.connection
        self.log_in = self.enterContext(
            mock.patch.object(
                login, "log_in", autospec=True, return_value=self.login
            )
        )
        self.enterContext(
            mock.patch("os.geteuid", autospec=True, return_value=0)
        )
        self.enterContext(
            mock.patch.object(packages, "install", autospec=True)
        )
        self.build = self.enterContext(
            mock.patch.object(
                guest_image, "build", autospec=True, side_effect=build
            )
        )

    def run_command(self, *arguments):
        """Run the command; return its output."""
        command = image.Build(mock.Mock(), None)
        parsed = command.get_parser("image").parse_args(
            ["--output", str(self.file), *arguments]
        )
        output = io.StringIO()
        with (
            contextlib.redirect_stdout(output),
            mock.patch.object(
                image.commands.Progress.__init__, "__defaults__", (output,)
            ),
        ):
            command.take_action(parsed)
        return output.getvalue()

    def test_log_that_is_a_link(self):
        """It is next to the image, where another user can write."""
        target = self.file.with_name("target")
        target.write_text("kept")
        self.file.with_suffix(".log").symlink_to(target)
        self.build.side_effect = lambda recipe, log: commands.run(
            ["/bin/echo", "x"], log=log
        )
        with self.assertRaisesRegex(
            errors.VMPerfError, r"^log .*/mine\.log: is a link; remove it$"
        ):
            self.run_command()
        self.assertEqual("kept", target.read_text())

    def test_properties(self):
        """Glance stores the shape of the image and its content."""
        output = self.run_command(
            *("--upload", "--cloud", "mine", "--size", "2500M"),
            *("--workloads", "fio,mbw"),
        )
        self.log_in.assert_called_once_with("mine")
        uploaded = vars(self.cloud.image.all_images[-1])
        expected = {
            "name": "mine",
            "status": "active",
            "size": len(DATA),
            "disk_format": "qcow2",
            "container_format": "bare",
            "min_disk": 3,
            "os_admin_user": "debian",
            "hw_firmware_type": "bios",
            "vmperf_workloads": "fio,mbw",
        }
        self.assertLessEqual(expected.items(), uploaded.items())
        self.assertIn("uploaded 100 % of 0 MiB\n", output)
        self.assertIn(
            f"image 'mine' (ID {uploaded['id']}) is in project 'demo'", output
        )

    def test_existing_name(self):
        """The image is not replaced, and none is built."""
        with self.assertRaisesRegex(
            errors.VMPerfError,
            r"'debian' exists \(active, ID i1\) .*--name, or .*delete i1$",
        ):
            self.run_command("--upload", "--name", "debian")
        self.build.assert_not_called()

    def test_without_upload(self):
        """The cloud is not used, and an option without effect is rejected."""
        self.run_command()
        self.log_in.assert_not_called()
        with self.assertRaisesRegex(errors.VMPerfError, "require --upload"):
            self.run_command("--cloud", "mine")

    def test_interrupted_upload(self):
        """The incomplete image is deleted, and the file is named."""
        for error, raised in (
            (sdk_errors.HttpException("full"), errors.VMPerfError),
            (KeyboardInterrupt(), KeyboardInterrupt),
        ):

            def interrupt(name, done, error=error):
                """Fail in the upload of the data."""
                if name == "put" and not done:
                    raise error

            self.cloud.interrupt = interrupt
            with self.assertRaises(raised) as caught:
                self.run_command("--upload")
            names = [image.name for image in self.cloud.image.all_images]
            self.assertEqual(["debian"], names)
            if raised is errors.VMPerfError:
                quoted = shlex.quote(str(self.file))
                self.assertRegex(
                    str(caught.exception),
                    f"full; {self.file} is complete, .*image create --file "
                    f"{quoted} --disk-format qcow2 .*--property "
                    "hw_rng_model=virtio .* mine$",
                )

    def test_incomplete_image(self):
        """Glance stored less than was sent."""
        put = self.cloud.image.put

        def truncate(path, data, headers):
            """Store the first bytes only."""
            return put(path, data=[data.read(10)], headers=headers)

        with (
            mock.patch.object(self.cloud.image, "put", truncate),
            self.assertRaisesRegex(
                errors.VMPerfError, f"is active with 10 of {len(DATA)} bytes"
            ),
        ):
            self.run_command("--upload")
