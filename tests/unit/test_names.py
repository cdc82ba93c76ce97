"""Modules and classes are called what the field calls them."""

import ast
import pathlib
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


def names(source, path):
    """Return the name of a module, and those of its classes."""
    yield path.stem.removeprefix("test_")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef):
            yield node.name


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

    def test_a_private_word_is_found(self):
        """By the name of a module as well as by that of a class."""
        path = pathlib.Path("test_together.py")
        found = set(names("class Spent:\n    pass\n", path))
        self.assertEqual({"together", "Spent"}, found)
