"""Package managers of machines."""

import collections.abc
import re
from urllib import parse

from rally_vmperf.machines import base
from rally_vmperf.machines import root
from rally_vmperf.machines import scripts

#: Program -> kind of package manager, in the order of the search: SUSE may
#: also have dnf.
KINDS = {
    "apt-get": "apt",
    "zypper": "zypper",
    "dnf": "dnf",
    "microdnf": "dnf",
    "yum": "dnf",
}


async def find_manager(machine: base.Machine) -> str:
    """Return the name of a machine's package manager, or "".

    :raises MachineError: If the machine cannot run the search.
    """
    done = await machine.run(scripts.argv("manager.sh", *KINDS))
    if done.exit_status:
        raise base.MachineError(
            f"{machine.name} cannot determine its package manager: "
            f"{base.last_line(done.stderr)}"
        )
    manager = done.stdout.strip()
    return manager if manager in KINDS else ""


#: Beginnings of error lines of apt, dnf and zypper.
_ERROR_LINES = re.compile(
    r"E: |W: Failed to fetch|Error: \S|- Curl error|- nothing provides|"
    r"Error message: |Problem: |No provider of "
)


def error_reason(stderr: str) -> str:
    """Return the first and the last error line as text, else the last line.

    The first is often the cause (no route), the last is its consequence.
    """
    lines = [line.strip() for line in stderr.splitlines()]
    errors = [line[:200] for line in lines if _ERROR_LINES.match(line)]
    if not errors:
        return base.last_line(stderr)
    return ", ".join(dict.fromkeys((errors[0], errors[-1])))


#: Timeout in seconds, sufficient for a slow mirror.
_TIMEOUT = 1800


async def install_from_mirror(
    machine: base.Machine,
    manager: str,
    packages: collections.abc.Sequence[str],
    proxy: str,
    proxy_login: str = "",
) -> str:
    """Install packages; return the last output or error line as text.

    :param proxy: The URL of the proxy, which is not stored; empty for none.
    :param proxy_login: The user and password in the form of a URL, passed by
        standard input, because command lines are visible; empty for none.
    :returns: The reason of a failure, or the last line of the output.
    """
    input_bytes = b""
    if proxy_login:
        url = proxy.replace("://", f"://{proxy_login}@", 1)
        proxy, input_bytes = "-", f"{url}\n".encode()
    superuser = await root.as_root(machine)
    try:
        done = await superuser.run(
            scripts.argv("install.sh", manager, proxy, *packages),
            timeout=_TIMEOUT,
            input_bytes=input_bytes,
        )
    except (base.TimedOut, base.OutputTooLong) as error:
        return str(error)
    stderr = done.stderr
    for secret in {proxy_login, parse.unquote(proxy_login)} - {""}:
        stderr = stderr.replace(secret, "(hidden)")
    return error_reason(stderr)
