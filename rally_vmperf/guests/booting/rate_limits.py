"""Policies that limit the rates of guests: flavor, volume type and port."""

import collections.abc
import functools
import typing as t

from openstack import connection as sdk

from rally_vmperf.guests import cloud
from rally_vmperf.guests import guest
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.comparison import caps

#: What Nova and Cinder call limits of a disk, with what they limit.
_DISK = {"bytes_sec": "B/s", "iops_sec": "ops/s"}
_BEGINNING = "quota:"
#: Of Nova's average rate of an interface, in kilobytes per second.
_KILOBYTE = 8e3
_KILOBIT = 1e3

Caps = list[caps.Cap]


def of_flavor(flavor: guest.Flavor) -> tuple[list[finding.Finding], Caps]:
    """Return what a flavor limits: its quotas, and the rates among them."""
    limits = {
        key: value
        for key, value in sorted(flavor.extra_specs.items())
        if key.startswith(_BEGINNING)
    }
    what = f"flavor {flavor.name}"
    found = []
    for key, value in limits.items():
        name = key.removeprefix(_BEGINNING)
        if name.startswith("disk_"):
            found += _of_disk(name.removeprefix("disk_"), value, what)
        elif name in ("vif_inbound_average", "vif_outbound_average"):
            rate = _number(value) * _KILOBYTE
            found += [caps.network(rate, f"{what} ({name})")] if rate else []
    return _told(what, limits), found


def of_volume_type(
    admin: sdk.Connection, name: str
) -> tuple[list[finding.Finding], Caps]:
    """Return what the QoS specifications of a volume type limit.

    Cinder shows them to administrators only.

    :raises: what the SDK raises where Cinder refuses
    """
    types = _json(admin.block_storage.get("/types"), "volume_types")
    identifier = next(
        (x.get("qos_specs_id") for x in types if x["name"] == name), None
    )
    if not identifier:
        return [], []
    answer = admin.block_storage.get(f"/qos-specs/{identifier}")
    limits = _json(answer, "qos_specs").get("specs", {})
    what = f"volume type {name}"
    found = [
        one
        for key, value in sorted(limits.items())
        for one in _of_disk(key, value, what)
    ]
    return _told(what, limits), found


def of_port_policy(
    connection: sdk.Connection, identifier: str
) -> tuple[list[finding.Finding], Caps]:
    """Return what a QoS policy of a port, or of its network, limits.

    :raises: what the SDK raises where Neutron refuses
    """
    policy = connection.network.get_qos_policy(identifier)
    what = f"QoS policy {policy.name}"
    limits, found = {}, []
    for rule in policy.rules or ():
        rate = _number(rule.get("max_kbps"))
        if rate:
            way = str(rule.get("direction", "egress"))
            limits[f"{way} max_kbps"] = rule["max_kbps"]
            found.append(caps.network(rate * _KILOBIT, f"{what} ({way})"))
    return _told(what, limits), found


def of_guests(
    connection: sdk.Connection,
    admin: sdk.Connection | None,
    *,
    flavors: collections.abc.Iterable[guest.Flavor],
    volume_types: collections.abc.Iterable[str],
    port_policies: collections.abc.Iterable[str],
    progress: t.Callable[[str], None],
) -> tuple[list[finding.Finding], Caps]:
    """Return all that limits the rates of guests, as far as it can be read.

    :param admin: who may see what limits volumes, if there is one
    :param port_policies: identifiers
    :param progress: is told what cannot be read
    """
    every = [of_flavor(one) for one in flavors]
    asked: list[tuple[str, t.Callable[[], t.Any]]] = [
        (
            f"QoS policy {one}",
            functools.partial(of_port_policy, connection, one),
        )
        for one in sorted(set(port_policies))
    ]
    if admin is not None:
        asked += [
            (
                f"volume type {one}",
                functools.partial(of_volume_type, admin, one),
            )
            for one in sorted(set(volume_types))
        ]
    for what, ask in asked:
        try:
            every.append(ask())
        except cloud.REFUSALS as error:
            progress(f"{what} cannot be read: {cloud.one_line(error)}")
    return (
        [x for found, _ in every for x in found],
        [x for _, limits in every for x in limits],
    )


def _of_disk(name: str, value: object, what: str) -> Caps:
    """Return the cap that a limit such as ``read_bytes_sec`` is."""
    way, _, kind = name.partition("_")
    rate = _number(value)
    if way not in ("read", "write", "total") or kind not in _DISK or not rate:
        return []
    return [caps.disk(rate, _DISK[kind], f"{what} ({name})")]


def _number(value: object) -> float:
    """Return a limit as a number; zero, no limit, if it is not one."""
    text = str(value)
    return float(text) if text.isascii() and text.isdigit() else 0.0


def _json(answer: t.Any, key: str) -> t.Any:
    return answer.json().get(key, {}) if answer.ok else {}


def _told(
    what: str, limits: collections.abc.Mapping[str, object]
) -> list[finding.Finding]:
    if not limits:
        return []
    return [
        finding.Finding(
            kind="rate_limited_by_policy",
            subject=what,
            detail=", ".join(
                f"{key}={value}" for key, value in limits.items()
            ),
        )
    ]
