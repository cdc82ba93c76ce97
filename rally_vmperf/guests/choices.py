"""Images, flavors and networks by the names that a task gives them."""

import collections.abc
import typing as t

from openstack import connection as sdk

from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.guests import request

MIB, GIB = 1 << 20, 1 << 30


def image(connection: sdk.Connection, wanted: request.Reference) -> t.Any:
    """Return the active image of this name or id."""
    with cloud.asking("list images"):
        found = one("image", wanted, connection.image.images())
    if found.status != "active":
        raise errors.GuestError(
            f"image {found.name!r} is {found.status}, not active; wait for "
            "it or choose another"
        )
    return found


def flavor(connection: sdk.Connection, wanted: request.Reference) -> t.Any:
    """Return the flavor of this name or id."""
    with cloud.asking("list flavors"):
        return one("flavor", wanted, connection.compute.flavors())


def extra_specs(connection: sdk.Connection, flavor: t.Any) -> dict[str, str]:
    """Return a flavor's extra specs; empty where policy hides them."""
    try:
        full = connection.compute.fetch_flavor_extra_specs(flavor)
    except cloud.REFUSALS:
        return {}
    return dict(full.extra_specs or {})


def network(
    asked: request.Request, seen: collections.abc.Sequence[t.Any]
) -> t.Any:
    """Return the network that the guests are to be on.

    :param seen: the networks that the project sees
    """
    if asked.network:
        return one("network", asked.network, seen)
    if asked.tenant_network:
        return one("network", {"id": asked.tenant_network}, seen)
    return only("network", "network", seen)


def only(
    kind: str, option: str, seen: collections.abc.Sequence[t.Any]
) -> t.Any:
    """Return the only one there is.

    :raises GuestError: with the choices, when there are more or none
    """
    if len(seen) == 1:
        return seen[0]
    raise errors.GuestError(
        f"{kind}: the project sees {_names(seen)}; choose one with "
        f'"{option}": {{"name": ...}}'
    )


def check_fit(
    image: t.Any, flavor: t.Any, volume_gib: int | None = None
) -> None:
    """Refuse an image that does not fit into the flavor, or the volume.

    :param volume_gib: size of the volume in place of the flavor's disk
    :raises GuestError: with both figures
    """
    if (image.min_ram or 0) > flavor.ram:
        raise errors.GuestError(
            f"flavor {flavor.name!r} has {flavor.ram} MiB of memory, image "
            f"{image.name!r} needs {image.min_ram}; choose a larger flavor"
        )
    needed = max(
        (image.min_disk or 0) * GIB,
        image.virtual_size or 0,
        image.size or 0,
    )
    if volume_gib is not None:
        if needed > volume_gib * GIB:
            raise errors.GuestError(
                f"boot_volume: size_gib is {volume_gib}, image "
                f"{image.name!r} needs {-(-needed // GIB)}; ask for more"
            )
    elif flavor.disk and needed > flavor.disk * GIB:
        raise errors.GuestError(
            f"flavor {flavor.name!r} has a disk of {flavor.disk} GiB, image "
            f"{image.name!r} needs {-(-needed // GIB)}; choose a larger "
            "flavor"
        )


def one(
    kind: str,
    wanted: request.Reference,
    seen: collections.abc.Iterable[t.Any],
) -> t.Any:
    """Return the one of this name or id.

    :raises GuestError: with the choices, when there is none or several
    """
    everything = list(seen)
    ((key, value),) = wanted.items()
    found = [each for each in everything if getattr(each, key) == value]
    if len(found) == 1:
        return found[0]
    if found:
        identifiers = ", ".join(sorted(each.id for each in found))
        raise errors.GuestError(
            f"{kind} {value!r}: {len(found)} have this name; choose one by "
            f"id: {identifiers}"
        )
    raise errors.GuestError(
        f"{kind} {value!r} is not there; the project sees {_names(everything)}"
    )


def _names(seen: collections.abc.Iterable[t.Any], most: int = 20) -> str:
    names = sorted({str(each.name or each.id) for each in seen})
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more if names else "none"
