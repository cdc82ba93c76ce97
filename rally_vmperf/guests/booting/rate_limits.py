"""Policies that limit the rates of guests: flavor, volume type and port."""

import collections.abc
import typing as t

from rally_vmperf import documents
from rally_vmperf import json_schema
from rally_vmperf.guests import cloud
from rally_vmperf.guests import models
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.comparison import rate_caps

#: The kinds of disk limits in Nova and Cinder -> the unit of the rate.
_DISK = {"bytes_sec": "B/s", "iops_sec": "ops/s"}
_PREFIX = "quota:"
#: Bits per second in a unit of Nova's interface limits, kilobytes per second.
_KILOBYTE = 8e3
_KILOBIT = 1e3

_TYPES = cloud.create_list_schema("volume_types", "name")
_QOS = json_schema.mapping(
    {"qos_specs": json_schema.mapping({"specs": json_schema.mapping({})})},
    "qos_specs",
)

Caps = list[rate_caps.Cap]


def find_flavor_limits(
    flavor: models.Flavor,
) -> tuple[list[finding.Finding], Caps]:
    """Return findings on the quotas of a flavor, and its rate limits."""
    limits = {
        key: limit
        for key, limit in sorted(flavor.extra_specs.items())
        if key.startswith(_PREFIX)
    }
    subject = f"flavor {flavor.name}"
    flavor_caps = []
    for key, limit in limits.items():
        name = key.removeprefix(_PREFIX)
        if name.startswith("disk_"):
            flavor_caps += _create_disk_caps(
                name.removeprefix("disk_"), limit, subject
            )
        elif name in ("vif_inbound_average", "vif_outbound_average"):
            rate = _parse_number(limit) * _KILOBYTE
            if rate:
                cap = rate_caps.network(rate, f"{subject} ({name})")
                flavor_caps.append(cap)
    return _create_findings(subject, limits), flavor_caps


def find_volume_type_limits(
    admin: cloud.Connection, name: str
) -> tuple[list[finding.Finding], Caps]:
    """Return a finding on the QoS of a volume type, and its rate limits.

    Cinder shows QoS specifications to administrators only.

    :raises SDKException: If Cinder rejects the request.
    """
    answer = admin.block_storage.get("/types")
    identifiers = {
        volume_type["name"]: volume_type.get("qos_specs_id")
        for volume_type in _get_json(answer, "volume_types", _TYPES)
    }
    if not identifiers.get(name):
        return [], []
    answer = admin.block_storage.get(f"/qos-specs/{identifiers[name]}")
    limits = _get_json(answer, "qos_specs", _QOS).get("specs", {})
    subject = f"volume type {name}"
    type_caps = [
        cap
        for key, limit in sorted(limits.items())
        for cap in _create_disk_caps(key, limit, subject)
    ]
    return _create_findings(subject, limits), type_caps


def find_port_limits(
    connection: cloud.Connection, identifier: str
) -> tuple[list[finding.Finding], Caps]:
    """Return a finding on a QoS policy of a port, and its rate limits.

    :raises SDKException: If Neutron rejects the request.
    """
    policy = connection.network.get_qos_policy(identifier)
    subject = f"QoS policy {policy.name}"
    limits, policy_caps = {}, []
    for rule in policy.rules or ():
        rate = _parse_number(rule.get("max_kbps"))
        if rate:
            direction = str(rule.get("direction", "egress"))
            limits[f"{direction} max_kbps"] = rule["max_kbps"]
            policy_caps.append(
                rate_caps.network(rate * _KILOBIT, f"{subject} ({direction})")
            )
    return _create_findings(subject, limits), policy_caps


def find_guest_limits(
    connection: cloud.Connection,
    admin: cloud.Connection | None,
    *,
    flavors: collections.abc.Iterable[models.Flavor],
    volume_types: collections.abc.Iterable[str],
    port_policies: collections.abc.Iterable[str],
    progress: t.Callable[[str], None],
) -> tuple[list[finding.Finding], Caps]:
    """Return findings on policies that limit guests, and the rate limits.

    :param admin: The connection of an administrator, which can read the
        limits of volumes; None if there is none.
    :param port_policies: The identifiers of the QoS policies of the ports.
    :param progress: The function that reports policies that cannot be read.
    """
    policies = [find_flavor_limits(flavor) for flavor in flavors]
    for subject, read, reader, names in (
        ("QoS policy", find_port_limits, connection, port_policies),
        ("volume type", find_volume_type_limits, admin, volume_types),
    ):
        for name in sorted(set(names)) if reader else ():
            try:
                policies.append(read(reader, name))
            except cloud.CLOUD_ERRORS as error:
                reason = cloud.one_line(error)
                progress(f"{subject} {name} cannot be read: {reason}")
    return (
        [
            limit_finding
            for findings, _ in policies
            for limit_finding in findings
        ],
        [cap for _, policy_caps in policies for cap in policy_caps],
    )


def _create_disk_caps(name: str, limit: object, subject: str) -> Caps:
    """Return the cap of a limit such as ``read_bytes_sec``."""
    direction, _, kind = name.partition("_")
    rate = _parse_number(limit)
    is_known = direction in ("read", "write", "total") and kind in _DISK
    if not is_known or not rate:
        return []
    return [rate_caps.disk(rate, _DISK[kind], f"{subject} ({name})")]


def _parse_number(limit: object) -> float:
    """Return a limit as a number; zero if it is not a number."""
    text = str(limit)
    return float(text) if text.isascii() and text.isdigit() else 0.0


def _get_json(answer: t.Any, key: str, schema: documents.Schema) -> t.Any:
    """Return a value of a response's JSON; {} after a failure."""
    return cloud.parse_document(answer, schema)[key] if answer.ok else {}


def _create_findings(
    subject: str, limits: collections.abc.Mapping[str, object]
) -> list[finding.Finding]:
    """Return one finding that lists the limits of a policy; [] without any."""
    if not limits:
        return []
    detail = ", ".join(f"{key}={limit}" for key, limit in limits.items())
    return [finding.Finding("rate_limited_by_policy", subject, detail)]
