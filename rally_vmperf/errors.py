# SPDX-License-Identifier: Apache-2.0
"""The base class of all rally_vmperf errors."""

from rally_vmperf import sanitize


class VMPerfError(Exception):
    """A problem that the user can correct; the message names the solution.

    Rally does not escape errors in its report, and terminals interpret
    control characters. The constructor therefore sanitises the message,
    which may quote external text.
    """

    def __init__(self, message: object = "") -> None:
        super().__init__(sanitize.text(message))
