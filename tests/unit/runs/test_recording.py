"""Tests of what bare metal says of itself."""

import asyncio
import json
import pathlib
import re
import tempfile
import unittest

import ddt

from rally_vmperf.baseline import matching
from rally_vmperf.execution import assignment
from rally_vmperf.machines import base
from rally_vmperf.machines import local
from rally_vmperf.machines import testing
from rally_vmperf.records import journal
from rally_vmperf.runs import recording
from tests.unit.execution import test_measure


@ddt.ddt
class TestNode(unittest.TestCase):
    """A host name is one, and nothing else."""

    @ddt.data(
        ("compute-1.example.org\n", "compute-1.example.org"),
        ("=cmd|'/C calc'!A0\n", "?cmd???C?calc??A0"),
        ("\x1b[2Jhost", "??2Jhost"),
        ("h\u00f4te", "h?te"),
        ("x" * 1000, "x" * 255),
    )
    @ddt.unpack
    def test_name(self, said, name):
        """Other characters stand as question marks."""
        machine = testing.FakeMachine("metal", {"uname": said})
        self.assertEqual(name, asyncio.run(recording._node(machine)))


class Watched(local.Local):
    """This computer, and what it was told to run."""

    def __init__(self):
        super().__init__("metal")
        self.told = []

    async def run(self, argv, **arguments):
        self.told.append(list(argv))
        return await super().run(argv, **arguments)


class TestFolder(unittest.TestCase):
    """Where copies work is on their command lines, and nowhere else."""

    def record(self, parent):
        """Record one copy; return what was told and what came of it."""
        machine = Watched()
        folder = self.enterContext(tempfile.TemporaryDirectory())
        part = recording.Part(
            recording.Plan(
                baseline="metal",
                session="0" * 32,
                assignments=(assignment.Assignment(test_measure.Echo(), {}),),
                shape=matching.Shape(vcpus=1, memory_mib=64, copies=1),
                repetitions=1,
                warmup=0,
                folder=parent,
                held=False,
                options={},
            ),
            journal.Journal(folder, "one"),
        )
        part.measure(
            lambda: machine, None, lambda line: None, lambda line: None
        )
        return machine.told, [[part.records, part.details]]

    def test_the_record_does_not_know_it(self):
        """Two recordings differ in nothing but the folders' names."""
        parent = self.enterContext(tempfile.TemporaryDirectory())
        name = re.compile(
            rf"{parent}/rally-vmperf-\w{{10}}(/echo(/\.job-\w+-\w{{8}})?)?"
        )
        commands, entries = [], []
        for _ in range(2):
            told, kept = self.record(parent)
            said = json.dumps(kept)
            self.assertNotIn(parent, said)
            self.assertNotIn("rally-vmperf-", said)
            (((record,), _),) = kept
            (only,) = record["conditions"]
            entries.append([record["workloads"], sorted(only["samples"])])
            jobs = [argv[4:] for argv in told if argv[3:4] == ["job.bash"]]
            commands.append(
                sorted(
                    [name.sub("FOLDER", re.sub(r"^\d+\.\d+$", "TIME", word))
                     for word in words]
                    for words in jobs
                )
            )  # fmt: skip
            self.assertEqual([], list(pathlib.Path(parent).iterdir()))
        self.assertEqual(*entries)
        self.assertEqual(*commands)
        self.assertIn("FOLDER", str(commands[0]))
        self.assertNotIn(parent, str(commands[0]))

    def test_a_folder_that_others_can_replace(self):
        """Nothing is measured, and nothing is left."""
        parent = pathlib.Path(
            self.enterContext(tempfile.TemporaryDirectory()), "below"
        )
        parent.mkdir()
        parent.chmod(0o777)
        with self.assertRaisesRegex(
            base.MachineError, f"^metal: folder {parent}: .* written by others"
        ):
            self.record(str(parent))
        self.assertEqual([], list(parent.iterdir()))
