# SPDX-License-Identifier: Apache-2.0
"""Tests of the files next to the journal: complete or absent."""

import dataclasses
import gzip
import hashlib
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import unittest

from rally_vmperf import documents
from rally_vmperf.measurement import command_result
from rally_vmperf.measurement.samples import sample
from rally_vmperf.records import files
from rally_vmperf.records import model
from tests.unit.records import full_disk
from tests.unit.records import raw

#: What no program prints alike twice, so that nothing makes it small.
HEX = [{"machine": f"g{n}", "stdout": os.urandom(900).hex()} for n in range(9)]


RUN = command_result.CommandRun(
    workload="fio db",
    machine="g1",
    result=command_result.CommandResult(
        name="randread",
        exit_status=3,
        seconds=2.0,
        started=100.0,
        ended=102.0,
        stdout="out",
        stderr="err",
        user=0.5,
        system=0.25,
    ),
    work=7.0,
    work_unit="ops",
    clock_offset=-1.0,
    clock_error=0.125,
)
SERIES = sample.Series(
    metric=sample.Metric(name="m", unit="B/s", better="higher"),
    points=((1.0, 2.0), (2.0, 4.0)),
)


class TestRawOutputs(unittest.TestCase):
    """A file has all that was added, whatever comes after."""

    def setUp(self):
        """Name a file in a folder that is not there yet."""
        super().setUp()
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.path = pathlib.Path(folder, "new", "w-1.json.gz")
        self.failed = []

    def open(self):
        """Return the file, open."""
        return files.RawOutputs(self.path, self.failed.append)

    def test_closed_it_is_one_document(self):
        """With every output, in the order in which they came."""
        added = [
            {"machine": "g1", "stdout": "line\nline\x1b\n"},
            {"guests": 2, "machine": "g2", "stdout": "\ufffd\u2028é"},
        ]
        file = self.open()
        for output in added:
            file.add(output)
        digest = hashlib.sha256(self.path.read_bytes()).hexdigest()
        raw_file = file.close()
        self.assertEqual("w-1.json.gz", raw_file.name)
        self.assertNotEqual(digest, raw_file.sha256)
        with gzip.open(self.path, "rt") as stream:
            self.assertEqual(
                {"outputs": added, "runs": [], "readings": []},
                json.load(stream),
            )
        self.assertEqual(
            {"outputs": added, "runs": [], "readings": []},
            files.read(self.path.parent, raw_file),
        )
        self.assertEqual([], self.failed)

    def test_output_after_the_end(self):
        """A command that an interrupt ended late changes nothing."""
        file = self.open()
        file.add_output({}, RUN)
        raw_file = file.close()
        file.add_output({}, RUN)
        (output,) = files.read(self.path.parent, raw_file)["outputs"]
        self.assertEqual("out", output["stdout"])
        self.assertEqual([], self.failed)

    def test_results_of_two_conditions(self):
        """Each document has its keys in this order."""
        file = self.open()
        for guests in (1, 2):
            axes = {"guests": guests}
            file.add_output(axes, RUN)
            file.add_results(axes, [RUN], [("g1", SERIES)])
        document = files.read(self.path.parent, file.close())
        for position, guests in enumerate((1, 2)):
            origin = {
                "axes": {"guests": guests},
                "workload": "fio db",
                "command": "randread",
                "machine": "g1",
            }
            times = {
                "started": 100.0,
                "ended": 102.0,
                "seconds": 2.0,
                "exit_status": 3,
                "user": 0.5,
                "system": 0.25,
                "work": 7.0,
                "work_unit": "ops",
                "clock_offset": -1.0,
                "clock_error": 0.125,
            }
            series = {
                "axes": {"guests": guests},
                "machine": "g1",
                "metric": "m",
                "unit": "B/s",
                "points": [[1.0, 2.0], [2.0, 4.0]],
            }
            for name, expected in (
                ("outputs", {**origin, "stdout": "out", "stderr": "err"}),
                ("runs", {**origin, **times}),
                ("readings", series),
            ):
                self.assertEqual(
                    json.dumps(expected), json.dumps(document[name][position])
                )

    def test_the_largest_sound_one(self):
        """100 metrics of 16 guests, each with a series and an output."""
        file = files.RawOutputs(self.path, self.failed.append)
        runs, readings = [], []
        for guest in range(16):
            result = dataclasses.replace(
                RUN.result, stdout=json.dumps({"values": [1.25] * 4000})
            )
            run = dataclasses.replace(
                RUN, machine=f"guest-{guest}", result=result
            )
            file.add_output({"guests": 16}, run)
            runs.append(run)
            readings += [
                (
                    f"guest-{guest}",
                    sample.Series(
                        metric=sample.Metric(
                            f"disk.fio.m{number}.iops", "ops/s", "higher"
                        ),
                        points=tuple(
                            (second + 0.001, 1e4 + number * second / 7)
                            for second in range(1, 121)
                        ),
                    ),
                )
                for number in range(100)
            ]
        file.add_results({"guests": 16}, runs, readings)
        content = files.read(self.path.parent, file.close())
        self.assertEqual([], self.failed)
        self.assertEqual(1600, len(content["readings"]))

    def test_nothing_was_printed(self):
        """It is a document all the same."""
        self.open().close()
        self.assertEqual([], raw.outputs(self.path))

    def test_it_is_small(self):
        """Equal facts of machines are stored once."""
        file = self.open()
        for _ in range(100):
            file.add(HEX[0])
        file.close()
        self.assertLess(self.path.stat().st_size, 10000)

    def test_each_is_there_as_soon_as_it_was_added(self):
        """Nothing waits for the next one, or for the end."""
        file = self.open()
        self.assertEqual([], raw.so_far(self.path))
        for number, output in enumerate(HEX, 1):
            file.add(output)
            self.assertEqual(HEX[:number], raw.so_far(self.path))
        file.close()
        self.assertEqual(HEX, raw.outputs(self.path))

    def test_killed_in_the_middle(self):
        """All complete additions can be read."""
        script = (
            "import os, pathlib, signal, sys\n"
            "from rally_vmperf.records import files\n"
            "path = pathlib.Path(sys.argv[1])\n"
            "file = files.RawOutputs(path, print)\n"
            "file.add({'stdout': 'one'})\n"
            "file.add({'stdout': 'two'})\n"
            "os.kill(os.getpid(), signal.SIGKILL)\n"
        )
        process = subprocess.run(
            [sys.executable, "-c", script, str(self.path)], check=False
        )
        self.assertEqual(-signal.SIGKILL, process.returncode)
        self.assertEqual(
            [{"stdout": "one"}, {"stdout": "two"}], raw.so_far(self.path)
        )

    def test_full_disk_is_reported_once(self):
        """Half a file is left neither then nor when there is room again."""
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        full_disk.limit(self, 4000)
        file = self.open()
        for output in HEX:
            file.add(output)
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        file.add(HEX[0])
        self.assertIsNone(file.close())
        self.assertEqual([], os.listdir(self.path.parent))
        (message,) = self.failed
        self.assertRegex(message, "^raw outputs .*w-1.json.gz: .*journal_dir")
        self.assertNotIn("\n", message)

    def test_full_disk_at_the_end(self):
        """A document without its end is not called one."""
        file = self.open()
        file.add(HEX[0])
        full_disk.limit(self, self.path.stat().st_size)
        self.assertIsNone(file.close())
        self.assertEqual([], os.listdir(self.path.parent))
        self.assertEqual(1, len(self.failed))

    def test_a_folder_that_cannot_be_made(self):
        """It is reported once, and the run continues."""
        self.path.parent.write_text("a file")
        file = self.open()
        file.add(HEX[0])
        self.assertIsNone(file.close())
        self.assertEqual(1, len(self.failed))
        self.assertEqual("a file", self.path.parent.read_text())


