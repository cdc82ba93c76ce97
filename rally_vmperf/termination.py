# SPDX-License-Identifier: Apache-2.0
"""Handling of SIGTERM and SIGHUP as interrupts.

By default these signals end a process without clean-up, so that resources on
machines and in the cloud remain.
"""

import signal
import threading
import types


def as_interrupt() -> None:
    """Handle SIGTERM and SIGHUP like Ctrl-C in this process.

    Existing handlers are not replaced. Only the main thread can install a
    handler; in another thread, the function has no effect.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _handle_signal)


def _handle_signal(number: int, frame: types.FrameType | None) -> None:
    """Pass a signal on as SIGINT; raise KeyboardInterrupt if ignored."""
    # No exception is raised, because the handler of SIGINT, such as an event
    # loop that must end its tasks first, must handle these signals, too.
    if callable(signal.getsignal(signal.SIGINT)):
        signal.raise_signal(signal.SIGINT)
    else:
        # Shells start background processes with SIGINT ignored.
        raise KeyboardInterrupt
