"""The console script rally-vmperf."""

import importlib.metadata
import logging
import sys

from cliff import app
from cliff import commandmanager

from rally_vmperf import termination
from rally_vmperf.report import text


class _Plain(logging.Formatter):
    """Formats what a terminal can print without obeying it."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line; some errors quote machines."""
        return str(text.printable(super().format(record)))


class Shell(app.App):
    """Baselines, clean-up and a test cloud for rally_vmperf."""

    #: Only warnings: Rally and Alembic are talkative.
    DEFAULT_VERBOSE_LEVEL = 0

    def __init__(self) -> None:
        super().__init__(
            description="Baselines, reports, clean-up and a test cloud "
            "beside Rally's own commands.",
            version=importlib.metadata.version("rally-vmperf"),
            command_manager=commandmanager.CommandManager(
                "rally_vmperf.commands"
            ),
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