class TestMachines(unittest.TestCase):
    """Descriptions of machines are written once, and read with a checksum."""

    DETAILS = {"g1": {"fingerprint": {"kernel": "6.1"}}}  # noqa: RUF012

    def setUp(self):
        """Write a file into a folder that is not there yet."""
        super().setUp()
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.folder = pathlib.Path(folder, "new")
        self.entry = self.write()
        self.path = self.folder / self.entry.name

    def write(self, **details):
        """Return the entry of a file with these details."""
        details = {**self.DETAILS, **details}
        return files.write_machines(self.folder, details, self.fail)

    def test_read(self):
        """The written description is read."""
        description = files.read(self.folder, self.entry)
        self.assertEqual({"machines": self.DETAILS}, description)

    def test_named_after_its_content(self):
        """The same machines have one file, others another."""
        before = self.path.stat()
        self.assertEqual(self.entry, self.write())
        self.assertEqual(before.st_ino, self.path.stat().st_ino)
        other = self.write(g2={})
        self.assertNotEqual(self.entry.name, other.name)
        self.assertEqual(2, len(os.listdir(self.folder)))

    def test_damage_is_repaired_by_the_next_repetition(self):
        """A file that does not match its name is written again."""
        self.path.write_bytes(b"half")
        self.assertEqual(self.entry, self.write())
        files.read(self.folder, self.entry)

    def test_not_read(self):
        """In one line, with the file and what is wrong."""
        whole = self.path.read_bytes()
        digest = hashlib.sha256(b"half").hexdigest()
        wrong = dataclasses.replace(self.entry, sha256=digest)
        for content, entry, folder, message in (
            (whole + b"x", self.entry, self.folder, "its checksum differs"),
            (b"half", wrong, self.folder, "is damaged"),
            (None, self.entry, self.folder, "No such file"),
            (whole, self.entry, None, "unknown directory of the journal"),
            (whole, None, self.folder, "could not be written"),
        ):
            self.path.unlink(missing_ok=True)
            if content is not None:
                self.path.write_bytes(content)
            with self.assertRaisesRegex(
                documents.DocumentError, message
            ) as caught:
                files.read(folder, entry)
            self.assertNotIn("\n", str(caught.exception))

    def test_values_are_counted_before_they_are_parsed(self):
        """A few KiB that unpack to gigabytes of values are rejected."""
        for text, reason in (
            ("[" + "[]," * 2_000_001 + "[]]", "more than 2000000 values"),
            ('{"a": "' + "," * 2_000_001 + '"}', None),
        ):
            content = gzip.compress(text.encode())
            (self.folder / "x.json.gz").write_bytes(content)
            reference = model.FileReference(
                name="x.json.gz", sha256=hashlib.sha256(content).hexdigest()
            )
            if reason is None:
                self.assertIn("a", files.read(self.folder, reference))
                continue
            with self.assertRaisesRegex(documents.DocumentError, reason):
                files.read(self.folder, reference)

    def test_size(self):
        content = os.urandom((8 << 20) + 1)
        (self.folder / "x.json.gz").write_bytes(content)
        reference = model.FileReference(
            name="x.json.gz", sha256=hashlib.sha256(content).hexdigest()
        )
        with self.assertRaisesRegex(
            documents.DocumentError, "x.json.gz has more than 8388608 bytes$"
        ):
            files.read(self.folder, reference)

    def test_pipe_in_its_place(self):
        """It is rejected at once, and replaced by the next repetition."""
        self.path.unlink()
        os.mkfifo(self.path)
        with self.assertRaisesRegex(
            documents.DocumentError, "is not a regular file"
        ):
            files.read(self.folder, self.entry)
        self.write()
        files.read(self.folder, self.entry)

    def test_link_in_its_place(self):
        """It is rejected, even if it leads to the content."""
        moved = self.path.rename(self.folder / "moved")
        self.path.symlink_to(moved)
        with self.assertRaisesRegex(documents.DocumentError, "is a link"):
            files.read(self.folder, self.entry)

    def test_values_of_another_type(self):
        """The place is named."""
        for key, inner, value in (
            ("fingerprint", "cpu_flags", 7),
            ("fingerprint", "network_interfaces", ["eth0"]),
            ("tools", "fio", {"version": 3}),
            ("nova", "hypervisor", ["c1"]),
            ("nova", "host_cpu", 7),
        ):
            entry = self.write(g2={key: {inner: value}})
            place = rf"is damaged: \$\.machines\.g2\.{key}\.{inner}"
            with self.assertRaisesRegex(documents.DocumentError, place):
                files.read(self.folder, entry)

    def test_no_other_folder_is_read(self):
        """A path in a record cannot leave the directory."""
        name = f"../new/{self.entry.name}"
        entry = dataclasses.replace(self.entry, name=name)
        self.assertTrue(files.read(self.folder, entry))
        outside = dataclasses.replace(self.entry, name="../outside.json.gz")
        self.path.rename(self.folder.parent / "outside.json.gz")
        with self.assertRaises(documents.DocumentError):
            files.read(self.folder, outside)

    def test_full_disk(self):
        """It is reported, and no file remains."""
        full_disk.limit(self, 20)
        messages = []
        details = {"g2": os.urandom(900).hex()}
        self.assertIsNone(
            files.write_machines(self.folder, details, messages.append)
        )
        self.assertRegex(messages[0], "^machines .*journal_dir")
        self.assertEqual([self.path.name], os.listdir(self.folder))
