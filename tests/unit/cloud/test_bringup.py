# SPDX-License-Identifier: Apache-2.0
import errno
from unittest import mock

import openstack

from rally_vmperf.image import commands
from tests import skips
from tests.cloud import bringup
from tests.cloud import preflight
from tests.cloud.container import kvm
from tests.cloud.state import settings
from tests.cloud.state import state_root
from tests.cloud.system import layout
from tests.unit.cloud import base


class UpTestCase(base.CloudTestCase):
    def up(self, error):
        with (
            mock.patch.object(preflight, "check", autospec=True),
            mock.patch.object(
                state_root, "claim", autospec=True, side_effect=error
            ),
        ):
            bringup.up(self.folders, self.progress)

    def test_a_full_disk(self):
        for code in (errno.ENOSPC, errno.EDQUOT):
            with self.assertRaisesRegex(
                commands.HostError, "the disk is full: /some/file cannot be"
            ):
                self.up(OSError(code, "full", "/some/file"))

    def test_a_refusal_in_one_line(self):
        with self.assertRaisesRegex(
            commands.HostError,
            "^the cloud rejected a request: too many; see 'python -m tests",
        ):
            self.up(openstack.exceptions.SDKException("too many"))


class BringupTestCase(base.CloudTestCase):
    def configure(
        self,
        disk_cache=None,
        hypervisors=None,
        *,
        volumes=None,
        hardware=False,
    ):
        skips.require(self, "ssh-keygen")
        steps = bringup.Bringup(self.folders, self.progress)
        with (
            mock.patch.object(
                kvm, "works", autospec=True, return_value=hardware
            ),
            mock.patch.object(
                bringup.package_root, "add", autospec=True
            ) as self.add,
        ):
            steps.configure(disk_cache, hypervisors, volumes)
        return steps


class ConfigureTestCase(BringupTestCase):
    def test_settings_remain(self):
        self.configure("unsafe", 2, volumes=True)
        self.assertIn("emulated (TCG)", self.output.getvalue())
        self.configure(None, None, hardware=True)
        self.assertEqual(
            settings.Settings("unsafe", "kvm", 2, True),
            settings.load(self.folders),
        )

    def test_packages_of_volumes(self):
        """They are installed only for volumes, and each time."""
        self.configure()
        self.add.assert_not_called()
        for wish in (True, None):
            self.configure(volumes=wish)
            (_, names, _), _ = self.add.call_args
            self.assertIn("ceph-osd", names)
        self.configure(volumes=False)
        self.add.assert_not_called()

    def test_fewer_hypervisors_of_a_cloud_that_is_down(self):
        self.configure(None, 2)
        self.configure(None, 1)
        self.configure(None, 2)
        self.fill_databases()
        with self.assertRaisesRegex(
            commands.HostError, "^--hypervisors=1: the cloud must run"
        ):
            self.configure(None, 1)
        self.assertEqual(2, settings.load(self.folders).hypervisors)

    def test_no_volumes_of_a_cloud_that_is_down(self):
        self.configure(volumes=True)
        self.configure(volumes=False)
        self.configure(volumes=True)
        self.fill_databases()
        with self.assertRaisesRegex(
            commands.HostError,
            "^--no-volumes: the cloud must run, .* whether volumes exist",
        ):
            self.configure(volumes=False)
        self.assertTrue(settings.load(self.folders).volumes)


class StartTestCase(BringupTestCase):
    def test_a_container_that_runs_is_not_started_again(self):
        for pid, expected in (
            (None, ["end", "start"]),
            (7, ["update"]),
        ):
            with mock.patch.object(
                bringup.container, "Container", autospec=True
            ) as made:
                made.return_value.pid = pid
                bringup.Bringup(self.folders, self.progress).start()
            calls = [name for name, *_ in made.return_value.method_calls]
            self.assertEqual(expected, calls)


class HaveReportedTestCase(BringupTestCase):
    """The API's reports of earlier starts do not count."""

    def starts(self, count):
        """Return what is asked; None if a hypervisor has not started."""
        steps = self.configure(None, count)
        with mock.patch.object(
            bringup.services, "have_reported", autospec=True
        ) as start:
            steps._have_reported(None)
        return start.call_args and start.call_args.args[1]

    def test_both_hypervisors(self):
        first, second = layout.HYPERVISORS
        names = (*layout.AGENTS, "nova-compute", *layout.VOLUME_SERVICES)
        expected = {(first, name): number for number, name in enumerate(names)}
        self.serve(
            lambda: [
                base.process(name, start=number)
                for number, name in enumerate((*names, "mariadb"))
            ]
        )
        self.assertEqual(expected, self.starts(1))
        self.assertIsNone(self.starts(2))
        self.serve(
            lambda: [base.process("nova-compute", start=9)], "supervisord-2"
        )
        expected[second, "nova-compute"] = 9
        self.assertEqual(expected, self.starts(2))
