"""Records are typed objects outside the packages that read and write them."""

import ast
import pathlib
import unittest

import rally_vmperf

PACKAGE = pathlib.Path(rally_vmperf.__file__).parent
ROOMS = ("cmd", "judging", "plugins", "questions", "report")
#: The types of plain documents.
PLAIN = ("Json", "dict[str, t.Any]")
#: The names of records and of their parts.
PARTS = frozenset(
    {
        *("record", "records", "machine", "machines", "guest", "guests"),
        *("condition", "conditions", "reference", "bare_metal", "workload"),
        *("shape", "order", "flow", "flows", "samples"),
    }
)
#: The workload of a task file, and the guests that a task requests, are
#: arguments of Rally.
TASK_FUNCTIONS = frozenset(
    {
        ("cmd/task_file.py", "workload"),
        ("questions/common/task.py", "guests"),
        ("questions/common/task.py", "workload"),
    }
)


def _list_plain_records():
    """Return the parameters and results that are a record as plain JSON."""
    plain = []
    for room in ROOMS:
        for path in sorted((PACKAGE / room).rglob("*.py")):
            name = path.relative_to(PACKAGE).as_posix()
            for node in ast.walk(ast.parse(path.read_text())):
                if not isinstance(node, ast.FunctionDef):
                    continue
                arguments = node.args.args + node.args.kwonlyargs
                pairs = [(one.arg, one.annotation) for one in arguments]
                title = node.name.strip("_").rpartition("_")[2]
                pairs.append((title, node.returns))
                plain += [
                    (name, word)
                    for word, annotation in pairs
                    if word in PARTS
                    and annotation
                    and any(kind in ast.unparse(annotation) for kind in PLAIN)
                ]
    return plain


class TestTypedRecords(unittest.TestCase):
    """A key of a record occurs where records are decoded, nowhere else."""

    def test_no_function_takes_or_returns_a_plain_record(self):
        self.assertEqual(TASK_FUNCTIONS, frozenset(_list_plain_records()))

    def test_the_page_and_the_judges_know_no_plain_document(self):
        for room in ("judging", "report"):
            for path in (PACKAGE / room).rglob("*.py"):
                for kind in PLAIN:
                    self.assertNotIn(kind, path.read_text(), path)
