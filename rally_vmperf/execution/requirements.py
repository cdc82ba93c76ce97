"""Tools that a run needs, how they come to machines, and their versions."""

import collections.abc
import dataclasses
import os
import re
import typing as t
from urllib import parse

from rally_vmperf.execution import assignment
from rally_vmperf.execution.stations import concurrency
from rally_vmperf.execution.stations import station as stations_
from rally_vmperf.machines import base
from rally_vmperf.machines.provisioning import bundles
from rally_vmperf.machines.provisioning import provision
from rally_vmperf.toolbox import bundle
from rally_vmperf.workloads import tools as tools_


def tools(
    assignments: collections.abc.Iterable[assignment.Assignment],
    *,
    side: t.Literal["machine", "peer", "both"] = "both",
) -> list[tools_.Tool]:
    """Return the tools of the workloads, each once, as new as any wants it.

    :param side: those that the measured machines need, a partner of theirs
        among them, those that the peer needs, or all
    """
    wanted: dict[str, tools_.Tool] = {}
    for one in assignments:
        needs = one.workload.needs(one.arguments)
        if side == "peer" and not needs:
            continue
        sides = {side, "both"}
        if side == "both" or (side == "machine" and "partner" in needs):
            sides |= {"machine", "peer"}
        for tool in one.workload.tools(one.arguments):
            if tool.side not in sides:
                continue
            known = wanted.setdefault(tool.command, tool)
            if tools_.oldest(known) < tools_.oldest(tool):
                wanted[tool.command] = tool
    return list(wanted.values())


async def ensure(
    assignments: collections.abc.Sequence[assignment.Assignment],
    stations: collections.abc.Sequence[stations_.Station],
    peer: stations_.Station | None,
    *,
    supply: provision.Supply,
) -> dict[str, dict[str, provision.ToolFacts]]:
    """Provision every tool on every machine; return the tools by station.

    :param supply: how what guests lack may come there; to others nothing but
        a bundle, and to the peer not even that
    :raises MachineError: naming the machine, the tool and the way out, also
        for one that is too old
    """
    others = dataclasses.replace(provision.NOTHING, bundle=supply.bundle)
    jobs = [
        (
            station,
            tools(assignments, side="machine"),
            supply if station.role == "guest" else others,
        )
        for station in stations
    ]
    if peer is not None:
        needed = tools(assignments, side="peer")
        jobs.append((peer, needed, provision.NOTHING))
    answers = await concurrency.wait_for_all(
        _ensure(station, wanted, allowed) for station, wanted, allowed in jobs
    )
    found = {}
    for (station, needed, _), facts in zip(jobs, answers, strict=True):
        for tool in needed:
            why = tools_.too_old(tool, facts[tool.command].version)
            if why:
                raise base.MachineError(f"{station.name}: {why}")
        found[station.name] = facts
    return found


async def _ensure(
    station: stations_.Station,
    wanted: list[tools_.Tool],
    allowed: provision.Supply,
) -> dict[str, provision.ToolFacts]:
    unpacked = None
    if allowed.bundle is not None:
        unpacked = await bundles.unpack(
            station.machine, allowed.bundle, station.folder
        )
        station.tools = unpacked.prefix
    return await provision.ensure(
        station.machine, wanted, supply=allowed, unpacked=unpacked
    )


#: What keeps tools from being supplied as asked.
SupplyError = bundle.BundleError
#: What is raised where a tool is missing and none may be installed.
ToolMissing = provision.ToolMissing

_PROXY = re.compile(
    r"http://([A-Za-z0-9][A-Za-z0-9.-]*|\[[0-9A-Fa-f:]+\])(:[0-9]{1,5})?/?"
)

#: Characters of a user and a password.
_LONGEST_LOGIN = 1024


def supply_of(
    options: collections.abc.Mapping[str, t.Any],
) -> provision.Supply:
    """Return what the options of vmperf_guests allow, having checked them.

    :raises SupplyError: naming the option, what is wrong, and the way out
    """
    proxy, bundled = options.get("proxy", ""), options.get("bundle", "")
    if "@" in str(proxy):
        # What is before the sign is not to be shown.
        raise SupplyError(
            "proxy: it names a user or a password, which the task's records "
            "would keep; give http://HOST:PORT, and write USER:PASSWORD into "
            "a file that proxy_login names"
        )
    if proxy != "" and not _PROXY.fullmatch(str(proxy)):
        raise SupplyError(f"proxy {proxy!r}: it must be like http://HOST:PORT")
    login = options.get("proxy_login", "")
    if login and not proxy:
        raise SupplyError(f"proxy_login {login!r}: there is no proxy")
    return provision.Supply(
        install=bool(options.get("install", True)),
        proxy=str(proxy),
        proxy_login=_login(str(login)) if login else "",
        bundle=bundle.load(str(bundled)) if bundled else None,
    )


def _login(path: str) -> str:
    """Return user and password, the first line of a file, as a URL has them.

    :raises SupplyError: without showing what is in the file
    """
    try:
        with open(os.path.expanduser(path), encoding="utf-8") as lines:
            found = lines.readline(_LONGEST_LOGIN).strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise SupplyError(
            f"proxy_login {path!r}: {reason}; name a file with USER:PASSWORD "
            "in its first line"
        ) from None
    user, colon, password = found.partition(":")
    if not user or not colon:
        raise SupplyError(
            f"proxy_login {path!r}: its first line must be USER:PASSWORD"
        )
    quoted = (parse.quote(one, safe="") for one in (user, password))
    return ":".join(quoted)
