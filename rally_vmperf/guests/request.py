"""The guests that a task asks for: groups of them, and what all share."""

import collections.abc
import dataclasses
import ipaddress
import typing as t

from rally_vmperf.guests import errors
from rally_vmperf.machines.remote import target
from rally_vmperf.measurement.samples import units

if t.TYPE_CHECKING:
    from rally_vmperf.machines.remote import hostkey
    from rally_vmperf.machines.remote import routes

Json = collections.abc.Mapping[str, t.Any]
Address = t.Literal["auto", "floating", "fixed"]
IpVersion = t.Literal[4, 6]
#: Options that say how guests are reached once they are up.
REACHING = ("jump", "namespace", "allowed_sources", "login")
ServerGroup = t.Literal[
    "affinity", "anti-affinity", "soft-affinity", "soft-anti-affinity"
]
#: What the group is called where a task asks for one without a name.
GROUP = "default"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Reference:
    """A resource of the cloud, by its exact name or its identifier."""

    by: t.Literal["name", "id"]
    value: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class BootVolume:
    """A volume in place of the flavor's disk.

    :param type: name of its type, None for the cloud's default
    """

    size_gib: int
    type: str | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class KeySource:
    """How a guest's host key is known.

    :param line: the public key line, where it is known
    """

    kind: t.Literal["generated", "public_key", "console"] = "generated"
    line: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Group:
    """Guests of one flavor and image, as the author of a task wrote them down.

    :param login: None for the key that is made for the run
    :param boot_volume: None for the flavor's disk
    """

    name: str = GROUP
    image: Reference
    flavor: Reference
    count: int = 1
    boot_volume: BootVolume | None = None
    user: str = "debian"
    user_data: str | None = None
    login: target.Login | None = None
    host_key: KeySource = KeySource()
    config_drive: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class Request:
    """The guests of one run, and what belongs to all of them.

    :param network: None for ``tenant_network``, else the only one there is
    :param tenant_network: the network that Rally made for this project
    :param networks: several, in the order of the ports
    :param ssh_network: which of them guests are reached on, None by rule
    :param traffic_network: which of them guests measure on, None for the same
    :param host: the compute host to force the guests on, or None
    :param hosts: several, on which guests are put in turn
    :param aggregate: name of the host aggregate to force them into, or None
    :param jump: jump hosts in order
    :param namespace: network namespace of this machine, or None
    :param allowed_sources: The networks from which SSH is allowed; if
        empty, they are detected.
    :param key_type: of the keys that are made for the run, None for the usual
    :param max_host_share: how full a host may become, in percent of what
        Nova may give away there
    :param one_host: they are to share one, where no other placement is asked
        for
    """

    groups: tuple[Group, ...]
    network: Reference | None = None
    tenant_network: str | None = None
    networks: tuple[Reference, ...] = ()
    ssh_network: Reference | None = None
    traffic_network: Reference | None = None
    address: Address = "auto"
    ip_version: IpVersion = 4
    floating_network: Reference | None = None
    host: str | None = None
    hosts: tuple[str, ...] = ()
    aggregate: str | None = None
    availability_zone: str | None = None
    server_group: ServerGroup | None = None
    jump: tuple[target.JumpHost, ...] = ()
    namespace: str | None = None
    allowed_sources: "tuple[routes.Network, ...]" = ()
    key_type: "hostkey.Type | None" = None
    max_host_share: float = 90
    boot_timeout: float = 600
    one_host: bool = False

    @property
    def count(self) -> int:
        """How many guests all groups have."""
        return sum(group.count for group in self.groups)

    def title(self) -> str:
        """Return how many guests there are, in words."""
        return units.number_of("guest", self.count)


def of_config(
    config: Json, tenant_network: str | None = None, *, one_host: bool = False
) -> Request:
    """Return the request in the options of the vmperf_guests context.

    :param one_host: the guests are to share one, as ``Request`` has it
    :raises GuestError: for groups that have the same name, or sources that
        are no networks
    """
    asked = _known(Request, config)
    for key in (
        "network",
        "ssh_network",
        "traffic_network",
        "floating_network",
    ):
        asked[key] = reference(asked[key]) if asked.get(key) else None
    asked["networks"] = tuple(map(reference, asked.get("networks") or ()))
    asked["hosts"] = tuple(asked.get("hosts") or ())
    asked["jump"] = target.jump_hosts(asked.get("jump"))
    asked["allowed_sources"] = sources(config)
    asked["groups"] = tuple(_group(one) for one in group_options(config))
    return Request(
        **{**asked, "tenant_network": tenant_network, "one_host": one_host}
    )


