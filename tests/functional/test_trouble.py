# SPDX-License-Identifier: Apache-2.0
"""Runs that are killed, interrupted or impossible: nothing stays behind."""

import os
import signal

from tests.functional import laboratory

SHORT = laboratory.TASKS / "short.yaml"


class TroubleCase(laboratory.Case):
    """A short task whose baseline is there."""

    def setUp(self):
        """Have the short task's baseline."""
        super().setUp()
        self.laboratory.record_baseline(
            "short", "--task", str(SHORT), "--flavor", "vmperf.tiny"
        )
        self.earlier_journals = self.laboratory.journals()

    def _lines(self):
        new = self.laboratory.journals() - self.earlier_journals
        return sum(len(self.laboratory.records(path)) for path in new)


class TestTrouble(TroubleCase):
    """Samples are kept, and resources are removed."""

    def test_sigkill_leaves_records_and_a_way_to_clean_up(self):
        """Two repetitions are on disk, and cleanup empties the cloud."""
        lab = self.laboratory
        lab.use("admin")
        with lab.started(SHORT, times=50, users=True) as process:
            laboratory.wait_for("two records", lambda: self._lines() >= 2)
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        (path,) = lab.journals() - self.earlier_journals
        states = [record.repetition.state for record in lab.records(path)[:2]]
        self.assertEqual(["complete", "complete"], states)
        self.assertNotEqual(self.before, lab.count())
        self._check_user()
        listed = lab.vmperf("cleanup", "-f", "json")
        self.assertEqual(1, listed.returncode, listed.stderr)
        kinds = {row["Kind"] for row in laboratory.json.loads(listed.stdout)}
        self.assertLessEqual(
            {"server", "network", "user", "project"}, kinds, listed.stdout
        )
        self.assertNotEqual(self.before, lab.count())
        lab.vmperf("cleanup", "--yes", check=True)

    def _check_user(self):
        """Check that a guest whose run was killed is not a process of root."""
        servers = [*self.laboratory.admin.compute.servers(all_projects=True)]
        self.assertTrue(servers)
        for server in servers:
            user = laboratory.user_of(laboratory.qemu(server.id))
            self.assertEqual("libvirt-qemu", user)

    def test_no_valid_host(self):
        """A guest that no host can take is reported in one line."""
        lab = self.laboratory
        lab.use("member")
        lab.pretend_shape("huge", "short", vcpus=64, memory_mib=1048576)
        process = lab.start(SHORT, flavor="vmperf.huge", baseline="huge")
        self.check_ended(2, process)
        self.assertRegex(
            process.stderr, "ERROR .*No valid host.*; request fewer"
        )
        self.assertNotIn("Traceback", process.stdout + process.stderr)

    def test_guest_that_never_answers(self):
        """The end of its console is shown."""
        lab = self.laboratory
        lab.use("member")
        process = lab.start(SHORT, ssh_timeout=4)
        self.check_ended(2, process)
        self.assertIn("does not answer SSH", process.stdout + process.stderr)
        self.assertIn("console", process.stdout + process.stderr)
