import stat
from unittest import mock

from rally_vmperf.cloud.system import packages
from tests.unit.cloud import base


class NothingStartedTestCase(base.CloudTestCase):
    def setUp(self):
        super().setUp()
        self.policy = self.folder / "policy-rc.d"
        saved = self.folder / "policy-rc.d.saved"
        for name, path in (("POLICY", self.policy), ("SAVED", saved)):
            patch = mock.patch.object(packages, name, path)
            patch.start()
            self.addCleanup(patch.stop)

    def test_for_the_time_of_the_installation(self):
        with packages.nothing_started():
            self.assertIn("exit 101", self.policy.read_text())
            mode = stat.S_IMODE(self.policy.stat().st_mode)
            self.assertEqual(0o755, mode)
        self.assertFalse(self.policy.exists())

    def test_the_machines_own_policy_comes_back(self):
        self.policy.write_text("its own")
        with packages.nothing_started():
            self.assertEqual(packages.OURS, self.policy.read_text())
        self.assertEqual("its own", self.policy.read_text())

    def test_also_after_an_interrupted_run(self):
        self.policy.write_text("its own")
        interrupted = packages.nothing_started()
        interrupted.__enter__()
        packages.restore_policy()
        self.assertEqual("its own", self.policy.read_text())


class ListedTestCase(base.CloudTestCase):
    def test_comments_and_blanks(self):
        path = self.folder / "list"
        path.write_text("# tools\nfio\n\n  mbw  \n")
        self.assertEqual(["fio", "mbw"], packages.listed(path))
