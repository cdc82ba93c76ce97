"""Images, flavors and networks by the names that a task gives them."""

import collections.abc
import typing as t

from openstack import connection as sdk

from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.guests import guest
from rally_vmperf.guests import request

MIB, GIB = 1 << 20, 1 << 30


#: Whatever the cloud gives an identifier and a name.
N = t.TypeVar("N", bound=t.Any)


def image(connection: sdk.Connection, wanted: request.Reference) -> t.Any:
    """Return the active image of this name or id, as the SDK has it."""
    with cloud.asking("list images"):
        found = find("image", wanted, connection.image.images)
    if found.status != "active":
        raise errors.GuestError(
            f"image {found.name!r} is {found.status}, not active; wait for "
            "it or choose another"
        )
    return found


def flavor(
    connection: sdk.Connection, wanted: request.Reference
) -> guest.Flavor:
    """Return the flavor of this name or id."""
    with cloud.asking("list flavors"):
        found = one("flavor", wanted, connection.compute.flavors())
    extra_specs: dict[str, str] = {}
    asked = f"read the limits of flavor {found.name}"
    with cloud.asking(asked), cloud.unless_forbidden():
        full = connection.compute.fetch_flavor_extra_specs(found)
        extra_specs = dict(full.extra_specs or {})
    return guest.Flavor(
        id=found.id,
        name=found.name,
        vcpus=found.vcpus,
        memory_mib=found.ram,
        disk_gib=found.disk,
        extra_specs=extra_specs,
    )


def only(kind: str, option: str, choices: collections.abc.Sequence[N]) -> N:
    """Return the only choice.

    :raises GuestError: with the choices, when there are more or none
    """
    if len(choices) == 1:
        return choices[0]
    raise errors.GuestError(
        f"{kind}: the project sees {names(choices)}; choose one with "
        f'"{option}": {{"name": ...}}'
    )


def check_fit(
    image: t.Any, flavor: guest.Flavor, volume_gib: int | None = None
) -> None:
    """Refuse an image that does not fit into the flavor, or the volume.

    :param image: as the SDK has it
    :param volume_gib: size of the volume in place of the flavor's disk
    :raises GuestError: with both figures
    """
    if (image.min_ram or 0) > flavor.memory_mib:
        raise errors.GuestError(
            f"flavor {flavor.name!r} has {flavor.memory_mib} MiB of memory, "
            f"image {image.name!r} needs {image.min_ram}; choose a larger "
            "flavor"
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
    elif flavor.disk_gib and needed > flavor.disk_gib * GIB:
        raise errors.GuestError(
            f"flavor {flavor.name!r} has a disk of {flavor.disk_gib} GiB, "
            f"image {image.name!r} needs {-(-needed // GIB)}; choose a "
            "larger flavor"
        )


def find(
    kind: str,
    wanted: request.Reference,
    ask: collections.abc.Callable[..., collections.abc.Iterable[N]],
) -> N:
    """Return the one of this name or id, which the service looks for.

    A cloud may have many thousands.  All are listed only to name the choices,
    where there is no such one.

    :param ask: lists what has the attributes that it is given
    """
    return one(kind, wanted, list(ask(**{wanted.by: wanted.value})) or ask())


def one(
    kind: str,
    wanted: request.Reference,
    choices: collections.abc.Iterable[N],
) -> N:
    """Return the choice with this name or id.

    :raises GuestError: with the choices, when there is none or several
    """
    everything = list(choices)
    found = [
        each for each in everything if getattr(each, wanted.by) == wanted.value
    ]
    if len(found) == 1:
        return found[0]
    if found:
        identifiers = ", ".join(sorted(each.id for each in found))
        raise errors.GuestError(
            f"{kind} {wanted.value!r}: {len(found)} have this name; choose "
            f"one by id: {identifiers}"
        )
    raise errors.GuestError(
        f"{kind} {wanted.value!r} is not there; the project sees "
        f"{names(everything)}"
    )


def names(choices: collections.abc.Iterable[t.Any], limit: int = 20) -> str:
    """Return the names of the choices, in alphabetical order."""
    found = sorted({str(each.name or each.id) for each in choices})
    more = f" and {len(found) - limit} more" if len(found) > limit else ""
    return ", ".join(found[:limit]) + more if found else "none"
