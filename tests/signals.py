# SPDX-License-Identifier: Apache-2.0
"""Signals as a login shell leaves them."""

import signal

#: Before a command whose process is told to end.  A shell, nohup or a
#: scheduler may have the tests ignore signals, and what they start inherits
#: that.
DEFAULT = ("env", "--default-signal=HUP,INT,TERM")


def heed_ctrl_c(case):
    """Have this process take Ctrl-C, for the time of a test."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    case.addCleanup(signal.signal, signal.SIGINT, before)
