# SPDX-License-Identifier: Apache-2.0
"""Tests of options with files that cannot be read as such.

Commands read files more than once, and their size before the content, so that
they reject pipes. None waits for a writer.
"""

import os
import pathlib

import tests
from tests.unit.cmd import command_lines
from tests.unit.questions import golden_runs

ROOT = pathlib.Path(tests.__file__).parents[1]
RUN = str(golden_runs.journal("density-two-levels"))
TASK = str(ROOT / "tasks" / "kvm-overhead.yaml")
#: An output of dd, which is written into the directory of the test.
OUTPUT = "dd:direction=read=dd.txt"
DD = (
    "1+0 records in\n1+0 records out\n"
    "1048576 bytes (1.0 MB, 1.0 MiB) copied, 1 s, 1.0 MB/s\n"
)
_RECORD = ("baseline", "record", "x", "--local")
_GUEST = (*_RECORD, *("--cpus", "1", "--memory", "64", "--workload", "mbw"))
_CLEANUP = ("cleanup", "--host", "root@192.0.2.1")
_REPORT = ("-o", "report.html")
#: Command lines, in which FILE is replaced.
LINES = (
    ("judge", "FILE"),
    ("report", "FILE", *_REPORT),
    ("audit", "FILE"),
    ("compare", RUN, "FILE"),
    ("judge", RUN, "--limits", "FILE"),
    ("report", RUN, "--limits", "FILE", *_REPORT),
    ("compare", RUN, RUN, "--limits", "FILE"),
    ("audit", RUN, "--acknowledge", "FILE"),
    ("audit", RUN, "--placement", "FILE"),
    ("audit", RUN, "--earlier", "FILE"),
    ("plan", "FILE"),
    ("run", "FILE"),
    ("plan", TASK, "--task-args-file", "FILE"),
    ("run", TASK, "--task-args-file", "FILE"),
    (*_RECORD, "--task", "FILE"),
    (*_RECORD, "--task", TASK, "--task-args-file", "FILE"),
    (*_GUEST, "--bundle", "FILE"),
    (*_CLEANUP, "--key-file", "FILE"),
    (*_CLEANUP, "--known-hosts", "FILE"),
    ("baseline", "import", "n", "FILE"),
    ("baseline", "import", "n", "dd:direction=read=FILE"),
    ("baseline", "import", "n", OUTPUT, "--fingerprint", "FILE"),
    ("judge", "--raw", "--guest", "FILE", "--bare-metal", OUTPUT),
    ("judge", "--raw", "--guest", OUTPUT, "--bare-metal", "FILE"),
    ("report", "--raw", "--guest", "FILE", "--bare-metal", OUTPUT, *_REPORT),
    (
        *("judge", "--raw", "--guest", OUTPUT, "--bare-metal", OUTPUT),
        *("--limits", "FILE"),
    ),
)


#: Options of files that can be empty, or that are read during a connection.
_CAN_BE_EMPTY = {"--task-args-file", "--key-file", "--known-hosts"}
#: File -> the reason in the error.
REASONS = {
    "fifo": "is not a regular file",
    # Process substitution, as in: judge --limits <(printf ...).
    "/dev/fd": "is not a regular file",
    # An audit reads the journals of a directory, which has none here.
    "directory": "Is a directory|no run to audit in",
    "empty": "is damaged|[ :]empty file|has no|is not recognised|: is empty;",
}


class InputFileTestCase(command_lines.CommandLineTestCase):
    def test_every_option(self):
        """The error is one line with the file and the reason."""
        (self.folder / "dd.txt").write_text(DD)
        (self.folder / "empty").touch()
        (self.folder / "directory").mkdir()
        os.mkfifo(self.folder / "fifo")
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        with os.fdopen(writer, "w") as stream:
            stream.write("{}\n")
        paths = {name: str(self.folder / name) for name in REASONS}
        paths["/dev/fd"] = f"/dev/fd/{reader}"
        cases = [
            (paths[name], reason, line)
            for name, reason in REASONS.items()
            for line in LINES
            if name != "empty" or _CAN_BE_EMPTY.isdisjoint(line)
        ]
        results = self.run_lines(
            (
                [word.replace("FILE", path) for word in line]
                for path, _, line in cases
            ),
            (reader,),
        )
        for (path, reason, line), (code, text) in zip(
            cases, results, strict=True
        ):
            with self.subTest(line, path=path):
                self.assertEqual(1, code, text)
                self.assertRegex(text, r"(\A|\n)rally-vmperf: [^\n]*\n\Z")
                *_, last = text.splitlines()
                self.assertIn(path, last)
                self.assertRegex(last, reason)
                self.assertNotRegex(last, "unexpected|Traceback")
