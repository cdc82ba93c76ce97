# SPDX-License-Identifier: Apache-2.0
"""Tests for the ledger of owners."""

import dataclasses
import json
import pathlib
import tempfile
import unittest

from rally_vmperf.guests import errors
from rally_vmperf.guests.cleanup import ledger
from rally_vmperf.machines import controller


def entry(owner="1234abcd-1", task="task-1", **options):
    fields = {
        "prefix": f"c_rally_{owner[:8]}",
        "auth_url": "http://keystone/v3",
        "project": "member",
        "started_at": "2026-01-01T12:03:00+00:00",
        "process": controller.get_current_process(),
    }
    return ledger.Entry(owner=owner, task=task, **{**fields, **options})


def dead():
    return dataclasses.replace(controller.get_current_process(), started=1)


def elsewhere():
    return dataclasses.replace(dead(), namespace=1)


class LedgerTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.ledger = ledger.Ledger(self.folder)

    def test_life(self):
        self.assertEqual([], list(self.ledger.entries()))
        self.ledger.write(entry())
        self.assertEqual([entry()], list(self.ledger.entries()))
        self.ledger.drop("1234abcd-1")
        self.ledger.drop("1234abcd-1")
        self.assertEqual([], list(self.ledger.entries()))
        self.assertEqual([], list(self.ledger.directory.iterdir()))

    def test_entries_of_earlier_versions(self):
        """Their processes are unknown."""
        self.ledger.write(entry())
        (path,) = self.ledger.directory.iterdir()
        content = json.loads(path.read_text())
        for key in ("machine_id", "namespace"):
            del content["process"][key]
        path.write_text(json.dumps(content))
        self.assertEqual([], list(self.ledger.list_damaged()))
        (ledger_entry,) = self.ledger.entries()
        self.assertEqual("unknown", ledger_entry.process.state())

    def test_damaged_entries_are_left_out(self):
        self.ledger.write(entry())
        self.ledger.directory.joinpath("x.json").write_text("{")
        self.ledger.directory.joinpath("y.json").write_text("{}")
        self.assertEqual([entry()], list(self.ledger.entries()))

    def test_entry_of_this_process(self):
        credential = {"auth_url": "http://keystone/v3", "tenant_name": None}
        ledger_entry = ledger.Entry.of_this_process(
            "1234abcd-1", "task-1", "c_rally_1234abcd", credential
        )
        self.assertEqual(
            entry(
                project="",
                started_at=ledger_entry.started_at,
                process=ledger_entry.process,
            ),
            ledger_entry,
        )
        self.assertEqual("running", ledger_entry.process.state())
        self.ledger.write(ledger_entry)
        self.assertEqual([ledger_entry], list(self.ledger.entries()))

    def test_unwritable(self):
        self.ledger.directory.write_text("a file")
        with self.assertRaisesRegex(errors.GuestError, "journal_dir"):
            self.ledger.write(entry())
