# SPDX-License-Identifier: Apache-2.0
"""Records are typed objects outside the packages that read and write them."""

import ast
import pathlib
import re
import unittest

import rally_vmperf
from tests.unit import listing

PACKAGE = pathlib.Path(rally_vmperf.__file__).parent
ROOMS = ("cmd", "judging", "plugins", "questions", "report", "tempest_plugin")
#: The types of plain documents.
PLAIN = re.compile(
    r"\b(Any|Json|Arguments|Facts|Config|sources\.Records|object)\b|^dict$|\bdict\b(?!\[)"
)
#: The types of plain documents that no page and no judge knows.
DOCUMENTS = ("Json", "dict[str, t.Any]")
#: The names of records and of their parts.
PARTS = frozenset(
    {
        *("record", "records", "machine", "machines", "guest", "guests"),
        *("condition", "conditions", "reference", "bare_metal", "workload"),
        *("workloads", "shape", "order", "flow", "flows", "samples"),
        *("repetition", "repetitions", "finding", "findings"),
    }
)
#: The workloads of a task, and the guests that a task requests, are arguments
#: of Rally and of Tempest. A reference to an image or a flavor is Nova's.
NOT_RECORDS = frozenset(
    {
        ("cmd/task_file.py", "workload"),
        ("questions/common/question.py", "workload"),
        ("questions/common/task.py", "guests"),
        ("questions/common/task.py", "workload"),
        ("questions/common/task.py", "workloads"),
        ("questions/density/load.py", "workload"),
        ("questions/density/load.py", "workloads"),
        ("report/setting.py", "reference"),
        ("tempest_plugin/tasks.py", "guests"),
        ("tempest_plugin/tasks.py", "workloads"),
    }
)
#: The spellings of a plain record, and of a typed one.
PLAIN_SPELLINGS = (
    "Json",
    "document.Json",
    "dict",
    "list[dict]",
    "dict[str, t.Any]",
    "collections.abc.Mapping[str, t.Any] | None",
    "t.Any",
    "object",
    "sources.Records",
    "documents.Arguments",
    "'dict[str, typing.Any]'",
)
TYPED_SPELLINGS = (
    "model.Record",
    "dict[str, model.Machine]",
    "list[repetition.Repetition] | None",
)


def _list_plain_records(text):
    """Return the parameters and results that are a record as plain JSON."""
    plain = []
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        arguments = node.args
        pairs = [
            (argument.arg, argument.annotation)
            for argument in (
                *arguments.posonlyargs,
                *arguments.args,
                *arguments.kwonlyargs,
                *filter(None, (arguments.vararg, arguments.kwarg)),
            )
        ]
        title = node.name.strip("_").rpartition("_")[2]
        pairs.append((title, node.returns))
        plain += [
            word
            for word, annotation in pairs
            if word.rstrip("_") in PARTS
            and annotation
            and PLAIN.search(ast.unparse(annotation))
        ]
    return plain


class TestTypedRecords(unittest.TestCase):
    """A key of a record occurs where records are decoded, nowhere else."""

    def test_no_function_takes_or_returns_a_plain_record(self):
        plain = {
            (path.relative_to(PACKAGE).as_posix(), word)
            for room in ROOMS
            for path in (PACKAGE / room).rglob("*.py")
            for word in _list_plain_records(path.read_text())
        }
        listing.check(
            self,
            NOT_RECORDS,
            plain,
            "NOT_RECORDS in tests/unit/test_typed_records.py",
            "annotate it with a type of rally_vmperf.records; add it to the "
            "list only if it is an argument of a task or a reference to an "
            "image or flavor, and no part of a record",
        )

    def test_every_spelling_is_a_plain_record(self):
        """In each position of a parameter, and as a result."""
        for kind in PLAIN_SPELLINGS:
            for text in (
                f"def f(record: {kind}, /): pass",
                f"async def f(*, guests: {kind}): pass",
                f"def f(*records: {kind}): pass",
                f"def _read_record() -> {kind}: pass",
            ):
                self.assertEqual(1, len(_list_plain_records(text)), text)

    def test_typed_records(self):
        for kind in TYPED_SPELLINGS:
            text = f"def read_record(records: {kind}) -> {kind}: pass"
            self.assertEqual([], _list_plain_records(text), text)

    def test_the_page_and_the_judges_know_no_plain_document(self):
        for room in ("judging", "report"):
            for path in (PACKAGE / room).rglob("*.py"):
                for kind in DOCUMENTS:
                    message = (
                        f"{path}: use a type of rally_vmperf.records, or "
                        "decode the document in records/"
                    )
                    self.assertNotIn(kind, path.read_text(), message)
