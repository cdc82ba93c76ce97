# SPDX-License-Identifier: Apache-2.0
"""Tests of options that a dataclass declares."""

import dataclasses
import inspect
import typing as t
import unittest

from rally_vmperf import declaration


@dataclasses.dataclass(frozen=True, kw_only=True)
class Common:
    """Common options.

    :param workloads: The workloads.
    :param pause: The idle time in seconds.
    """

    workloads: list[str]
    pause: t.Annotated[float, {"minimum": 0}] = 0


@dataclasses.dataclass(frozen=True, kw_only=True)
class Arguments(Common):
    """The arguments of a scenario.

    :param levels: The numbers of guests,
        a list or a range.
    :param order: The order of the levels.
    :param pause: The idle time of this scenario.
    """

    levels: t.Annotated[list[int] | dict[str, int], {"minItems": 1}]
    order: t.Literal["listed", "shuffled"] | None = None
    extra: dict[str, int] = dataclasses.field(default_factory=dict)


class TestDeclaration(unittest.TestCase):
    """Schema, signature and documentation have one source."""

    def test_schema(self):
        """Required options are first, then those of the class itself."""
        self.assertEqual(
            {
                "type": "object",
                "additionalProperties": False,
                "required": ["workloads", "levels"],
                "properties": {
                    "workloads": {
                        "type": "array",
                        "description": "The workloads.",
                    },
                    "levels": {
                        "type": ["array", "object"],
                        "minItems": 1,
                        "description": "The numbers of guests, a list or a "
                        "range.",
                    },
                    "order": {
                        "enum": ["listed", "shuffled"],
                        "description": "The order of the levels.",
                    },
                    "extra": {"type": "object"},
                    "pause": {
                        "type": "number",
                        "minimum": 0,
                        "default": 0,
                        "description": "The idle time of this scenario.",
                    },
                },
            },
            declaration.build_schema(Arguments),
        )
        names = [*declaration.build_schema(Arguments)["properties"]]
        self.assertEqual(
            ["workloads", "levels", "order", "extra", "pause"], names
        )

    def test_type_without_schema(self):
        """It is a mistake of the declaration."""
        content = dataclasses.make_dataclass("Wrong", [("value", bytes)])
        with self.assertRaises(KeyError):
            declaration.build_schema(content)

    def test_function(self):
        """A function for Rally has the options as keywords."""

        def run(self, **arguments):
            """Replaced."""

        declaration.imitate(run, Arguments, "Measure guests.")
        parameters = inspect.signature(run).parameters
        self.assertEqual(
            ["self", "workloads", "levels", "order", "extra", "pause"],
            [*parameters],
        )
        empty = inspect.Parameter.empty
        self.assertEqual(
            [empty, empty, empty, None, {}, 0],
            [parameter.default for parameter in parameters.values()],
        )
        self.assertEqual(
            list[int] | dict[str, int], run.__annotations__["levels"]
        )
        self.assertIn("", t.get_args(run.__annotations__["order"])[0].__args__)
        self.assertNotIn("self", run.__annotations__)
        self.assertTrue(run.__doc__.startswith("Measure guests.\n\n:param "))
        self.assertIn(":param levels: The numbers of guests, a", run.__doc__)
