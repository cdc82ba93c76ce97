"""A line on a terminal that shows the progress of a task."""

import logging
import shutil
import typing as t

from rally_vmperf import sanitize

#: The return to the start of a line, and its deletion.
_CLEAR = "\r\x1b[K"


class LiveLine:
    """The last line of a terminal; log lines appear above it.

    :param handler: The log handler that writes to the terminal.
    """

    def __init__(self, handler: "logging.StreamHandler[t.TextIO]") -> None:
        self._handler = handler
        self._emit = handler.emit
        self._repetition = ""
        self._text = ""
        handler.emit = self._emit_above  # type: ignore[method-assign]

    def show(self, line: str) -> None:
        """Show the repetition with its time left, or a step of it."""
        if line.startswith("Repetition "):
            self._repetition = line
            self._text = line
        else:
            self._text = ": ".join(filter(None, (self._repetition, line)))
        with self._handler.lock:  # type: ignore[union-attr]
            self._draw()

    def close(self) -> None:
        """Delete the line."""
        self._text = ""
        with self._handler.lock:  # type: ignore[union-attr]
            self._draw()
        self._handler.emit = self._emit  # type: ignore[method-assign]

    def _emit_above(self, record: logging.LogRecord) -> None:
        """Write a log record, and the line below it."""
        self._handler.stream.write(_CLEAR)
        self._emit(record)
        self._draw()

    def _draw(self) -> None:
        """Write the line without its end; cut it to the terminal."""
        width = shutil.get_terminal_size().columns - 1
        text = sanitize.printable(self._text)[:width]
        self._handler.stream.write(f"{_CLEAR}{text}")
        self._handler.stream.flush()


_line: LiveLine | None = None


def find_line() -> LiveLine | None:
    """Return the line of this process; None if logs go to no terminal."""
    global _line
    if _line is None:
        for handler in logging.getLogger().handlers:
            stream = getattr(handler, "stream", None)
            if stream is not None and stream.isatty():
                _line = LiveLine(
                    t.cast("logging.StreamHandler[t.TextIO]", handler)
                )
                break
    return _line


def close() -> None:
    """Delete the line of this process, if there is one."""
    global _line
    if _line is not None:
        _line.close()
    _line = None
