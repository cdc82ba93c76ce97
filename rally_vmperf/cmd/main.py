"""The console script rally-vmperf."""

import importlib.metadata
import logging
import sys

from cliff import app
from cliff import commandmanager

from rally_vmperf import sanitize
from rally_vmperf import termination


class _Plain(logging.Formatter):
    """Formats messages without control characters, which a terminal obeys."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line; some errors quote machines."""
        return str(sanitize.printable(super().format(record)))


class Commands(commandmanager.CommandManager):
    """The commands by name, each imported when it is asked for."""

    def load_commands(self, namespace: str) -> None:
        """Find the commands; the manager itself would import all of them."""
        for point in importlib.metadata.entry_points(group=namespace):
            self.commands[point.name] = point


class Shell(app.App):
    """Baselines, plans, verdicts, clean-up and a test cloud."""

    #: Only warnings: Rally and Alembic are talkative.
    DEFAULT_VERBOSE_LEVEL = 0

    def __init__(self) -> None:
        super().__init__(
            description="Baselines, plans, verdicts, reports, clean-up and a "
            "test cloud, beside Rally's own commands.",
            version=importlib.metadata.version("rally-vmperf"),
            command_manager=Commands("rally_vmperf.commands"),
            deferred_help=True,
        )
        self._speak_plainly()

    def _speak_plainly(self) -> None:
        """Tell errors in one line, whatever Rally does to logging."""
        handler = logging.StreamHandler()
        handler.setFormatter(_Plain("rally-vmperf: %(message)s"))
        self.LOG.handlers = [handler]
        self.LOG.propagate = False


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    termination.as_interrupt()
    return Shell().run(sys.argv[1:] if argv is None else argv)


if __name__ == "__main__":
    sys.exit(main())
