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

    def found(self, damage: str, done: str) -> None:
        """Print what was wrong with the cloud, and what was done about it.

        :param damage: what was found
        :param done: the remedy, in the past tense
        """
        self.say(f"found: {damage}; {done}")
