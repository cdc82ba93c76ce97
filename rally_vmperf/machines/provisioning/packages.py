"""What installs packages on a machine."""

import collections.abc
import re
from urllib import parse

from rally_vmperf.machines import base
from rally_vmperf.machines import root
from rally_vmperf.machines import scripts

#: The package manager of which each program is a form, in the order in which
#: they are looked for: SUSE may have dnf, too.
KINDS = {
    "apt-get": "apt",
    "zypper": "zypper",
    "dnf": "dnf",
    "microdnf": "dnf",
    "yum": "dnf",
}


async def find_manager(machine: base.Machine) -> str:
    """Return the program that installs packages; empty if none is known.

    :raises MachineError: If the machine cannot run the search.
    """
    done = await machine.run(scripts.argv("manager.sh", *KINDS))
    if done.exit_status:
        raise base.MachineError(
            f"{machine.name} cannot tell its package manager: "
            f"{base.last_line(done.stderr)}"
        )
    manager = done.stdout.strip()
    return manager if manager in KINDS else ""


#: Beginnings of error lines of apt, dnf and zypper.
_ERROR_LINES = re.compile(
    r"E: |W: Failed to fetch|Error: \S|- Curl error|- nothing provides|"
    r"Error message: |Problem: |No provider of "
)


def reason(stderr: str) -> str:
    """Return the first and the last error line, else the last line.

    The first is often the cause (no route), the last what came of it.
    """
    lines = [line.strip() for line in stderr.splitlines()]
    errors = [line[:200] for line in lines if _ERROR_LINES.match(line)]
    if not errors:
        return base.last_line(stderr)
    return ", ".join(dict.fromkeys((errors[0], errors[-1])))


#: Seconds; a slow mirror is not an absent one.
_TIMEOUT = 1800


async def from_mirror(
    machine: base.Machine,
    manager: str,
    packages: collections.abc.Sequence[str],
    proxy: str,
    proxy_login: str = "",
) -> str:
    """Install packages from the machine's mirrors.

    :param proxy: URL by which the mirrors are reached, or empty; it is used
        this once and not kept
    :param proxy_login: user and password as a URL has them, or empty; they go
        by standard input, as others see command lines
    :returns: why it did not work, or whatever was said last
    """
    url = proxy.replace("://", f"://{proxy_login}@", 1)
    superuser = await root.as_root(machine)
    try:
        done = await superuser.run(
            scripts.argv(
                "install.sh", manager, "-" if proxy_login else proxy, *packages
            ),
            timeout=_TIMEOUT,
            input_bytes=f"{url}\n".encode() if proxy_login else b"",
        )
    except (base.TimedOut, base.OutputTooLong) as error:
        return str(error)
    said = done.stderr
    for secret in {proxy_login, parse.unquote(proxy_login)} - {""}:
        said = said.replace(secret, "(hidden)")
    return reason(said)
