# SPDX-License-Identifier: Apache-2.0
"""Tests of the messages about lists that differ from the package."""

import unittest

from tests.unit import listing

PLACE = "NAMES in tests/unit/test_names.py"


class TestListing(unittest.TestCase):
    """A message names the element, the list, its file and the edit."""

    def test_equal(self):
        """The order and repetitions do not matter."""
        listing.check(self, ["a", "b"], ("b", "a", "a"), PLACE, "add it")

    def test_new_element(self):
        """The edit is the advice."""
        with self.assertRaises(AssertionError) as caught:
            listing.check(self, ["a"], ["a", ("b", 1)], PLACE, "add it")
        self.assertEqual(
            f"\n('b', 1) is not in {PLACE}: add it", str(caught.exception)
        )

    def test_element_that_does_not_exist(self):
        """The edit is its removal."""
        difference = listing.describe_difference(["a"], [], PLACE, "add it")
        self.assertEqual(
            f"a is in {PLACE}, but does not exist: remove it there, or "
            "restore it in the package",
            difference,
        )
