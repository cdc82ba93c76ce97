"""Which tools a run needs, and whether every machine has them."""

import collections.abc

from rally_vmperf.execution import assignment
from rally_vmperf.execution import concurrency
from rally_vmperf.execution import station as stations
from rally_vmperf.machines import base
from rally_vmperf.machines import provision
from rally_vmperf.workloads import tools as tools_


def tools(
    assignments: collections.abc.Iterable[assignment.Assignment],
    *,
    served: bool = False,
) -> list[tools_.Tool]:
    """Return the tools of the workloads, each once, as new as any wants it.

    :param served: only those of workloads that need an other end
    """
    wanted: dict[str, tools_.Tool] = {}
    for one in assignments:
        if served and not one.workload.needs(one.arguments):
            continue
        for tool in one.workload.tools(one.arguments):
            known = wanted.setdefault(tool.command, tool)
            if tools_.oldest(known) < tools_.oldest(tool):
                wanted[tool.command] = tool
    return list(wanted.values())


async def ensure(
    assignments: collections.abc.Sequence[assignment.Assignment],
    places: collections.abc.Sequence[stations.Station],
    peer: stations.Station | None,
    *,
    supply: provision.Supply,
) -> dict[str, dict[str, provision.ToolFacts]]:
    """Have every tool on every machine; return what they are, by station.

    :param supply: how what guests lack may come there; never to others
    :raises MachineError: naming the machine, the tool and the way out, also
        for one that is too old
    """
    jobs = [
        (
            place,
            tools(assignments),
            supply if place.role == "guest" else provision.NOTHING,
        )
        for place in places
    ]
    if peer is not None:
        needed = tools(assignments, served=True)
        jobs.append((peer, needed, provision.NOTHING))
    answers = await concurrency.wait_for_all(
        provision.ensure(place.machine, wanted, supply=allowed)
        for place, wanted, allowed in jobs
    )
    found = {}
    for (place, needed, _), facts in zip(jobs, answers, strict=True):
        for tool in needed:
            why = tools_.too_old(tool, facts[tool.command].version)
            if why:
                raise base.MachineError(f"{place.name}: {why}")
        found[place.name] = facts
    return found
