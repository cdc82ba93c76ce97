# SPDX-License-Identifier: Apache-2.0
"""A line on a terminal that shows the progress of a task."""

import collections.abc
import contextlib
import logging
import shutil
import typing as t

from rally_vmperf import errors
from rally_vmperf import sanitize

#: The return to the start of a line, and its deletion.
_CLEAR = "\r\x1b[K"
#: The start of a line about a repetition, as opposed to a step of it.
_REPETITION = "Repetition "
#: The maximum number of characters of an error.
_LONGEST_ERROR = 2000


class LiveLine:
    """The last line of a terminal; log lines appear above it.

    :param handler: The log handler that writes to the terminal.
    :param replaces_messages: A flag that messages below warnings are shown in
        the line, and not above it.
    """

    def __init__(
        self,
        handler: "logging.StreamHandler[t.TextIO]",
        *,
        replaces_messages: bool = False,
    ) -> None:
        self.replaces_messages = replaces_messages
        self._handler = handler
        self._emit = handler.emit
        self._repetition = ""
        self._text = ""
        handler.emit = self._emit_above  # type: ignore[method-assign]

    def show(self, line: str) -> None:
        """Show the repetition with its time left, or a step of it."""
        if line.startswith(_REPETITION):
            self._repetition = line
            self._text = line
        else:
            self._text = ": ".join(filter(None, (self._repetition, line)))
        with self._handler.lock:  # type: ignore[union-attr]
            self._draw()

    def clear(self) -> None:
        """Delete the text of the line."""
        self._repetition = self._text = ""
        with self._handler.lock:  # type: ignore[union-attr]
            self._draw()

    def close(self) -> None:
        """Delete the line."""
        self.clear()
        self._handler.emit = self._emit  # type: ignore[method-assign]

    def _emit_above(self, record: logging.LogRecord) -> None:
        """Write a log record, and the line below it."""
        if self.replaces_messages and record.levelno < logging.WARNING:
            if not self._repetition:
                # During a repetition, its steps say more.
                self.show(record.getMessage())
            return
        self._handler.stream.write(_CLEAR)
        self._emit(record)
        self._draw()

    def _draw(self) -> None:
        """Write the line without its end; cut it to the terminal."""
        width = shutil.get_terminal_size().columns - 1
        text = sanitize.line(self._text, width)
        self._handler.stream.write(f"{_CLEAR}{text}")
        self._handler.stream.flush()


_line: LiveLine | None = None


def find_line() -> LiveLine | None:
    """Return the line of this process; None if logs go to no terminal."""
    global _line
    if _line is None and (handler := _find_handler()):
        _line = LiveLine(handler)
    return _line


def close() -> None:
    """Delete the line of this process, if there is one.

    Within ``replace_messages``, it is empty until the next message.
    """
    global _line
    if _line is None:
        return
    if _line.replaces_messages:
        _line.clear()
        return
    _line.close()
    _line = None


@contextlib.contextmanager
def replace_messages() -> collections.abc.Iterator[None]:
    """Show messages in the block in the line of a terminal, except warnings.

    Without a terminal, each repetition is a line, and other messages are
    omitted.
    """
    global _line
    close()
    with _format_plainly():
        handler = _find_handler()
        if handler is None:
            with _write_repetitions():
                yield
            return
        _line = LiveLine(handler, replaces_messages=True)
        try:
            yield
        finally:
            _line.close()
            _line = None


class _PlainFormatter(logging.Formatter):
    """A formatter of messages without the time, the module and the class.

    :param earlier: The formatter for unexpected errors, or None.
    """

    def __init__(self, earlier: logging.Formatter | None) -> None:
        super().__init__()
        self._earlier = earlier or logging.Formatter()

    def format(self, record: logging.LogRecord) -> str:
        """Return the message, or the error that the user can correct."""
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, errors.VMPerfError):
            return sanitize.printable(str(error), _LONGEST_ERROR)
        if error is not None:
            return self._earlier.format(record)
        return sanitize.printable(record.getMessage())


@contextlib.contextmanager
def _format_plainly() -> collections.abc.Iterator[None]:
    """Write messages in the block without the prefix of Rally's log."""
    handlers = list(logging.getLogger().handlers)
    earlier = [handler.formatter for handler in handlers]
    for handler in handlers:
        handler.setFormatter(_PlainFormatter(handler.formatter))
    try:
        yield
    finally:
        for handler, formatter in zip(handlers, earlier, strict=True):
            handler.setFormatter(formatter)


def _find_handler() -> "logging.StreamHandler[t.TextIO] | None":
    """Return the log handler that writes to a terminal, or None."""
    for handler in logging.getLogger().handlers:
        stream = getattr(handler, "stream", None)
        if stream is not None and stream.isatty():
            return t.cast("logging.StreamHandler[t.TextIO]", handler)
    return None


@contextlib.contextmanager
def _write_repetitions() -> collections.abc.Iterator[None]:
    """Write only repetitions and warnings in the block."""

    def is_warning(record: logging.LogRecord) -> bool:
        """Return whether a message is a warning or an error."""
        return record.levelno >= logging.WARNING

    root = logging.getLogger()
    handlers = list(root.handlers)
    repetitions = logging.StreamHandler()
    repetitions.addFilter(
        lambda record: record.getMessage().startswith(_REPETITION)
    )
    for handler in handlers:
        handler.addFilter(is_warning)
    root.addHandler(repetitions)
    try:
        yield
    finally:
        root.removeHandler(repetitions)
        for handler in handlers:
            handler.removeFilter(is_warning)
