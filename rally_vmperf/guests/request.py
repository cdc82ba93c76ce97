"""What guests are asked for."""

import collections.abc
import dataclasses
import typing as t

Reference = collections.abc.Mapping[str, str]
Address = t.Literal["auto", "floating", "fixed"]
IpVersion = t.Literal[4, 6, "any"]
#: Options that say how guests are reached once they are up.
REACHING = ("jump", "namespace", "login")
ServerGroup = t.Literal[
    "affinity", "anti-affinity", "soft-affinity", "soft-anti-affinity"
]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Request:
    """The guests of one task, as its author wrote them down.

    :param image: ``{"name": ...}`` or ``{"id": ...}``, like the flavor
    :param network: None for ``tenant_network``, else the only one there is
    :param tenant_network: the network that Rally made for this project
    :param networks: several, in the order of the network cards
    :param reach_on: which of them guests are reached on, None by rule
    :param measure_on: which of them guests measure on, None for the same
    :param host: the compute host to force the guests on, or None
    :param jump: one jump host or several in order, or None
    :param namespace: network namespace of this machine, or None
    :param login: ``{"key_file": ...}`` or ``{"password_file": ...}``, or None
        for the key that is made for the run
    :param host_key: ``{"given": True}``, ``{"known": ...}`` or
        ``{"console": True}``, by default the first
    :param aggregate: name of the host aggregate to force them into, or None
    :param boot_volume: ``{"size_gib": ..., "type": ...}``, None for the
        flavor's disk
    :param max_host_share: how full a host may become, in percent of what
        Nova may give away there
    """

    image: Reference
    flavor: Reference
    count: int = 1
    network: Reference | None = None
    tenant_network: str | None = None
    networks: collections.abc.Sequence[Reference] = ()
    reach_on: Reference | None = None
    measure_on: Reference | None = None
    address: Address = "auto"
    ip_version: IpVersion = 4
    floating_network: Reference | None = None
    host: str | None = None
    aggregate: str | None = None
    availability_zone: str | None = None
    server_group: ServerGroup | None = None
    boot_volume: collections.abc.Mapping[str, t.Any] | None = None
    user: str = "debian"
    user_data: str | None = None
    boot_timeout: float = 600
    config_drive: bool = False
    jump: t.Any = None
    namespace: str | None = None
    login: Reference | None = None
    max_host_share: float = 90
    host_key: collections.abc.Mapping[str, t.Any] | None = None

    def reaching(self) -> dict[str, t.Any]:
        """Return what was said of how guests are reached."""
        said = {name: getattr(self, name) for name in REACHING}
        return {name: value for name, value in said.items() if value}


def of_config(
    config: collections.abc.Mapping[str, t.Any],
    tenant_network: str | None = None,
) -> Request:
    """Return the request in the options of the vmperf_guests context."""
    names = {field.name for field in dataclasses.fields(Request)}
    asked = {key: value for key, value in config.items() if key in names}
    return Request(**{**asked, "tenant_network": tenant_network})
