# SPDX-License-Identifier: Apache-2.0
"""Names and texts of the package and of its tests are those of the field.

The figures are shares of a whole, because a single name can be right where
it is; the lists of words are closed.
"""

import ast
import builtins
import collections
import collections.abc
import functools
import pathlib
import re
import textwrap
import unittest

import ddt

TOP = pathlib.Path(__file__).parent.parent.parent
PACKAGE = "rally_vmperf"
#: The path of this module in messages.
PLACE = "tests/unit/test_names.py"
#: The directories whose names and texts have the same limits.
DIRECTORIES = (PACKAGE, "tests")


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


#: Words that mean nothing to a reader who knows Rally, Nova and statistics.
PRIVATE = words(
    "agreed ahead aside asked bill cards climbing crowd damages doubts "
    "embedding handover harmless held likeness lone noted obituary "
    "ours ran resting roused seen soundness spent taking telling theirs "
    "together told ways whose woken words"
)
#: Variables that state neither a type nor a role.
FILLERS = words(
    "asked found given had kept known lacking one own part said seen some "
    "taken tell theirs told trouble turn wanted whose why words"
)
#: Variables that say as little, but are common elsewhere too.
VAGUE = words(
    "both data each entries entry every here item items more obj object "
    "other others rest result results there thing things value values x "
    "y"
)
#: A relative clause, or a sentence, without a noun that it is about.
HEADLESS = re.compile(
    r"(Of (?!course)|That of|What|Whatever|Which|Who|Whoever|Whom|Those|How|"
    r"Where|Nobody|So |Likewise|Else)\b"
)
#: The description of a parameter that does not begin with a noun.
_FRAGMENT = re.compile(
    r"(as|beside|by|for|from|how|in|likewise|of|on|that|those|to|what|where|"
    r"whether|which|who|whose|why|with)\b"
)
#: Phrases that documentation does not use any more, or for persons only.
UNUSUAL = re.compile(
    r"\b(anybody|are no|be it|beside|borne|did not come|is no|likewise|lone "
    r"guests?|never begun|nobody|ours|somebody|tells?|told|whoever)\b",
    re.IGNORECASE,
)
#: Phrases that no user reads -> the phrase in their place.
RETIRED = {
    r"floating address": "floating IP",
    r"network cards?": "port",
    r"\bstands? on\b": "depends on, or is on",
    r"\bknows? no\b": "does not know, or has no",
    r"\b(is|are) there no more\b": "has ended, or was removed",
    r"\bwill be meant\b": "is meant",
}
RETIRED_PATTERN = re.compile("|".join(RETIRED), re.IGNORECASE)
#: Base names that every package may have.
_COMMON_MODULES = frozenset(
    {"__init__", "base", "errors", "question", "schema", "section"}
)
#: Modules whose common abbreviation is better known than their name.
_KNOWN_ALIASES = frozenset({"typing", "numpy"})

Trees = collections.abc.Mapping[pathlib.Path, ast.Module]
Names = collections.abc.Iterator[str]


def parse(directory: str) -> dict[pathlib.Path, ast.Module]:
    """Return the syntax tree of each module in a directory."""
    return {
        path: ast.parse(path.read_text())
        for path in sorted((TOP / directory).rglob("*.py"))
    }


def definitions(tree: ast.AST) -> Names:
    """Yield the names of classes and functions."""
    for node in ast.walk(tree):
        if isinstance(
            node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        ):
            yield node.name


def bindings(tree: ast.AST) -> Names:
    """Yield the names of parameters, variables, fields and constants."""
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(
            node.ctx, ast.Store
        ):
            yield node.attr


