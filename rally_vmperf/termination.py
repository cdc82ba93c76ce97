"""SIGTERM and SIGHUP: an end that is asked for, like Ctrl-C.

By default they end a process on the spot, and what it made on machines and
in the cloud would stay.
"""

import signal
import threading
import types


def as_interrupt() -> None:
    """Have SIGTERM and SIGHUP do what Ctrl-C does from now on.

    Whoever has chosen another handler keeps it, and only the main thread can
    choose one at all.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _interrupt)


def _interrupt(number: int, frame: types.FrameType | None) -> None:
    # Not an exception of our own: whoever handles SIGINT, such as an event
    # loop that must end its tasks first, is to handle this.
    if callable(signal.getsignal(signal.SIGINT)):
        signal.raise_signal(signal.SIGINT)
    else:
        # A shell has what it starts in the background ignore SIGINT.
        raise KeyboardInterrupt
