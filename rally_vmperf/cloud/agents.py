"""Neutron's agents, and the ways that they lay."""

import collections.abc
import typing as t

from rally_vmperf.cloud import credentials
from rally_vmperf.cloud import documents
from rally_vmperf.cloud import errors
from rally_vmperf.cloud import inventory
from rally_vmperf.cloud import layout
from rally_vmperf.cloud import paths
from rally_vmperf.cloud import services
from rally_vmperf.cloud import supervisor

NAMES = tuple(
    f"neutron-{name}-agent"
    for name in ("linuxbridge", "dhcp", "l3", "metadata")
)
# Seconds in which agents that were just started lay everything.
SETTLING = 45.0


def since(keeper: supervisor.Supervisor, name: str) -> float:
    """Return when a service was started, to the second like the APIs.

    :param keeper: started it
    :param name: the service
    """
    record = keeper.running(name)
    if record is None:
        raise errors.CloudError(f"{name} ended; see {keeper.log(name)}")
    return record.since // 1


def wait(cloud: t.Any, keeper: supervisor.Supervisor) -> None:
    """Wait until Neutron has heard of its agents' present runs.

    :param cloud: a connection as administrator
    :param keeper: started them
    """
    starts = {name: since(keeper, name) for name in NAMES}
    inventory.wait_for_agents(cloud, starts)


def ensure_paths(
    place: layout.Layout,
    keeper: supervisor.Supervisor,
    cloud: t.Any,
    ways: list[paths.Way],
    wanted: list[services.Service],
    found: collections.abc.Callable[[str, str], None],
) -> None:
    """Have working ways for packets; have them laid anew if need be.

    :param place: the state root's folders
    :param keeper: starts the agents
    :param cloud: a connection as administrator
    :param ways: what must work
    :param wanted: the agents
    :param found: called with what was wrong and what was done
    """
    seen = (documents.read(place.ways) or {}).get("agents") == runs(keeper)
    # What these very agents had laid already does not come by waiting.
    wrong = paths.settled(ways, 0 if seen else SETTLING)
    for trouble in wrong:
        found(trouble, "all agents' networks were made anew")
    if wrong:
        paths.remove(keeper, place, NAMES)
        for service in wanted:
            keeper.ensure(service)
        wait(cloud, keeper)
        wrong = paths.settled(ways, SETTLING)
    if wrong:
        raise errors.CloudError(
            f"{wrong[0]}, also after Neutron's agents were started anew; "
            f"see {place.log}/neutron-*-agent.log"
        )
    paths.save(place, ways, runs(keeper))


def runs(keeper: supervisor.Supervisor) -> str:
    """Return what tells the agents' present runs from all others."""
    return credentials.digest(str(keeper.running(name)) for name in NAMES)
