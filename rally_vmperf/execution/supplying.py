"""How guests may come by tools, as the options of their context say."""

import collections.abc
import re
import typing as t

from rally_vmperf.machines import provision
from rally_vmperf.toolbox import folder
from rally_vmperf.toolbox import manifest

#: What keeps packages from being supplied as asked.
Error = manifest.ToolboxError

_PROXY = re.compile(
    r"http://([A-Za-z0-9][A-Za-z0-9.-]*|\[[0-9A-Fa-f:]+\])(:[0-9]{1,5})?/?"
)


def of_options(
    options: collections.abc.Mapping[str, t.Any],
) -> provision.Supply:
    """Return what the options of vmperf_guests allow, having checked them.

    :raises Error: naming the option, what is wrong with it, and the way out
    """
    proxy, tools = options.get("proxy", ""), options.get("tools", "")
    if "@" in str(proxy):
        # What is before the sign is not to be shown.
        raise Error(
            "proxy: it names a user or a password, which the task's records "
            "would keep; give http://HOST:PORT, and let the proxy admit the "
            "guests by their addresses"
        )
    if proxy != "" and not _PROXY.fullmatch(str(proxy)):
        raise Error(f"proxy {proxy!r}: it must be like http://HOST:PORT")
    return provision.Supply(
        install=bool(options.get("install", True)),
        proxy=str(proxy),
        tools=folder.load(str(tools)) if tools else None,
    )
