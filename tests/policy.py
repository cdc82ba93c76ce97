"""Install Debian packages without starting their services."""

import collections.abc
import contextlib
import pathlib

POLICY = pathlib.Path("/usr/sbin/policy-rc.d")
SAVED = POLICY.with_name("policy-rc.d.before-vmperf")
OURS = """\
#!/bin/sh
# Put here by tests while they install packages: start no service.
exit 101
"""


@contextlib.contextmanager
def nothing_started() -> collections.abc.Iterator[None]:
    """Keep packages from starting their services."""
    restore_policy()
    if POLICY.exists():
        POLICY.rename(SAVED)
    POLICY.write_text(OURS)
    POLICY.chmod(0o755)
    try:
        yield
    finally:
        restore_policy()


def restore_policy() -> None:
    """Put the machine's own policy back, also after an interrupted run."""
    if POLICY.exists() and POLICY.read_text() == OURS:
        POLICY.unlink()
    if SAVED.exists():
        SAVED.rename(POLICY)
