"""A state root and a process table for each test."""

import pathlib
import tempfile
import unittest

from rally_vmperf import removal
from rally_vmperf.cloud.system import layout
from rally_vmperf.cloud.system import procfs
from tests.unit.cloud import fakes


class CloudTestCase(unittest.TestCase):
    """Gives a test folders of its own."""

    def setUp(self) -> None:
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.folders = layout.Layout(self.folder / "root")
        self.folders.make_folders()
        removal.mark(self.folders.root)
        proc = self.folder / "proc"
        proc.mkdir()
        self.proc = fakes.FakeProc(proc)
        self.processes = procfs.ProcessTable(proc)
        self.findings: list[str] = []

    def found(self, damage: str, done: str) -> None:
        """Keep what would be said of a damage."""
        self.findings.append(f"{damage}; {done}")
