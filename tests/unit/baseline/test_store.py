# SPDX-License-Identifier: Apache-2.0
"""Tests of the registry of baselines."""

import errno
import json
import os
import pathlib
import tempfile
import threading
import unittest
from unittest import mock

import ddt

from rally_vmperf.baseline import document
from rally_vmperf.baseline import store
from tests.unit import made


def _write(**changes):
    """Return the JSON text of a baseline with some keys changed."""
    return json.dumps(made.document(made.baseline(), **changes))


def _write_entry(**changes):
    """Return the JSON text of a baseline with some keys of its entry."""
    (entry,) = made.document(made.baseline())["entries"]
    return _write(entries=[{**entry, **changes}])


@ddt.ddt
class TestStore(unittest.TestCase):
    """Documents are registered whole, read back checked, never lost."""

    def setUp(self):
        """Make an empty folder."""
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name, "baselines")
        self.store = store.Store(self.folder)

    def test_load_returns_what_was_saved(self):
        """Nothing is added or lost on disk."""
        self.store.save(made.baseline())
        self.assertEqual(made.baseline(), self.store.load("metal"))
        self.assertEqual(["metal"], self.store.names())

    def test_of_a_class(self):
        """The last recorded one is meant; what cannot be read is not."""
        for name, hour, of_class in (
            ("a", "09", {"machine_class": "r740"}),
            ("b", "11", {"machine_class": "r740"}),
            ("c", "10", {"machine_class": "r740"}),
            ("d", "12", {"machine_class": "r650"}),
            ("e", "13", {}),
        ):
            at = f"2026-01-01T{hour}:00:00+00:00"
            self.store.save(
                made.baseline(name=name, recorded_at=at, **of_class)
            )
        (self.folder / "f.json").write_text("{")
        self.assertEqual("b", self.store.find({"class": "r740"}).name)
        self.assertEqual("c", self.store.find({"name": "c"}).name)
        pattern = r"class 'r7' in .* \(classes: r650, r740\); .* --class r7 "
        with self.assertRaisesRegex(document.BaselineError, pattern):
            self.store.find({"class": "r7"})

    def test_never_overwritten_silently(self):
        """The message says how to do it on purpose."""
        self.store.save(made.baseline())
        other = made.baseline(recorded_at="2026-02-02T00:00:00+00:00")
        with self.assertRaisesRegex(document.BaselineError, "--replace"):
            self.store.save(other)
        with (
            self.assertRaisesRegex(document.BaselineError, "--replace"),
            self.store.reserve("metal"),
        ):
            self.fail("reserved")
        self.assertEqual(made.baseline(), self.store.load("metal"))
        self.store.save(other, replace=True)
        self.assertEqual(other, self.store.load("metal"))

    def test_a_name_is_recorded_by_one_at_a_time(self):
        """The second fails before it measures; the first loses nothing."""
        message = "'metal' is being recorded by another process; wait"
        with self.store.reserve("metal"):
            with (
                self.assertRaisesRegex(document.BaselineError, message),
                store.Store(self.folder).reserve("metal", replace=True),
            ):
                self.fail("reserved")
            with self.store.reserve("other"):
                self.store.save(made.baseline())
        self.assertEqual(made.baseline(), self.store.load("metal"))
        self.assertEqual(["metal.json"], os.listdir(self.folder))

    def test_a_folder_that_cannot_be_made(self):
        """It is found before anything is measured."""
        self.folder.parent.joinpath("file").touch()
        registry = store.Store(self.folder.parent / "file" / "baselines")
        with (
            self.assertRaisesRegex(document.BaselineError, "baseline_dir"),
            registry.reserve("metal"),
        ):
            self.fail("reserved")

    def test_a_full_disk_loses_nothing(self):
        """The recording is in the file that the message names."""
        elsewhere = self.folder.parent / "elsewhere"
        elsewhere.mkdir()
        full = OSError(errno.ENOSPC, "No space left on device")
        with (
            mock.patch.object(store.os, "fsync", autospec=True) as fsync,
            mock.patch.object(store.tempfile, "tempdir", str(elsewhere)),
        ):
            fsync.side_effect = full
            with self.assertRaises(document.BaselineError) as caught:
                self.store.save(made.baseline())
        self.assertEqual([], os.listdir(self.folder))
        message_words = str(caught.exception).split()
        self.assertIn(
            "No space left on device; make room", " ".join(message_words)
        )
        os.rename(message_words[-2], message_words[-1])
        self.assertEqual(made.baseline(), self.store.load("metal"))

    def test_of_two_at_once_one_wins(self):
        """One recorder in a race for a name wins; none is mixed."""
        barrier, losers = threading.Barrier(8), []

        def save(number):
            barrier.wait()
            try:
                self.store.save(made.baseline(software={"n": str(number)}))
            except document.BaselineError:
                losers.append(number)

        threads = [threading.Thread(target=save, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(7, len(losers))
        winner = int(self.store.load("metal").software["n"])
        self.assertEqual(set(range(8)) - set(losers), {winner})
        self.assertEqual(
            ["metal.json"], [path.name for path in self.folder.iterdir()]
        )

    def test_unknown_name(self):
        """The message lists the baselines and how to record one."""
        self.store.save(made.baseline())
        with self.assertRaisesRegex(
            document.BaselineError, "registered: metal.*baseline record"
        ):
            self.store.load("other")
        with self.assertRaisesRegex(document.BaselineError, "registered"):
            self.store.delete("other")

    @ddt.data("../evil", "", ".hidden", "a/b", "x" * 65)
    def test_name_that_is_none(self, name):
        """A name is never a path."""
        with self.assertRaisesRegex(document.BaselineError, "baseline name"):
            self.store.load(name)

    @ddt.data(
        ('{"version": 1, "nam', "line 1 column"),
        ("[]", r"\$"),
        ('{"a": NaN}', r"at \$.a: nan: must be a finite"),
        (
            _write(version=7),
            "version 7, of a later",
        ),
        (
            _write(name="other"),
            "contains the name",
        ),
        (
            _write_entry(metrics={}),
            r"\$\.entries\[0\]\.repetitions: .*not among the metrics",
        ),
        (
            _write(recorded_at="yesterday"),
            "yesterday.: must be a time with a zone",
        ),
        (
            _write(recorded_at="2026-01-01T00:00:00"),
            "recorded_at: .*must be a time with a zone",
        ),
        *(
            (
                _write_entry(
                    repetitions={
                        "machines": ["copy-1"],
                        "values": {"cpu.sysbench.rate": [[value]]},
                    }
                ),
                r"\$\.entries\[0\]\.repetitions: cpu.sysbench.rate is",
            )
            for value in (0, -1.0)
        ),
        (
            _write_entry(
                findings=[{"kind": "new", "subject": "", "detail": ""}]
            ),
            "Unknown kind of finding 'new'",
        ),
        *(
            (
                _write(machine={"name": "m", "fingerprint": {key: value}}),
                rf"\$\.machine\.fingerprint\.{key}",
            )
            for key, value in (
                ("threads", "16"),
                ("threads", 16.0),
                ("threads", -1),
                ("memory_bytes", "8 GiB"),
                ("memory_bytes", True),
                ("cpu_flags", "aes avx2"),
                ("connected_networks", 7),
                ("connected_networks", [7]),
                ("network_interfaces", 7),
                ("network_interfaces", ["a"]),
                ("network_interfaces", [{"mtu": 1500}]),
                ("disks", {"scheduler": "none"}),
                ("turbo", {}),
                ("transparent_huge_pages", {"always": "x"}),
                ("smt", 1),
            )
        ),
    )
    @ddt.unpack
    def test_damaged_or_foreign(self, text, place):
        """The message names the file and the place in it."""
        self.folder.mkdir()
        (self.folder / "metal.json").write_text(text)
        with self.assertRaisesRegex(
            document.BaselineError, f"metal.json.*{place}"
        ):
            self.store.load("metal")
        self.store.delete("metal")
        self.assertEqual([], self.store.names())
