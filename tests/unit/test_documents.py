# SPDX-License-Identifier: Apache-2.0
"""Tests of the loader of documents of others."""

import json
import os
import pathlib
import tempfile
import unittest

import ddt
import hypothesis
from hypothesis import strategies

from rally_vmperf import documents
from rally_vmperf.baseline import store
from rally_vmperf.bundles import bundle
from rally_vmperf.execution import assignment
from rally_vmperf.guests import errors
from rally_vmperf.guests import schema
from rally_vmperf.guests.cleanup import killed
from rally_vmperf.guests.cleanup import ledger
from rally_vmperf.machines import controller
from rally_vmperf.plugins import contexts
from rally_vmperf.questions import limits_file
from rally_vmperf.questions.common import task
from rally_vmperf.records import sources

#: Nine lines of YAML that stand for nine to the ninth values.
BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{new}: &{new} [{','.join([f'*{old}'] * 9)}]\n"
    for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)
JSON = {
    "nothing": (b"", "line 1 column 1"),
    "half": (b'{"a": [1,', "line 1 column"),
    "no text": (b"\xff\xfe", "byte 0 is not UTF-8"),
    "deep": (b"[" * 100_000, "levels"),
    "deeper than needed": (b"[" * 70 + b"]" * 70, r"\$\[0\].*levels"),
    "many digits": (b"[1" + b"0" * 5000 + b"]", "digits"),
    "400 digits": (
        b"[1" + b"0" * 400 + b"]",
        r"at \$\[0\]: must be a finite number",
    ),
    "400 digits and a point": (
        b"1" + b"0" * 400 + b".0",
        r"at \$: inf: must be a finite number",
    ),
    "beyond all numbers": (b"1e999", r"at \$: inf: must be a finite number"),
    "no number": (b'{"a": NaN}', r"at \$.a: nan: must be a finite number"),
    "infinite": (b"[-Infinity]", "-inf: must be a finite number"),
    "a key twice": (b'{"a": {"b": 1, "b": 2}}', "key 'b' is duplicated"),
    "half a character": (
        b'{"a": ["\\ud800"]}',
        r"at \$.a\[0\]: a lone",
    ),
}
YAML = {
    "half": ("a: [", "line 1 column"),
    "bomb": (BOMB, r"at \$.*values"),
    "within itself": ("&a [*a]", "levels"),
    "deep": ("[" * 5000, "levels"),
    "deep by lines": ("- " * 3000, "levels"),
    "an object": ("!!python/object:os.system x", "line 1 column 1"),
    "many digits": ("1" * 5000, "digit"),
    "in base 60": ("1:" * 3000 + "1", r"at \$: must be a finite number"),
    "in base 16": ("[0x" + "f" * 5000 + "]", r"at \$\[0\]: must be a finite"),
    "half a character": ('a: "\\ud800"', r"at \$.a: a lone surrogate"),
    "no date": ("2026-13-45", "month"),
    "no number": (".nan", "finite"),
    "a key twice": ("x:\n  {a: 1, a: 2}", "line 2 column 3: key 'a' is dup"),
    "no key": ("? [1]\n: 2", "unhashable"),
    "too long": (" " * (1 << 23), "4194304"),
    "a wrong tag": ("!!int x", "invalid literal"),
}


