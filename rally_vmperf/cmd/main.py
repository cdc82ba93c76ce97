# SPDX-License-Identifier: Apache-2.0
"""The console script rally-vmperf."""

import importlib.metadata
import logging
import os
import signal
import sys

from cliff import app
from cliff import commandmanager

from rally_vmperf import sanitize
from rally_vmperf import termination


class _SanitisingFormatter(logging.Formatter):
    """A formatter that removes control characters."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the message as text without control characters."""
        return str(sanitize.printable(super().format(record)))


class Commands(commandmanager.CommandManager):
    """A command manager that imports a command when it is used."""

    def load_commands(self, namespace: str) -> None:
        """Load the entry points without an import of the commands."""
        for entry_point in importlib.metadata.entry_points(group=namespace):
            self.commands[entry_point.name] = entry_point


class Shell(app.App):
    """The application with all commands."""

    #: The level is warning, because Rally and Alembic log many messages.
    DEFAULT_VERBOSE_LEVEL = 0

    def __init__(self) -> None:
        super().__init__(
            description="Manage bare-metal baselines, plan and judge runs, "
            "write reports, and clean up, in addition to the commands of "
            "Rally.",
            version=importlib.metadata.version("rally-vmperf"),
            command_manager=Commands("rally_vmperf.commands"),
            deferred_help=True,
        )
        self._configure_error_log()

    def _configure_error_log(self) -> None:
        """Print errors in one line, independently of Rally's logging."""
        handler = logging.StreamHandler()
        handler.setFormatter(_SanitisingFormatter("rally-vmperf: %(message)s"))
        self.LOG.handlers = [handler]
        self.LOG.propagate = False


def main(argv: list[str] | None = None) -> int:
    """Run a command, and return its exit code."""
    try:
        termination.as_interrupt()
        _open_closed_streams()
        code: int = Shell().run(sys.argv[1:] if argv is None else argv)
    except KeyboardInterrupt:
        # Before the application handles it.
        return 128 + signal.SIGINT
    return code


def _open_closed_streams() -> None:
    """Open the null device for each standard stream that is closed.

    The exit code is then the whole output, as with ``> /dev/null``, and no
    file that a command opens becomes a standard stream of its programs.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_RDWR)
            stream = os.fdopen(descriptor, mode, encoding="utf-8")
            setattr(sys, name, stream)


if __name__ == "__main__":
    sys.exit(main())
