# SPDX-License-Identifier: Apache-2.0
"""Reasons to skip tests, and whether a run skipped any for another one.

    python -m tests.skips [STREAM...]

Each stream is a run that stestr keeps (``.stestr/0``). Exits with 1 where a
reason is not listed: a test that is skipped unnoticed tests nothing. Without
a stream, all skipped tests of the last run are printed, with any reason.
"""

import collections.abc
import os
import pathlib
import re
import shutil
import sys
import typing as t
import unittest

import testtools
from stestr.repository import file

#: What machines may lack, in the words of the tests.
KNOWN = re.compile(
    r"no IPv6 loopback: .*|nothing can be mounted.*|"
    r"no network namespaces here: .*|"
    r"no control groups for CPUs and memory here|"
    # Debian's section main does not have it.
    r"requires iozone"
)


Test = t.TypeVar("Test")


def describe_missing(*programs: str, root: bool = False) -> str:
    """Return what a test requires and lacks, as a reason, or an empty string.

    :param programs: The names of the programs that the test executes.
    :param root: True if the test requires root.
    """
    missing = ["root"] if root and os.geteuid() else []
    missing += [name for name in programs if not shutil.which(name)]
    return f"requires {', '.join(missing)}" if missing else ""


def requires(
    *programs: str, root: bool = False
) -> collections.abc.Callable[[Test], Test]:
    """Return a decorator that skips a test, or a class, without these.

    :param programs: The names of the programs that the test executes.
    :param root: True if the test requires root.
    """
    reason = describe_missing(*programs, root=root)
    return unittest.skipIf(reason, reason)


def require(
    case: unittest.TestCase, *programs: str, root: bool = False
) -> None:
    """Skip the current test without these.

    :param case: The test.
    :param programs: The names of the programs that the test executes.
    :param root: True if the test requires root.
    """
    reason = describe_missing(*programs, root=root)
    if reason:
        case.skipTest(reason)


def skipped(path: pathlib.Path) -> dict[str, str]:
    """Return the reasons of the skipped tests of a run, by test."""
    reasons = {}

    def note(test: dict) -> None:
        if test["status"] == "skip":
            reason = test["details"].get("reason")
            reasons[test["id"]] = reason.as_text() if reason else ""

    result = testtools.StreamToDict(note)
    result.startTestRun()
    run = file.Repository(str(path.parent)).get_test_run(path.name)
    run.get_test().run(result)
    result.stopTestRun()
    return reasons


def main(paths: list[str]) -> int:
    """Print what was skipped for a reason that is not listed.

    :param paths: The paths of runs; none if the last run is to be listed.
    """
    if not paths:
        last = pathlib.Path(
            ".stestr", str(file.Repository(".stestr").latest_id())
        )
        for test, reason in sorted(skipped(last).items()):
            print(f"{test} was skipped: {reason.strip()}")
        return 0
    wrong = {
        test: reason
        for path in paths
        for test, reason in skipped(pathlib.Path(path)).items()
        if not KNOWN.fullmatch(reason.strip())
    }
    for test, reason in sorted(wrong.items()):
        print(
            f"{test} was skipped: {reason}; let the test run, or add the "
            "reason to KNOWN in tests/skips.py if a machine can lack it"
        )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