def sources(config: Json) -> "tuple[routes.Network, ...]":
    """Return the networks in the option ``allowed_sources``, each once.

    :raises GuestError: for what is no network
    """
    found = []
    for one in config.get("allowed_sources") or ():
        try:
            found.append(ipaddress.ip_network(one))
        except ValueError as error:
            raise errors.GuestError(
                f"vmperf_guests allowed_sources: {error}; give an address, or "
                "a network such as 192.0.2.0/24"
            ) from None
    return tuple(dict.fromkeys(found))


def reference(given: collections.abc.Mapping[str, str]) -> Reference:
    """Return a reference given as ``{name: ...}`` or ``{id: ...}``."""
    ((by, value),) = given.items()
    return Reference(by=t.cast(t.Literal["name", "id"], by), value=value)


def group_options(config: Json) -> list[dict[str, t.Any]]:
    """Return the options of each group, whichever form they are given in.

    Beside ``groups``, options of a group hold for all groups that do not
    say otherwise.

    :raises GuestError: for both forms at once, or a name given twice
    """
    shared = _known(Group, config)
    if "groups" not in config:
        return [{"name": GROUP, **shared}]
    for key in ("image", "flavor"):
        if key in shared:
            raise errors.GuestError(
                f"vmperf_guests: {key} and groups exclude one another; give "
                f"{key} in each group"
            )
    shared.pop("count", None)
    given = config["groups"]
    if not (
        isinstance(given, list)
        and given
        and all(isinstance(one, dict) and "name" in one for one in given)
    ):
        raise errors.GuestError(
            f"vmperf_guests groups: {given!r:.80} is no list of groups, each "
            "{name: ..., image: ..., flavor: ..., count: ...}"
        )
    groups = [{**shared, **one} for one in given]
    names = [one["name"] for one in groups]
    for name in names:
        if names.count(name) > 1:
            raise errors.GuestError(
                f"vmperf_guests groups: {name!r} names "
                f"{names.count(name)} groups; give each a name of its own"
            )
    return groups


def one_group(config: Json, name: str | None = None) -> dict[str, t.Any]:
    """Return the options as if only one group had been asked for.

    :param name: of the group; None for the only one there is
    :raises GuestError: when there is no such group, or there are several
    """
    groups = group_options(config)
    names = ", ".join(one["name"] for one in groups)
    found = [one for one in groups if name in (None, one["name"])]
    if len(found) > 1:
        raise errors.GuestError(
            f"vmperf_guests groups: {len(found)} are given ({names}), the "
            "scenario measures one; give one"
        )
    if not found:
        raise errors.GuestError(
            f"vmperf_guests groups: {name!r} is not there; there are: {names}"
        )
    options = {key: one for key, one in config.items() if key != "groups"}
    if "groups" not in config:
        return options
    return options | {k: v for k, v in found[0].items() if k != "name"}


def _group(options: Json) -> Group:
    given = dict(options)
    for key in ("image", "flavor"):
        given[key] = reference(given[key])
    volume, login = given.get("boot_volume"), given.get("login")
    given["boot_volume"] = BootVolume(**volume) if volume else None
    given["login"] = target.Login(**login) if login else None
    given["host_key"] = _key_source(given.get("host_key") or {})
    return Group(**given)


def _key_source(given: Json) -> KeySource:
    if "public_key" in given:
        return KeySource(
            kind="public_key", line=str(given["public_key"]).strip()
        )
    return KeySource(kind="console" if "console" in given else "generated")


def _known(kind: type[t.Any], config: Json) -> dict[str, t.Any]:
    names = {field.name for field in dataclasses.fields(kind)} - {"name"}
    return {key: value for key, value in config.items() if key in names}
