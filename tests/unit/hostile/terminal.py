# SPDX-License-Identifier: Apache-2.0
"""A terminal, and all that a process sends to it."""

import contextlib
import os
import pty
import subprocess
import unicodedata


def obeyed(text):
    """Return the characters that a terminal or a reader would obey."""
    return [c for c in text if unicodedata.category(c)[0] == "C" and c != "\n"]


def shown(argv, **environment):
    """Run a process on a terminal; return its exit code and what it showed.

    The terminal itself puts a carriage return before the end of each line,
    which is taken away.
    """
    reading_end, terminal_end = pty.openpty()
    with contextlib.closing(
        os.fdopen(reading_end, "rb", buffering=0)
    ) as screen:
        with os.fdopen(terminal_end, "wb", buffering=0) as end:
            process = subprocess.Popen(
                argv,
                stdin=end,
                stdout=end,
                stderr=end,
                start_new_session=True,
                env={
                    **os.environ,
                    "TERM": "xterm-256color",
                    "LC_ALL": "C.UTF-8",
                    **environment,
                },
            )
        chunks = []
        # Linux ends a terminal that nobody has open any more with an error.
        with contextlib.suppress(OSError):
            while chunk := screen.read(1 << 16):
                chunks.append(chunk)
    text = b"".join(chunks).decode().replace("\r\n", "\n")
    return process.wait(), text
