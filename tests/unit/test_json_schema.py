# SPDX-License-Identifier: Apache-2.0
"""Tests of the builders of JSON Schemas."""

import unittest

import ddt

from rally_vmperf import documents
from rally_vmperf import json_schema

NUMBERS = json_schema.closed_mapping(
    {"a": json_schema.integer("The first.", minimum=1), "b": {}}, "a"
)


@ddt.ddt
class TestBuilders(unittest.TestCase):
    """A schema has the rules of its builder and those of the caller."""

    @ddt.data(
        (json_schema.text(), {"type": "string"}),
        (
            json_schema.name("Login.", maxLength=8),
            {
                "type": "string",
                "description": "Login.",
                "minLength": 1,
                "maxLength": 8,
            },
        ),
        (
            json_schema.flag("Whether.", default=True),
            {"type": "boolean", "description": "Whether.", "default": True},
        ),
        (json_schema.choice(("a", 4)), {"enum": ["a", 4]}),
        (
            json_schema.array(json_schema.number(), type=["array", "null"]),
            {"type": ["array", "null"], "items": {"type": "number"}},
        ),
        (json_schema.mapping({}), {"type": "object"}),
        (
            json_schema.values({}, "By name.", minProperties=1),
            {
                "type": "object",
                "description": "By name.",
                "additionalProperties": {},
                "minProperties": 1,
            },
        ),
    )
    @ddt.unpack
    def test_schema(self, schema, expected):
        self.assertEqual(expected, schema)

    @ddt.data({"a": 1}, {"a": 2, "b": None})
    def test_valid(self, value):
        self.assertIsNone(documents.first_error(NUMBERS, value))

    @ddt.data({}, {"a": 0}, {"a": 1, "c": 1}, [])
    def test_invalid(self, value):
        self.assertIsNotNone(documents.first_error(NUMBERS, value))


@ddt.ddt
class TestOptional(unittest.TestCase):
    """An empty value is not given; the others match the schema."""

    RULE = json_schema.optional(json_schema.name("Its name.", maxLength=3))

    @ddt.data(None, "", {}, [], "abc")
    def test_accepted(self, value):
        self.assertIsNone(documents.first_error(self.RULE, value))

    @ddt.data((0, "is not of type"), (False, "is not of"), ("abcd", "long"))
    @ddt.unpack
    def test_rejected(self, value, message):
        """The message is that of the schema."""
        error = documents.first_error(self.RULE, value)
        self.assertIn(message, error.message)
        self.assertEqual("Its name.", self.RULE["description"])
