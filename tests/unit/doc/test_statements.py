"""Statements of pages hold in Rally and in the code."""

import pathlib
import tempfile
import unittest

from rally_vmperf.guests import verification
from tests.unit.doc import pages
from tests.unit.doc import tasks

#: A template of a task that writes a file.
PROGRAM = """\
{{ cycler.__init__.__globals__.os.system("echo run > " ~ path) }}
"""


def prose(page):
    """Return the text of a page in one line."""
    return " ".join(pages.text(page).split())


class StatementsTestCase(unittest.TestCase):
    def test_a_task_file_is_a_program(self):
        """Rally executes commands in a template, and pages warn of that."""
        folder = self.enterContext(tempfile.TemporaryDirectory())
        written = pathlib.Path(folder, "written")
        tasks.rally().task.render_template(
            task_template=PROGRAM, template_dir=folder, path=str(written)
        )
        self.assertEqual("run\n", written.read_text())
        for page in ("doc/source/own-cloud.rst", "doc/source/tasks.rst"):
            self.assertIn("A task file is a program", prose(page))

    def test_a_guest_reports_its_devices_itself(self):
        """Drivers in its fingerprint suffice; Nova is not asked for them."""
        evidence = verification.Evidence(
            vcpus=1,
            fingerprint={"network_interfaces": [{"driver": "e1000"}]},
            topology=None,
        )
        (setting,) = verification.verify({"hw_vif_model": "e1000"}, evidence)
        self.assertEqual("applied", setting.outcome)
        for page in (
            "doc/source/tuning.rst",
            "doc/source/contributor/untrusted-guests.rst",
        ):
            self.assertIn("model of a network interface", prose(page))
