# SPDX-License-Identifier: Apache-2.0
"""The tools that a run requires, their installation and versions."""

import collections.abc
import dataclasses
import os
import re
import typing as t
from urllib import parse

from rally_vmperf.bundles import bundle
from rally_vmperf.execution import assignment
from rally_vmperf.execution.stations import concurrency
from rally_vmperf.execution.stations import roles
from rally_vmperf.machines import base
from rally_vmperf.machines.provisioning import provision
from rally_vmperf.workloads import tools as tools_


def tools(
    assignments: collections.abc.Iterable[assignment.Assignment],
    *,
    side: t.Literal["machine", "peer", "both"] = "both",
) -> list[tools_.Tool]:
    """Return the tools of the workloads, each once, with the newest version.

    :param side: The side whose tools are returned: the measured machines with
        their partners, the peer, or both.
    """
    tools_by_command: dict[str, tools_.Tool] = {}
    for assigned in assignments:
        needs = assigned.workload.needs(assigned.arguments)
        if side == "peer" and not needs:
            continue
        sides = {side, "both"}
        if side == "both" or (side == "machine" and "partner" in needs):
            sides |= {"machine", "peer"}
        for tool in assigned.workload.tools(assigned.arguments):
            if tool.side not in sides:
                continue
            tool_so_far = tools_by_command.setdefault(tool.command, tool)
            if tools_.strictness(tool_so_far) < tools_.strictness(tool):
                tools_by_command[tool.command] = tool
    return list(tools_by_command.values())


async def ensure(
    assignments: collections.abc.Sequence[assignment.Assignment],
    stations: collections.abc.Sequence[roles.Station],
    peer: roles.Station | None,
    *,
    supply: provision.Supply,
) -> dict[str, dict[str, provision.ToolFacts]]:
    """Provision tools on all machines; return facts by station and tool.

    :param supply: The permitted ways to supply guests with missing tools; bare
        metal accepts only a bundle, and the peer nothing.
    :raises MachineError: If a tool is missing or too old; with the machine,
        the tool and the solution.
    """
    supply_of_others = dataclasses.replace(
        provision.NO_SUPPLY, bundle=supply.bundle
    )
    jobs = [
        (
            station,
            tools(assignments, side="machine"),
            supply if station.role == "guest" else supply_of_others,
        )
        for station in stations
    ]
    if peer is not None:
        required_tools = tools(assignments, side="peer")
        jobs.append((peer, required_tools, provision.NO_SUPPLY))
    answers = await concurrency.wait_for_all(
        _ensure(station, station_tools, station_supply)
        for station, station_tools, station_supply in jobs
    )
    facts_by_station = {}
    for (station, required_tools, _), facts in zip(jobs, answers, strict=True):
        for tool in required_tools:
            error = tools_.version_problem(tool, facts[tool.command].version)
            if error:
                raise base.MachineError(f"{station.name}: {error}")
        facts_by_station[station.name] = facts
    return facts_by_station


def describe_omissions(
    assignments: collections.abc.Sequence[assignment.Assignment],
    facts_by_station: collections.abc.Mapping[
        str, collections.abc.Mapping[str, provision.ToolFacts]
    ],
) -> list[str]:
    """Return the metrics that versions of tools omit, one sentence each."""
    stations_by_text: dict[str, list[str]] = {}
    for tool in tools(assignments):
        for name, facts in facts_by_station.items():
            if tool.command not in facts:
                continue
            text = tools_.describe_omission(tool, facts[tool.command].version)
            if text:
                stations_by_text.setdefault(text, []).append(name)
    return [
        f"warning: {', '.join(names)}: {text}"
        for text, names in stations_by_text.items()
    ]


async def _ensure(
    station: roles.Station,
    tools_to_provision: list[tools_.Tool],
    supply: provision.Supply,
) -> dict[str, provision.ToolFacts]:
    """Provision the tools on a station; return facts of each by its name."""
    unpacked = None
    if supply.bundle is not None:
        unpacked = await provision.unpack(
            station.machine, supply.bundle, station.folder
        )
        station.tools = unpacked.prefix
    return await provision.ensure(
        station.machine, tools_to_provision, supply=supply, unpacked=unpacked
    )


#: Raised if tools cannot be supplied as configured.
SupplyError = bundle.BundleError
#: Raised if a tool is missing and must not be installed.
ToolMissing = provision.ToolMissing

_PROXY = re.compile(
    r"http://([A-Za-z0-9][A-Za-z0-9.-]*|\[[0-9A-Fa-f:]+\])(:[0-9]{1,5})?/?"
)

#: Maximum number of characters of user and password.
_MAX_LOGIN_CHARACTERS = 1024


def create_supply(
    options: collections.abc.Mapping[str, t.Any],
) -> provision.Supply:
    """Return the permitted ways of supply from the options of vmperf_guests.

    :raises SupplyError: If an option is not valid; with the solution.
    """
    proxy, bundled = options.get("proxy", ""), options.get("bundle", "")
    if "@" in str(proxy):
        # The text before the sign must not be shown.
        raise SupplyError(
            "proxy: must not contain a user or a password, because task "
            "records would store them; use http://HOST:PORT, and write "
            "USER:PASSWORD to a file that proxy_login names"
        )
    if proxy != "" and not _PROXY.fullmatch(str(proxy)):
        raise SupplyError(
            f"proxy={proxy}: must have the form http://HOST:PORT"
        )
    login = options.get("proxy_login", "")
    if login and not proxy:
        raise SupplyError(f"proxy_login={login}: requires the option proxy")
    return provision.Supply(
        install=bool(options.get("install", True)),
        proxy=str(proxy),
        proxy_login=_read_login(str(login)) if login else "",
        bundle=bundle.load(str(bundled)) if bundled else None,
    )


def _read_login(path: str) -> str:
    """Return user and password from the first line of a file, URL-encoded.

    :raises SupplyError: If the file cannot be used; without its content.
    """
    try:
        with open(os.path.expanduser(path), encoding="utf-8") as lines:
            line = lines.readline(_MAX_LOGIN_CHARACTERS).strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not a text file"
        raise SupplyError(
            f"proxy_login={path}: {reason}; must be a file with USER:PASSWORD "
            "in its first line"
        ) from None
    user, colon, password = line.partition(":")
    if not user or not colon:
        raise SupplyError(
            f"proxy_login={path}: the first line must be USER:PASSWORD"
        )
    quoted = (
        parse.quote(credential, safe="") for credential in (user, password)
    )
    return ":".join(quoted)
