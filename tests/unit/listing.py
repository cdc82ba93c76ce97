# SPDX-License-Identifier: Apache-2.0
"""Lists in tests that must agree with the package.

A list in a test is a decision: what may import what, which function may have
a plain document. If it differs from the package, the message of the test
names the file and the edit, so that a contributor need not read the test.
"""

import collections.abc
import typing as t
import unittest


def describe_difference(
    listed: collections.abc.Iterable[t.Any],
    existing: collections.abc.Iterable[t.Any],
    place: str,
    advice: str,
) -> str:
    """Return what must be edited as text, "" if both have the same elements.

    :param listed: The elements of the list.
    :param existing: The elements that the package has.
    :param place: The list and its file, as ``FOLDERS in tests/unit/x.py``.
    :param advice: The edit for a new element, as an imperative.
    """
    listed, existing = {*listed}, {*existing}
    lines = [
        f"{element} is not in {place}: {advice}"
        for element in sorted(map(str, existing - listed))
    ]
    lines += [
        f"{element} is in {place}, but does not exist: remove it there, or "
        "restore it in the package"
        for element in sorted(map(str, listed - existing))
    ]
    return "\n".join(lines)


def check(
    test: unittest.TestCase,
    listed: collections.abc.Iterable[t.Any],
    existing: collections.abc.Iterable[t.Any],
    place: str,
    advice: str,
) -> None:
    """Fail with the edits if a list differs from the package.

    :param test: The test that fails.
    :param listed: The elements of the list.
    :param existing: The elements that the package has.
    :param place: The list and its file.
    :param advice: The edit for a new element, as an imperative.
    """
    difference = describe_difference(listed, existing, place, advice)
    if difference:
        test.fail(f"\n{difference}")
