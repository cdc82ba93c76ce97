"""Tests that were skipped, and whether their reason is a known one.

    python -m tests.skips STREAM...

Each stream is a run that stestr keeps (``.stestr/0``). Exits with 1 where a
reason is not listed: a test that is skipped unnoticed tests nothing.
"""

import pathlib
import re
import sys

import testtools
from stestr.repository import file

#: What machines may lack, in the words of the tests.
KNOWN = re.compile(
    r"no IPv6 loopback: .*|nothing can be mounted.*|"
    r"no network namespaces here: .*|"
    r"no control groups for CPUs and memory here"
)


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
    """Print what was skipped for a reason that is not listed."""
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
