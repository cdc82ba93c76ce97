"""Modules, classes and functions are called what the field calls them."""

import ast
import pathlib
import re
import unittest

TOP = pathlib.Path(__file__).parent.parent.parent

#: Words that say nothing to who knows Rally, Nova and statistics.
PRIVATE = frozenset(
    [
        "together",
        "aside",
        "ran",
        "crowd",
        "bill",
        "cards",
        "ways",
        "words",
        "likeness",
        "seen",
        "noted",
        "doubts",
        "taking",
        "most",
        "agreed",
        "held",
        "telling",
        "harmless",
        "climbing",
        "resting",
        "woken",
        "roused",
        "embedding",
        "judged",
        "soundness",
        "damages",
        "obituary",
        "handover",
        "spent",
        "ahead",
        "place",
    ]
)

#: Phrases that no user reads -> what is said in their place.
RETIRED = {
    r"floating address": "floating IP",
    r"network cards?": "port",
    r"\bstands? on\b": "depends on, or is on",
    r"\bknows? no\b": "does not know, or has no",
    r"\b(is|are) there no more\b": "has ended, or was removed",
    r"\bwill be meant\b": "is meant",
}
RETIRED_PATTERN = re.compile("|".join(RETIRED), re.IGNORECASE)


def names(source, path):
    """Return the name of a module, and those of its classes."""
    yield path.stem.removeprefix("test_")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef):
            yield node.name


def functions(source):
    """Return the names of a module's functions, methods and parameters."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg


def private(name):
    """Return whether one of a name's words is in the closed list."""
    return not PRIVATE.isdisjoint(name.lower().split("_"))


class TestNames(unittest.TestCase):
    """The list is closed; what it names stays out."""

    def test_modules_and_classes(self):
        """No module and no class of the package has a private word's name."""
        found = [
            f"{path.relative_to(TOP)}: {name}"
            for path in sorted((TOP / "rally_vmperf").rglob("*.py"))
            for name in names(path.read_text(), path)
            if name.lower() in PRIVATE
        ]
        self.assertEqual([], found)

    def test_functions_and_parameters(self):
        """None has a name with a private word, private ones included."""
        package = TOP / "rally_vmperf"
        found = [
            f"{path.relative_to(TOP)}: {name}"
            for path in sorted(package.rglob("*.py"))
            for name in functions(path.read_text())
            if private(name)
        ]
        self.assertEqual([], found)

    def test_phrases(self):
        """No string of the package and no page has a retired phrase."""
        pages = [
            *(TOP / "doc" / "source").rglob("*.rst"),
            *TOP.glob("*.rst"),
        ]
        texts = [(path, path.read_text()) for path in sorted(pages)]
        for path in sorted((TOP / "rally_vmperf").rglob("*.py")):
            texts += [
                (path, node.value)
                for node in ast.walk(ast.parse(path.read_text()))
                if isinstance(node, ast.Constant)
                and isinstance(node.value, str)
            ]
        found = [
            f"{path.relative_to(TOP)}: {match[0]}"
            for path, text in texts
            for match in RETIRED_PATTERN.finditer(" ".join(text.split()))
        ]
        self.assertEqual([], found)

    def test_a_retired_phrase_is_found(self):
        """In any case, and in the plural."""
        for text in ("Floating addresses", "it knows no port", "network card"):
            self.assertIsNotNone(RETIRED_PATTERN.search(text), text)

    def test_a_private_word_is_found(self):
        """By the name of a module as well as by that of a class."""
        path = pathlib.Path("test_together.py")
        found = set(names("class Spent:\n    pass\n", path))
        self.assertEqual({"together", "Spent"}, found)

    def test_a_private_word_of_a_function_is_found(self):
        """In its name, whatever stands around it, and in a parameter's."""
        source = "async def _last_words(place, *, wordsmith): pass\n"
        self.assertEqual(
            ["_last_words", "place"],
            [name for name in functions(source) if private(name)],
        )
