"""Neutron's agents, and the paths that they set up."""

import collections.abc
import typing as t

from rally_vmperf.cloud.network import paths
from rally_vmperf.cloud.resources import inventory
from rally_vmperf.cloud.services import services
from rally_vmperf.cloud.services import supervisor
from rally_vmperf.cloud.state import credentials
from rally_vmperf.cloud.system import documents
from rally_vmperf.cloud.system import errors
from rally_vmperf.cloud.system import layout

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
    folders: layout.Layout,
    keeper: supervisor.Supervisor,
    cloud: t.Any,
    data_paths: list[paths.DataPath],
    wanted: list[services.Service],
    found: collections.abc.Callable[[str, str], None],
) -> None:
    """Check the paths of packets; have the agents set up broken ones again.

    :param folders: the state root's folders
    :param keeper: starts the agents
    :param cloud: a connection as administrator
    :param data_paths: the paths that must work
    :param wanted: the agents
    :param found: called with what was wrong and what was done
    """
    settled = (documents.read(folders.data_paths) or {}).get("agents") == runs(
        keeper
    )
    # What these very agents had laid already does not come by waiting.
    wrong = paths.settled(data_paths, 0 if settled else SETTLING)
    for trouble in wrong:
        found(trouble, "all agents' networks were recreated")
    if wrong:
        paths.remove(keeper, folders, NAMES)
        for service in wanted:
            keeper.ensure(service)
        wait(cloud, keeper)
        wrong = paths.settled(data_paths, SETTLING)
    if wrong:
        raise errors.CloudError(
            f"{wrong[0]}, also after Neutron's agents were restarted; "
            f"see {folders.log}/neutron-*-agent.log"
        )
    paths.save(folders, data_paths, runs(keeper))


def runs(keeper: supervisor.Supervisor) -> str:
    """Return identifiers of the agents' current runs."""
    return credentials.digest(str(keeper.running(name)) for name in NAMES)