def docstrings(tree: ast.AST) -> Names:
    """Yield the docstrings."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(tree):
        if isinstance(node, kinds) and (text := ast.get_docstring(node)):
            yield text


def messages(tree: ast.AST) -> Names:
    """Yield the strings of four words or more that are not docstrings."""
    expressions = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)
    }
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in expressions
            and len(node.value.split()) >= 4
        ):
            yield node.value


def sentences(text: str) -> list[str]:
    """Return the sentences of a docstring without its fields."""
    prose = re.split(r"^\s*:\w+[^:\n]*:", text, maxsplit=1, flags=re.M)[0]
    return re.split(r"(?<=[.:;])\s+|\n\s*\n", prose.strip())


def parameters(text: str) -> list[str]:
    """Return the descriptions of parameters in a docstring."""
    return re.findall(r"^\s*:param [^:]+:\s+(\S.*)", text, re.MULTILINE)


def is_private(name: str) -> bool:
    """Return whether a word of a name is in the closed list."""
    name_words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower().split("_")
    return not PRIVATE.isdisjoint(name_words)


def percent(number: int, whole: int) -> float:
    """Return a share in percent, 0 of nothing."""
    return 100 * number / max(whole, 1)


@ddt.ddt
class TestNames(unittest.TestCase):
    """The lists are closed, and the figures keep their limits."""

    @classmethod
    def setUpClass(cls) -> None:
        """Read the modules once."""
        super().setUpClass()
        cls.parsed = {directory: parse(directory) for directory in DIRECTORIES}
        cls.trees: Trees = cls.parsed[PACKAGE]
        cls.addClassCleanup(cls.parsed.clear)
        cls.addClassCleanup(cls.list_all.__func__.cache_clear)

    @classmethod
    @functools.cache
    def list_all(cls, function, directory: str = PACKAGE) -> list:
        """Return the names, texts or nodes of all modules in a directory."""
        return [
            text
            for tree in cls.parsed[directory].values()
            for text in function(tree)
        ]

    def test_private_words(self):
        """No module, class, function, parameter or variable has one."""
        private_names = [
            f"{path.relative_to(TOP)}: {name}"
            for path, tree in self.trees.items()
            for name in [path.stem, *definitions(tree), *bindings(tree)]
            if is_private(name)
        ]
        message = (
            "rename them after their type or role; the words are PRIVATE in "
            f"{PLACE}"
        )
        self.assertEqual([], private_names, message)

    @ddt.data(*DIRECTORIES)
    def test_variables(self, directory):
        """At most 1 % are fillers, and 6 % with vague names."""
        names = self.list_all(bindings, directory)
        fillers = [name for name in names if name.strip("_") in FILLERS]
        vague = [name for name in names if name.strip("_") in VAGUE]
        hint = f"rename some after their type or role (FILLERS in {PLACE}): "
        share = percent(len(fillers), len(names))
        self.assertLessEqual(share, 1, f"{hint}{fillers}")
        both = percent(len(fillers + vague), len(names))
        self.assertLessEqual(both, 6, f"{hint}{fillers + vague}")

    @ddt.data(*DIRECTORIES)
    def test_trailing_underscores(self, directory):
        """At most 1 % of names are those of a module or a keyword with _."""
        names = [
            name
            for name in self.list_all(bindings, directory)
            if name.endswith("_") and not name.startswith("__")
        ]
        trailing = [name for name in names if name.strip("_")]
        share = percent(len(trailing), len(self.list_all(bindings, directory)))
        message = f"rename some after their role: {trailing}"
        self.assertLessEqual(share, 1, message)

    def test_units_of_limits(self):
        """A limit states what it limits, or the unit."""
        names = [
            name
            for name in self.list_all(bindings)
            if name.strip("_") == "LONGEST"
        ]
        self.assertEqual([], names, "add what is limited, as in LONGEST_LINE")

    @ddt.data(*DIRECTORIES)
    def test_parameters(self, directory):
        """At most 5 % of their descriptions do not begin with a noun."""
        texts = [
            text
            for document in self.list_all(docstrings, directory)
            for text in parameters(document)
        ]
        fragments = [text for text in texts if _FRAGMENT.match(text)]
        message = f"start with an article and a noun: {fragments}"
        self.assertLessEqual(percent(len(fragments), len(texts)), 5, message)

    @ddt.data(*DIRECTORIES)
    def test_documented_names(self, directory):
        """Each documented parameter and exception exists."""
        nodes = self.list_all(ast.walk, directory)
        # Validators of Rally raise theirs in a method of their base class.
        exceptions = {*dir(builtins), "ValidationError"}
        for node in nodes:
            if isinstance(node, ast.ClassDef):
                exceptions.add(node.name)
            elif isinstance(node, ast.Attribute):
                exceptions.add(node.attr)
        wrong = []
        for node in nodes:
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            text = ast.get_docstring(node) or ""
            names = {
                arg.arg
                for arg in ast.walk(node.args)
                if isinstance(arg, ast.arg)
            }
            raised = re.findall(r":raises (?:\w+\.)*(\w+):", text)
            wrong += [(node.name, name) for name in {*raised} - exceptions]
            documented = {*re.findall(r":param (\w+):", text)}
            wrong += [(node.name, name) for name in documented - names]
        self.assertEqual([], wrong, "correct the names in these docstrings")

    @ddt.data(*DIRECTORIES)
    def test_sentences(self, directory):
        """At most 0.5 % of the sentences of docstrings have no head."""
        texts = [
            sentence
            for document in self.list_all(docstrings, directory)
            for sentence in sentences(document)
        ]
        headless = [text for text in texts if HEADLESS.match(text)]
        message = f"start with a noun or an imperative: {headless}"
        self.assertLessEqual(percent(len(headless), len(texts)), 0.5, message)

    @ddt.data(*DIRECTORIES)
    def test_unusual_phrases(self, directory):
        """At most 2 per 100 docstrings, and 1 per 100 messages."""
        for function, limit in ((docstrings, 2), (messages, 1)):
            texts = self.list_all(function, directory)
            unusual = [text for text in texts if UNUSUAL.search(text)]
            with self.subTest(function.__name__):
                share = percent(len(unusual), len(texts))
                message = f"use other words (UNUSUAL in {PLACE}): {unusual}"
                self.assertLessEqual(share, limit, message)

    @ddt.data(*DIRECTORIES)
    def test_aliases(self, directory):
        """At most 3 % of imports are renamed."""
        imports = [
            (getattr(node, "module", None) or name.name, name.asname)
            for node in self.list_all(ast.walk, directory)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for name in node.names
        ]
        aliases = [
            (module, alias)
            for module, alias in imports
            if alias and module not in _KNOWN_ALIASES
        ]
        message = f"import some under their own names: {aliases}"
        self.assertLessEqual(percent(len(aliases), len(imports)), 3, message)

    def test_base_names(self):
        """Few modules share their name, so that a name finds a module."""
        number = collections.Counter(path.stem for path in self.trees)
        often = [
            name
            for name, times in number.items()
            if times > 2 and name not in _COMMON_MODULES
        ]
        message = (
            "name a module of them by its subject, or, if each package can "
            f"have such a module, add it to _COMMON_MODULES in {PLACE}: "
            f"{often}"
        )
        self.assertLessEqual(len(often), 2, message)

    def test_phrases(self):
        """No string of the package and no page has a retired phrase."""
        pages = [*(TOP / "doc" / "source").rglob("*.rst"), *TOP.glob("*.rst")]
        texts = [(path, path.read_text()) for path in sorted(pages)]
        for path, tree in self.trees.items():
            texts += [
                (path, node.value)
                for node in ast.walk(tree)
                if isinstance(node, ast.Constant)
                and isinstance(node.value, str)
            ]
        phrases = [
            f"{path.relative_to(TOP)}: {match[0]}"
            for path, text in texts
            for match in RETIRED_PATTERN.finditer(" ".join(text.split()))
        ]
        message = f"use the phrases of RETIRED in {PLACE} in their place"
        self.assertEqual([], phrases, message)


class TestDefinitions(unittest.TestCase):
    """Each fault is found in a module that has all of them."""

    SOURCE = textwrap.dedent(
        '''
        """What a module is. It has a head."""
        import json as told_json

        class Spent:
            """A class.

            :param one: of the machine
            :param number: The number of machines.
            """
            said: str

        async def last_words(place, *, wordsmith):
            for kept in place:
                place.taken = "nobody knows a limit"
        '''
    )

    def setUp(self):
        """Parse the module."""
        super().setUp()
        self.tree = ast.parse(self.SOURCE)

    def test_names(self):
        """In definitions and in bindings, by whole words."""
        self.assertEqual(["Spent", "last_words"], [*definitions(self.tree)])
        names = [*bindings(self.tree)]
        self.assertEqual(
            {"said", "place", "wordsmith", "kept", "taken"}, {*names}
        )
        self.assertEqual({"said", "kept", "taken"}, {*names} & FILLERS)
        for name in ("Spent", "last_words", "_WORDS", "LastWords"):
            self.assertTrue(is_private(name), name)
        self.assertFalse(is_private("wordsmith"))

    def test_texts(self):
        """Sentences without a head, fragments, and phrases."""
        first, second = docstrings(self.tree)
        self.assertEqual(
            [True, False],
            [bool(HEADLESS.match(text)) for text in sentences(first)],
        )
        self.assertEqual(["A class."], sentences(second))
        self.assertEqual(
            [True, False],
            [bool(_FRAGMENT.match(text)) for text in parameters(second)],
        )
        (message,) = messages(self.tree)
        self.assertTrue(UNUSUAL.search(message))

    def test_a_retired_phrase_is_found(self):
        """In any case, and in the plural."""
        for text in ("Floating addresses", "it knows no port", "network card"):
            self.assertIsNotNone(RETIRED_PATTERN.search(text), text)
