"""Why a package manager did not do its work, out of all that it says."""

import re

from rally_vmperf.machines import base

#: Beginnings of the lines that tell it, in apt, dnf and zypper.
_TELLING = re.compile(
    r"E: |W: Failed to fetch|Error: \S|- Curl error|- nothing provides|"
    r"Error message: |Problem: |No provider of "
)


def reason(stderr: str) -> str:
    """Return the first and the last telling line, or whatever was said last.

    The first is often the cause (no route), the last what came of it.
    """
    lines = [line.strip() for line in stderr.splitlines()]
    telling = [line[:200] for line in lines if _TELLING.match(line)]
    if not telling:
        return base.last_line(stderr)
    return ", ".join(dict.fromkeys((telling[0], telling[-1])))
