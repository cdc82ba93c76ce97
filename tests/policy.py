# SPDX-License-Identifier: Apache-2.0
"""Install Debian packages without starting their services.

    python -m tests.policy PACKAGE...

installs the packages that are missing; root is required only then.
"""

import collections.abc
import contextlib
import pathlib
import sys

from rally_vmperf import errors
from rally_vmperf.image import packages

POLICY = pathlib.Path("/usr/sbin/policy-rc.d")
SAVED = POLICY.with_name("policy-rc.d.before-vmperf")
#: The output of apt.
LOG = pathlib.Path(__file__).parent.parent / "build" / "packages.log"
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


def main(names: collections.abc.Sequence[str]) -> int:
    """Install the packages that are missing, and return the exit code.

    :param names: The names of the packages.
    """
    missing = packages.find_missing(names)
    if not missing:
        return 0
    print(f"installing {', '.join(missing)}", flush=True)
    try:
        LOG.parent.mkdir(exist_ok=True)
        with nothing_started():
            packages.install(missing, LOG)
    except (OSError, errors.VMPerfError) as error:
        print(f"cannot install packages: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