class FolderTestCase(unittest.TestCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def check_line(self, error, *fragments):
        for word in fragments:
            self.assertIn(word, str(error))
        self.assertNotIn("\n", str(error))
        self.assertLess(len(str(error)), 1000)


@ddt.ddt
class TestDocuments(FolderTestCase):
    """The error of any document is one line that names it."""

    @ddt.named_data(*((name, *case) for name, case in JSON.items()))
    @ddt.unpack
    def test_json(self, content, reason):
        with self.assertRaisesRegex(
            documents.DocumentError, f"^that is damaged: .*{reason}"
        ) as caught:
            documents.parse_json(content, "that")
        self.check_line(caught.exception)

    @ddt.named_data(*((name, *case) for name, case in YAML.items()))
    @ddt.unpack
    def test_yaml(self, content, reason):
        with self.assertRaisesRegex(
            documents.DocumentError, f"^that is .*{reason}"
        ) as caught:
            documents.parse_yaml(content, "that")
        self.check_line(caught.exception)

    @hypothesis.given(strategies.binary())
    def test_any_bytes(self, content):
        for parse in (documents.parse_json, documents.parse_yaml):
            try:
                parse(content, "that")
            except documents.DocumentError as error:
                self.check_line(error, "that")

    def test_large_documents(self):
        """JSON is bounded by its size in bytes, YAML by its values, too."""
        numbers = list(range(200_000))
        text = json.dumps(numbers)
        self.assertEqual(numbers, documents.parse_json(text, "that"))
        with self.assertRaisesRegex(documents.DocumentError, "100000 values"):
            documents.parse_yaml("[" + "x," * 100_001 + "]", "that")

    def test_many_digits(self):
        """No 64-bit number has them, and nothing depends on it."""
        self.assertEqual(10**50, documents.parse_json("1" + "0" * 50, "that"))

    def test_what_is_well(self):
        value = {"a": [1, 2.5, None, True, "\N{GRINNING FACE}"], "b": {}}
        self.assertEqual(
            value, documents.parse_json(json.dumps(value), "that")
        )
        self.assertEqual(
            {"a": {"x": 1}, "b": {"x": 1}, "c": {"x": 2}},
            documents.parse_yaml("a: &a {x: 1}\nb: *a\nc: {<<: *a, x: 2}", ""),
        )

    def test_texts(self):
        path = self.folder / "text"
        path.write_bytes("a: \N{GRINNING FACE}\n".encode())
        self.assertEqual("a: \N{GRINNING FACE}\n", documents.read_text(path))
        path.write_bytes(b"a: \xff\n")
        with self.assertRaises(documents.DocumentError) as caught:
            documents.read_text(path)
        self.check_line(caught.exception, f"{path}: byte 3 is not UTF-8")

    def test_what_is_no_file(self):
        """A folder, a broken link, a pipe, and more than is read."""
        made = {
            "folder": (pathlib.Path.mkdir, "Is a directory"),
            "link": (lambda path: path.symlink_to("nowhere"), "broken link"),
            "pipe": (os.mkfifo, "is not a regular file"),
            "large": (lambda path: path.write_bytes(b" " * 99), "98 bytes"),
        }
        for name, (make, reason) in made.items():
            with self.subTest(name):
                path = self.folder / name
                make(path)
                with self.assertRaises(documents.DocumentError) as caught:
                    documents.read_json(path, 98)
                self.check_line(caught.exception, str(path), reason)
                self.assertNotIsInstance(
                    caught.exception, documents.NoDocumentError
                )
        with self.assertRaises(documents.NoDocumentError):
            documents.read_json(self.folder / "none")


@ddt.ddt
class TestReaders(FolderTestCase):
    """All of them read by the one loader, and name the file."""

    def readers(self):
        """Return the files and what reads each."""
        baselines = store.Store(self.folder)
        owners = ledger.Ledger(self.folder)
        return {
            "bad.json": (lambda _: baselines.load("bad"), "baseline"),
            "results.json": (lambda path: sources.read(str(path), ()), ""),
            "journal.jsonl": (lambda path: sources.read(str(path), ()), ""),
            "limits.yaml": (lambda path: limits_file.read_yaml(str(path)), ""),
            "owners/one.json": (lambda _: self.damage(owners), "ledger"),
        }

    def damage(self, owners):
        """Raise what a ledger says of a damaged entry."""
        self.assertEqual([], list(owners.entries()))
        (line,) = owners.list_damaged()
        raise errors.GuestError(line)

    @ddt.named_data(*((name, case[0]) for name, case in JSON.items()))
    def test_damage(self, content):
        (self.folder / "owners").mkdir()
        for name, (read, word) in self.readers().items():
            if content == b"" and name.endswith(("l", "yaml")):
                continue  # nothing is there yet
            with self.subTest(name):
                path = self.folder / name
                path.write_bytes(content + b"\n")
                try:
                    read(path)
                except documents.errors.VMPerfError as error:
                    self.check_line(error, path.name, word)
                else:
                    # What JSON lacks, YAML may have.
                    self.assertEqual("limits.yaml", name)

    def test_a_folder_and_a_broken_link(self):
        (self.folder / "owners").mkdir()
        for name, (read, word) in self.readers().items():
            for make, unmake in (
                (pathlib.Path.mkdir, pathlib.Path.rmdir),
                (lambda path: path.symlink_to("nowhere"), pathlib.Path.unlink),
            ):
                with self.subTest(name):
                    path = self.folder / name
                    make(path)
                    with self.assertRaises(
                        documents.errors.VMPerfError
                    ) as caught:
                        read(path)
                    self.check_line(caught.exception, path.name, word)
                    unmake(path)


class TestLedger(FolderTestCase):
    """One damaged entry hides no other, and stops no reader."""

    def test_others_are_still_there(self):
        owners = ledger.Ledger(self.folder)
        entry = ledger.Entry(
            owner="b",
            task="t",
            prefix="c_rally_12345678",
            auth_url="u",
            project="p",
            started_at="2026-01-01T00:00:00+00:00",
            process=controller.get_current_process(),
        )
        owners.write(entry)
        good = json.loads((owners.directory / "b.json").read_text())
        process = good["process"]
        damages = {
            "a": b"[" * 100_000,
            "c": b'{"process": []}',
            "d": json.dumps({**good, "owner": "../../d"}).encode(),
            "e": json.dumps({**good, "owner": "e", "started_at": "x"}),
            "f": json.dumps({**good, "owner": "f", "prefix": ""}),
            "g": json.dumps(
                {**good, "owner": "g", "process": {**process, "pid": "../1"}}
            ),
        }
        for name, content in damages.items():
            text = content if isinstance(content, str) else content.decode()
            (owners.directory / f"{name}.json").write_text(text)
        (owners.directory / "h.json").mkdir()
        self.assertEqual([entry], list(owners.entries()))
        lines = list(
            killed.report_killed_runs(owners, {"auth_url": "u"}, admin=True)
        )
        self.assertEqual([*damages, "h"], [_stem(line) for line in lines])
        for line in lines:
            self.check_line(line, "delete the file")

    def test_an_owner_that_leads_outside(self):
        owners = ledger.Ledger(self.folder)
        victim = self.folder / "victim.json"
        victim.write_text("mine")
        for owner in ("../victim", "..", "", "a/b", "a\n", "/etc/passwd"):
            with self.assertRaisesRegex(
                errors.GuestError, "not a valid identifier"
            ):
                owners.drop(owner)
        self.assertEqual("mine", victim.read_text())


def _stem(line):
    return pathlib.Path(line.split()[1]).stem


class TestPatterns(unittest.TestCase):
    """No schema takes a line's end where it ends a pattern."""

    def test_no_line_passes(self):
        schemas = {
            "bundle": bundle.SCHEMA,
            "guests": schema.PROPERTIES,
            "context": contexts.Baseline.CONFIG_SCHEMA,
            "task": vars(task),
            "workloads": vars(assignment),
        }
        for name, json_schema in schemas.items():
            for pattern in _patterns(json_schema):
                with self.subTest(name, pattern=pattern):
                    self.assertTrue(pattern.endswith(r"$(?!\n)"), pattern)


def _patterns(rule):
    if isinstance(rule, dict):
        pattern = rule.get("pattern")
        yield from [pattern] if isinstance(pattern, str) else []
        for subschema in rule.values():
            if not isinstance(subschema, type(unittest)):
                yield from _patterns(subschema)
    elif isinstance(rule, list | tuple):
        for subschema in rule:
            yield from _patterns(subschema)
