"""Runs that are interrupted while their guests boot."""

import os
import signal

from tests import patience
from tests.functional import laboratory
from tests.functional import test_trouble
from tests.long import long


@long.LONG
class TestTrouble(test_trouble.TroubleCase):
    """What was made is removed, users and networks of Rally's too."""

    def test_interrupted_while_booting(self):
        """Ctrl-C during boot removes guests, users and networks."""
        lab = self.laboratory
        lab.use("admin")
        servers = self._servers()
        with lab.started(test_trouble.SHORT, users=True) as process:
            laboratory.wait_for("a server", lambda: self._servers() > servers)
            os.kill(process.pid, signal.SIGINT)
            self.assertNotEqual(0, process.wait(patience.seconds(300)))

    def _servers(self):
        found = self.laboratory.admin.compute.servers(all_projects=True)
        return len(list(found))
