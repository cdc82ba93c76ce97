# SPDX-License-Identifier: Apache-2.0
"""A record that was written is read with the same value in every field.

This test knows dataclasses and files of JSON only, so that it does not depend
on how records are encoded.
"""

import collections.abc
import copy
import dataclasses
import json
import math
import pathlib
import tempfile
import unittest

import ddt

from rally_vmperf.records import journal
from tests.unit import made

#: Records of runs with all kinds of content.
RECORDS = {
    "overhead": made.records,
    "density": made.density_records,
}


def list_differences(written, read, path="record"):
    """Yield the path of each field whose value was not read as written."""
    if type(read) is object:
        yield f"{path}: lost"
    elif dataclasses.is_dataclass(written):
        if type(written) is not type(read):
            yield f"{path}: {type(written).__name__}, {type(read).__name__}"
            return
        for field in dataclasses.fields(written):
            yield from list_differences(
                getattr(written, field.name),
                getattr(read, field.name),
                f"{path}.{field.name}",
            )
    elif isinstance(written, str) or written is None:
        if written != read:
            yield f"{path}: {written!r}, {read!r}"
    elif isinstance(written, collections.abc.Mapping):
        if [*written] != [*read]:
            yield f"{path}: {[*written]}, {[*read]}"
            return
        for key, value in written.items():
            yield from list_differences(value, read[key], f"{path}[{key!r}]")
    elif isinstance(written, collections.abc.Sequence):
        if len(written) != len(read):
            yield f"{path}: {len(written)} values, {len(read)}"
            return
        for number, value in enumerate(written):
            yield from list_differences(
                value, read[number], f"{path}[{number}]"
            )
    elif isinstance(written, float):
        # A number is written with few digits.
        if not math.isclose(written, read, rel_tol=1e-3, abs_tol=1e-9):
            yield f"{path}: {written!r}, {read!r}"
    elif written != read or type(written) is not type(read):
        yield f"{path}: {written!r}, {read!r}"


def write_and_read(written):
    """Return the records of a journal with these records, and its text."""
    with tempfile.TemporaryDirectory() as folder:
        run = journal.Journal(pathlib.Path(folder), "run")
        for record in written:
            run.append(record)
        return run.read(), run.path.read_text()


@ddt.ddt
class RoundTripTestCase(unittest.TestCase):
    @ddt.data(*RECORDS)
    def test_records(self, name):
        written = [*RECORDS[name]()]
        read, text = write_and_read(written)
        self.assertEqual([], [*list_differences(written, read)])
        for line in text.splitlines():
            self.assertIsInstance(json.loads(line), dict)

    def test_every_field_is_compared(self):
        """A field that is lost is a difference with its path."""
        record, *_ = made.records()
        changed = copy.deepcopy(record)
        fields = [*_list_fields(changed)]
        self.assertGreater(len(fields), 100)
        for owner, name, path in fields:
            kept = getattr(owner, name)
            object.__setattr__(owner, name, object())
            differences = [*list_differences(record, changed)]
            object.__setattr__(owner, name, kept)
            self.assertTrue(
                any(line.startswith(path) for line in differences), path
            )


def _list_fields(value, path="record"):
    """Yield each field of the dataclasses in a value: owner, name, path."""
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            place = f"{path}.{field.name}"
            yield value, field.name, place
            yield from _list_fields(getattr(value, field.name), place)
    elif isinstance(value, collections.abc.Mapping):
        for key, element in value.items():
            yield from _list_fields(element, f"{path}[{key!r}]")
    elif isinstance(value, list | tuple):
        for number, element in enumerate(value):
            yield from _list_fields(element, f"{path}[{number}]")
