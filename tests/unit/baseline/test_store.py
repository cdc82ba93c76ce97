"""Tests of the registry of baselines."""

import json
import pathlib
import tempfile
import threading
import unittest

import ddt

from rally_vmperf.baseline import document
from rally_vmperf.baseline import store
from tests.unit import made


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

    def test_never_overwritten_silently(self):
        """The message says how to do it on purpose."""
        self.store.save(made.baseline())
        other = made.baseline(recorded_at="2026-02-02T00:00:00+00:00")
        with self.assertRaisesRegex(document.BaselineError, "--replace"):
            self.store.save(other)
        with self.assertRaisesRegex(document.BaselineError, "--replace"):
            self.store.reserve("metal")
        self.assertEqual(made.baseline(), self.store.load("metal"))
        self.store.save(other, replace=True)
        self.assertEqual(other, self.store.load("metal"))

    def test_of_two_at_once_one_wins(self):
        """Racing recorders of one name: one is told, none is mixed."""
        barrier, told = threading.Barrier(8), []

        def save(number):
            barrier.wait()
            try:
                self.store.save(made.baseline(software={"n": str(number)}))
            except document.BaselineError:
                told.append(number)

        threads = [threading.Thread(target=save, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(7, len(told))
        winner = int(self.store.load("metal")["software"]["n"])
        self.assertEqual(set(range(8)) - set(told), {winner})
        self.assertEqual(
            ["metal.json"], [path.name for path in self.folder.iterdir()]
        )

    def test_unknown_name(self):
        """The message tells which there are and how to record one."""
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
        ("[]", r"at \$"),
        (json.dumps(made.baseline(version=7)), r"\$\.version"),
        (json.dumps(made.baseline(name="other")), "says that its name"),
        (
            json.dumps(made.baseline(entries=[made.entry(metrics={})])),
            r"entries\[0\]\.repetitions\[0\]",
        ),
        (json.dumps(made.baseline(recorded_at="yesterday")), "recorded_at"),
        (
            json.dumps(made.baseline(recorded_at="2026-01-01T00:00:00")),
            "no time with a zone",
        ),
        *(
            (
                json.dumps(
                    made.baseline(
                        entries=[
                            made.entry(
                                repetitions=[
                                    [
                                        made.observation(
                                            "c", "cpu.sysbench.rate", value
                                        )
                                    ]
                                ]
                            )
                        ]
                    )
                ),
                r"entries\[0\]\.repetitions\[0\]: cpu.sysbench.rate is",
            )
            for value in (0, -1.0, float("nan"), float("inf"))
        ),
        (
            json.dumps(
                made.baseline(
                    entries=[
                        made.entry(
                            findings=[
                                {"kind": "new", "subject": "", "seen": ""}
                            ]
                        )
                    ]
                )
            ),
            "'new' is no finding",
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
