"""Command lines in a process of their own, since Rally's settings are global.

    python -m tests.unit.cmd.command_lines < LINES

reads a list of command lines in JSON, and prints the exit code and the error
of each in the same form.
"""

import contextlib
import io
import json
import sys
from unittest import mock

from rally_vmperf.cmd import main


def run(arguments: list[str]) -> tuple[int, str]:
    """Return the exit code and the standard error of a command line."""
    stderr = io.StringIO()
    with (
        contextlib.redirect_stderr(stderr),
        contextlib.redirect_stdout(io.StringIO()),
        mock.patch("rally_vmperf.termination.as_interrupt", autospec=True),
    ):
        try:
            code = main.main(arguments)
        except SystemExit as end:
            code = end.code
    return code, stderr.getvalue()


if __name__ == "__main__":
    json.dump([*map(run, json.load(sys.stdin))], sys.stdout)
