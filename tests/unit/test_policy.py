import stat
from unittest import mock

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

    def test_also_after_an_interrupted_run(self):
        self.policy.write_text("its own")
        interrupted = policy.nothing_started()
        interrupted.__enter__()
        policy.restore_policy()
        self.assertEqual("its own", self.policy.read_text())
