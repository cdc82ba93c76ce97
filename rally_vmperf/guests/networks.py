"""The networks of guests, and which of them serves for what."""

import collections.abc
import dataclasses
import typing as t

from openstack import connection as sdk

from rally_vmperf.guests import addresses
from rally_vmperf.guests import choices
from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.guests import request


@dataclasses.dataclass(frozen=True, kw_only=True)
class Networks:
    """The networks of a guest.

    :param every: in the order of its network cards
    :param reach_on: by its address there a guest is reached
    :param measure_on: by its address there other guests measure
    :param pool: the network of floating addresses, None for fixed ones
    """

    every: tuple[t.Any, ...]
    reach_on: t.Any
    measure_on: t.Any
    pool: t.Any


def choose(connection: sdk.Connection, asked: request.Request) -> Networks:
    """Return the networks that a request comes down to.

    :raises GuestError: for what is not there, or could be this or that
    """
    with cloud.asking("list networks"):
        seen = list(connection.network.networks())
    every = _every(asked, seen)
    reach_on = _reach_on(connection, asked, every)
    measure_on = reach_on
    if asked.measure_on:
        measure_on = _among("measure_on", asked.measure_on, every)
    pool = None
    if addresses.needs_floating(asked, reach_on):
        pool = addresses.floating_pool(connection, asked, reach_on)
    return Networks(
        every=every, reach_on=reach_on, measure_on=measure_on, pool=pool
    )


def _every(asked: request.Request, seen: list[t.Any]) -> tuple[t.Any, ...]:
    if not asked.networks:
        return (choices.network(asked, seen),)
    if asked.network:
        raise errors.GuestError(
            "network and networks: give only one of them; networks lists all, "
            "in the order of the guests' network cards"
        )
    every = tuple(choices.one("network", one, seen) for one in asked.networks)
    for number, one in enumerate(every):
        if one in every[:number]:
            raise errors.GuestError(
                f"networks: {one.name!r} is named twice; name each once"
            )
    return every


def _reach_on(
    connection: sdk.Connection,
    asked: request.Request,
    every: tuple[t.Any, ...],
) -> t.Any:
    """Return the network by which guests are reached.

    Never the first for being the first: a rule finds exactly one, or the
    task has to say.
    """
    if asked.reach_on:
        return _among("reach_on", asked.reach_on, every)
    if len(every) == 1:
        return every[0]
    found = [one for one in every if one.is_router_external]
    if asked.address == "floating" or (asked.address == "auto" and not found):
        found = [one for one in every if not one.is_router_external]
        if len(found) > 1:
            found = [
                one for one in found if addresses.gateways(connection, one)
            ]
    if len(found) == 1:
        return found[0]
    raise errors.GuestError(
        f"reach_on: address {asked.address!r} may be that on any of "
        f"{_names(found or every)}; choose one with "
        '"reach_on": {"name": ...}'
    )


def _among(
    option: str, wanted: request.Reference, every: tuple[t.Any, ...]
) -> t.Any:
    ((key, value),) = wanted.items()
    for one in every:
        if getattr(one, key) == value:
            return one
    raise errors.GuestError(
        f"{option}: {value!r} is not among the networks of the guests: "
        f"{_names(every)}"
    )


def _names(networks: collections.abc.Iterable[t.Any]) -> str:
    return ", ".join(str(one.name or one.id) for one in networks)
