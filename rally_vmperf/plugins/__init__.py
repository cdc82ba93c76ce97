# SPDX-License-Identifier: Apache-2.0
"""Rally plugins, and a log filter that shortens errors to one line."""

import logging

from rally.common import logging as rally_logging


class TracebackFilter(logging.Filter):
    """A log filter that removes the tracebacks of rally_vmperf errors.

    Such an error names the cause and the solution, and oslo.log appends its
    first line to the message; the other lines quote the console of a guest.
    With --debug, tracebacks are not removed.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Return True; remove the traceback of a rally_vmperf error."""
        error = record.exc_info[1] if record.exc_info else None
        package = __name__.partition(".")[0]
        is_expected = type(error).__module__.startswith(f"{package}.")
        if is_expected and not rally_logging.is_debug():
            record.exc_info = None
            record.exc_text = str(error).partition("\n")[2] or None
        return True


#: The loggers of the engine and of the contexts.
for _name in ("rally.task.engine", "rally.task.context"):
    logging.getLogger(_name).addFilter(TracebackFilter())
