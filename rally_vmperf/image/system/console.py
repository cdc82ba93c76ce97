"""Progress with elapsed seconds."""

import sys
import time
import typing as t


class Progress:
    """A printer of progress, in lines.

    :param stream: The stream for the lines.
    """

    def __init__(self, stream: t.TextIO = sys.stdout) -> None:
        self._stream = stream
        self._start = time.monotonic()

    def say(self, text: str) -> None:
        """Print one line."""
        elapsed = time.monotonic() - self._start
        print(f"[{elapsed:6.1f} s] {text}", file=self._stream, flush=True)
