# SPDX-License-Identifier: Apache-2.0
import contextlib
import io
import stat
from unittest import mock

from rally_vmperf.image import commands
from rally_vmperf.image import packages
from tests import policy
from tests.unit.cloud import base


class NothingStartedTestCase(base.CloudTestCase):
    def setUp(self):
        super().setUp()
        self.policy = self.folder / "policy-rc.d"
        saved = self.folder / "policy-rc.d.saved"
        for name, path in (("POLICY", self.policy), ("SAVED", saved)):
            patch = mock.patch.object(policy, name, path)
            patch.start()
            self.addCleanup(patch.stop)

    def test_for_the_time_of_the_installation(self):
        with policy.nothing_started():
            self.assertIn("exit 101", self.policy.read_text())
            mode = stat.S_IMODE(self.policy.stat().st_mode)
            self.assertEqual(0o755, mode)
        self.assertFalse(self.policy.exists())

    def test_the_machines_own_policy_comes_back(self):
        self.policy.write_text("its own")
        with policy.nothing_started():
            self.assertEqual(policy.OURS, self.policy.read_text())
        self.assertEqual("its own", self.policy.read_text())

    def install(self, *missing, error=None):
        """Return the exit code, the output and the installed packages."""
        installed = []

        def install(names, log):
            self.assertEqual(policy.OURS, self.policy.read_text())
            if error:
                raise error
            installed.extend(names)

        with (
            mock.patch.object(policy, "LOG", self.folder / "build" / "log"),
            mock.patch.object(
                packages, "find_missing", autospec=True, return_value=missing
            ),
            mock.patch.object(packages, "install", install),
            contextlib.redirect_stdout(io.StringIO()) as output,
            contextlib.redirect_stderr(output),
        ):
            code = policy.main(["nginx", "wget"])
        self.assertFalse(self.policy.exists())
        return code, output.getvalue(), installed

    def test_missing_packages_are_installed(self):
        self.assertEqual((0, "", []), self.install())
        self.assertEqual(
            (0, "installing nginx\n", ["nginx"]), self.install("nginx")
        )

    def test_packages_that_cannot_be_installed(self):
        code, output, _ = self.install(
            "nginx", error=commands.HostError("no disk")
        )
        self.assertEqual(1, code)
        self.assertIn("cannot install packages: no disk", output)

    def test_also_after_an_interrupted_run(self):
        self.policy.write_text("its own")
        interrupted = policy.nothing_started()
        interrupted.__enter__()
        policy.restore_policy()
        self.assertEqual("its own", self.policy.read_text())
