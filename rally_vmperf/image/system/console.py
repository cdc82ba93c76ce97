"""Progress with elapsed seconds."""

import sys
import time
import typing as t


class Progress:
    """Prints progress, a line each.

    :param stream: where they go
    """

    def __init__(self, stream: t.TextIO = sys.stdout) -> None:
        self._stream = stream
        self._start = time.monotonic()

    def say(self, text: str) -> None:
        """Print one line."""
        elapsed = time.monotonic() - self._start
        print(f"[{elapsed:6.1f} s] {text}", file=self._stream, flush=True)
