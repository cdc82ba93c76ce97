# SPDX-License-Identifier: Apache-2.0
import contextlib
import io
import json
import os
import pathlib
import tempfile
import unittest
from unittest import mock

from rally_vmperf import errors
from rally_vmperf.baseline import store
from rally_vmperf.cmd import rally_api
from rally_vmperf.cmd.baselines import baseline_import
from tests.unit.workloads import golden


def data(name, which=""):
    return which + str(golden.DATA / name)


class RawTestCase(unittest.TestCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.registry = store.Store(self.folder / "baselines")
        self.enterContext(
            mock.patch.object(
                rally_api,
                "open_baseline_store",
                autospec=True,
                return_value=self.registry,
            )
        )

    def write(self, name, content):
        path = self.folder / name
        path.write_text(content)
        return str(path)

    def run_command(self, kind, *arguments):
        self.app = mock.Mock(stdout=io.StringIO(), stderr=io.StringIO())
        command = kind(self.app, None)
        parsed = command.get_parser("x").parse_args(arguments)
        return command, command.take_action(parsed)

    def register(self, *arguments):
        files = arguments or (data("dd-2019-all-none.txt"),)
        self.run_command(baseline_import.Import, "metal", *files)
        return self.app.stdout.getvalue()

    def test_what_is_registered(self):
        fingerprint = self.write("f.json", json.dumps({"cpu_model": "E5"}))
        output = self.register(
            data("mbw-r730xd-2019-baremetal.txt", "mbw:version=1.4="),
            *("--fingerprint", fingerprint, "--machine", "r730xd"),
            *("--class", "r730"),
        )
        self.assertIn("mbw: 1 repetition; unknown: shape, limited_by", output)
        content = self.registry.load("metal")
        self.assertEqual(content, self.registry.find({"class": "r730"}))
        self.assertEqual("r730xd", content.machine.name)
        self.assertEqual({"cpu_model": "E5"}, content.machine.fingerprint)
        with self.assertRaisesRegex(errors.VMPerfError, "--replace"):
            self.register()
        self.register(data("dd-2019-all-none.txt"), "--replace")

    def test_the_version_that_printed_it(self):
        """Versions have a dot in them, as names of files have."""
        _, _, printed = (
            (golden.DATA / "mbw-1.2.2.txt").read_text().partition("\n")
        )
        old = self.write("mbw.old", printed)
        for name, argument in (
            ("as-1.4", f"mbw:version=1.4={old}"),
            ("as-1.2", f"mbw:version=1.2={old}"),
        ):
            self.run_command(baseline_import.Import, name, argument)
        plain, swapped = (
            {
                metric.name: values
                for metric, values in self.registry.load(name)
                .entries[0]
                .collect_values()
                .items()
            }
            for name in ("as-1.4", "as-1.2")
        )
        self.assertEqual(
            plain["memory.mbw.memcpy.bandwidth"],
            swapped["memory.mbw.dumb.bandwidth"],
        )

    def test_results_that_are_omitted_are_named(self):
        """The numbers are constructed."""
        path = data("mbw-1.2.2-constructed-default.txt")
        warned = io.StringIO()
        with contextlib.redirect_stderr(warned):
            self.run_command(
                baseline_import.Import, "old", f"mbw:version=1.2={path}"
            )
        self.assertEqual(
            f"{path}: mcblock is omitted: before mbw 1.4 it copies "
            "only the first block repeatedly\n",
            warned.getvalue(),
        )

    def test_refused(self):
        damaged = self.write("damaged", "[")
        missing = str(self.folder / "missing")
        pipe = str(self.folder / "pipe")
        os.mkfifo(pipe)
        link = self.folder / "link"
        link.symlink_to(data("dd-2019-all-none.txt"))
        for arguments, message in (
            ((missing,), ".*/missing: No such file"),
            ((f"dd={missing}",), ".*/missing: No such file"),
            ((pipe,), ".*/pipe: is not a regular file"),
            ((damaged,), ".*/damaged: the output is not recognised: '\\['"),
            ((f"mbw:version=1.4={damaged}",), ".*/damaged: mbw: has no runs"),
            ((f"fia={damaged}",), "'fia' is not a tool whose outputs are"),
            ((f"dd:speed=3={damaged}",), "'speed' is not an argument that"),
            (
                (data("dd-2019-all-none.txt"),) * 2,
                ".*-none.txt: was given twice",
            ),
            (
                (str(link), data("dd-2019-all-none.txt")),
                ".*-none.txt: was given twice",
            ),
            (
                (data("dd-2019-all-none.txt"), "--fingerprint", damaged),
                "--fingerprint .*/damaged is damaged: line 1",
            ),
        ):
            with self.assertRaisesRegex(errors.VMPerfError, message):
                self.run_command(baseline_import.Import, "x", *arguments)
        self.assertEqual([], self.registry.names())

    def test_files_with_equal_content(self):
        """Coarse tools print equal outputs; a person may have copied one."""
        original = data("dd-2019-all-none.txt")
        copy = self.write("copy", pathlib.Path(original).read_text())
        with contextlib.redirect_stderr(io.StringIO()) as stderr:
            self.register(original, copy)
        self.assertEqual(
            f"{copy}: equals {original}; if it is a copy, remove it\n",
            stderr.getvalue(),
        )
        (entry,) = self.registry.load("metal").entries
        self.assertEqual(10, len(entry.reference.repetitions))

    def test_large_file(self):
        """Only as much is read as a parser accepts."""
        large = self.write("large", "")
        os.truncate(large, 1 << 40)
        with self.assertRaisesRegex(
            errors.VMPerfError, ".*/large: the output has more"
        ):
            self.register(f"dd:direction=write={large}")
