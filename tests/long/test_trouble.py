# SPDX-License-Identifier: Apache-2.0
"""Runs that are interrupted while guests boot, and while they measure."""

import os
import signal
import time

from tests import patience
from tests.functional import laboratory
from tests.functional import test_trouble
from tests.long import long


@long.LONG
class TestTrouble(test_trouble.TroubleCase):
    """Samples are kept, and resources are removed."""

    def test_interrupted_while_booting(self):
        """Ctrl-C during boot removes guests, users and networks."""
        lab = self.laboratory
        lab.use("admin")
        servers = self._servers()
        with lab.started(test_trouble.SHORT, users=True) as process:
            laboratory.wait_for("a server", lambda: self._servers() > servers)
            os.kill(process.pid, signal.SIGINT)
            self.assertNotEqual(0, process.wait(patience.seconds(300)))

    def test_interrupted_while_measuring(self):
        """Ctrl-C in a repetition ends the run; what was measured is kept."""
        lab = self.laboratory
        lab.use("member")
        with lab.started(test_trouble.SHORT, times=50, seconds=1) as process:
            laboratory.wait_for("a record", lambda: self._lines() >= 1)
            time.sleep(0.5)
            os.kill(process.pid, signal.SIGINT)
            self.assertNotEqual(0, process.wait(patience.seconds(300)))
        (path,) = lab.journals() - self.earlier_journals
        states = [record.repetition.state for record in lab.records(path)]
        self.assertEqual("interrupted", states[-1])
        self.assertEqual({"complete"}, set(states[:-1]))

    def _servers(self):
        servers = self.laboratory.admin.compute.servers(all_projects=True)
        return len(list(servers))
