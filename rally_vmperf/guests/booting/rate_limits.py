# SPDX-License-Identifier: Apache-2.0
"""The rates that flavor, volume type and port promise: limits and guarantees.

A limit is a quota of Nova, a QoS specification of Cinder or a bandwidth limit
of Neutron; a guarantee is a minimum bandwidth of Neutron.
"""

import collections
import collections.abc
import dataclasses
import functools
import re
import typing as t

from rally_vmperf import documents
from rally_vmperf import json_schema
from rally_vmperf.guests import cloud
from rally_vmperf.guests import models
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import promises
from rally_vmperf.measurement.comparison import rate_caps

#: The kinds of disk limits in Nova and Cinder -> the unit of the rate.
_DISK = {"bytes_sec": "B/s", "iops_sec": "ops/s"}
_DISK_LIMITS = [
    (direction, f"{direction}_{kind}", unit)
    for direction in ("read", "write", "total")
    for kind, unit in _DISK.items()
]
_PREFIX = "quota:"
#: Nova's interface limits by direction, as the guest sees it.
_INTERFACE = {"inbound": "ingress", "outbound": "egress"}
#: Bits in the units of Nova's interface limits: kilobytes per second, and
#: kibibytes of a burst.
_KILOBYTE, _KIBIBYTE = 8e3, 8 * 1024
_KILOBIT = 1e3
#: The largest burst of Neutron if a rule has none, in seconds of the rate:
#: 0.8 of its agents, 1 of the meters of OVN.
_NEUTRON_BURST = 1
#: The burst of traffic from a guest if a port of Open vSwitch has none.
_OPEN_VSWITCH_BURST = 8e6
#: The length of a burst in QEMU, which Nova does not change, in seconds.
_QEMU_BURST_SECONDS = 1
#: The period of a CPU quota in libvirt, in microseconds.
_CPU_PERIOD = 100_000

_TYPES = cloud.create_list_schema("volume_types", "name")
_QOS = json_schema.mapping(
    {"qos_specs": json_schema.mapping({"specs": json_schema.mapping({})})},
    "qos_specs",
)

#: Options that change a limit, or share what there is, and promise no rate.
_NO_PROMISES = {"cpu_period", "size_iops_sec"}
_SHARES = re.compile(r"_shares(?:_level|_share)?\Z")
#: Values of a limit that limit nothing.
_UNLIMITED = re.compile(r"-\d{1,20}|0{1,20}")
#: The reasons why no rate follows from an option.
_NO_LIMIT = (
    "it is not a whole number of an option by which libvirt limits rates; the "
    "storage or another hypervisor may apply it"
)
_BACK_END = (
    "Nova does not apply it, because the consumer of the QoS specification is "
    "back-end; the storage may"
)

Caps = list[rate_caps.Cap]
#: The caps of a policy by the option that has the rate.
_CapsByOption = dict[str, rate_caps.Cap]
#: A policy: its name, those of its guests, the function that reads it, and the
#: number of the data volume that it limits, or 0.
_Policy = tuple[
    str,
    collections.abc.Iterable[str],
    t.Callable[[], tuple[list[finding.Finding], Caps]],
    int,
]


def find_flavor_limits(
    flavor: models.Flavor, *, has_local_disk: bool = True
) -> tuple[list[finding.Finding], Caps]:
    """Return findings on the quotas of a flavor, and its rate limits.

    :param has_local_disk: False for guests that boot from a volume. Nova
        applies the disk limits of a flavor to local disks only, without
        bursts (``disk_qos`` of its ``imagebackend``).
    """
    subject = f"flavor {flavor.name}"
    limits = {}
    not_checked = []
    if flavor.has_hidden_extra_specs:
        not_checked.append(
            promises.create_not_checked_finding(subject, _HIDDEN_EXTRA_SPECS)
        )
    applied = {f"disk_{option}" for _, option, _ in _DISK_LIMITS}
    for key, limit in sorted(flavor.extra_specs.items()):
        option = key.removeprefix(_PREFIX)
        is_disk = key.startswith(f"{_PREFIX}disk_")
        if is_disk and option not in applied:
            not_checked.append(
                promises.create_not_checked_finding(
                    subject,
                    f"{key}={limit}: Nova ignores it with libvirt; remove it",
                )
            )
        elif is_disk and not has_local_disk:
            not_checked.append(
                promises.create_not_checked_finding(
                    subject,
                    f"{key}: Nova limits local disks only, and guests boot "
                    "from a volume; limit the volume type in its place",
                )
            )
        elif key.startswith(_PREFIX):
            limits[key] = limit
    quotas = {
        key.removeprefix(_PREFIX): limit for key, limit in limits.items()
    }
    flavor_caps = {
        **_create_disk_caps(quotas, subject, prefix="disk_"),
        **_create_interface_caps(quotas, subject),
        **_create_cpu_caps(quotas, subject),
    }
    return [
        *_create_findings(subject, limits),
        *not_checked,
        *_create_unused_findings(subject, quotas, flavor_caps, _PREFIX),
    ], [*flavor_caps.values()]


def find_volume_type_limits(
    admin: cloud.Connection, name: str, size_gib: int = 0
) -> tuple[list[finding.Finding], Caps]:
    """Return a finding on the QoS of a volume type, and its rate limits.

    Cinder shows QoS specifications to administrators only.

    :param size_gib: The size of the volume, which limits per GB refer to.
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
    qos_specs = _get_json(answer, "qos_specs", _QOS)
    limits = dict(sorted(qos_specs.get("specs", {}).items()))
    subject = f"volume type {name}"
    findings = _create_findings(subject, limits)
    if qos_specs.get("consumer") == "back-end":
        return [
            *findings,
            *_create_unused_findings(subject, limits, {}, reason=_BACK_END),
        ], []
    type_caps = _create_disk_caps(limits, subject, size_gib=size_gib)
    return [
        *findings,
        *_create_unused_findings(subject, limits, type_caps),
    ], [*type_caps.values()]


def find_port_limits(
    connection: cloud.Connection, identifier: str
) -> tuple[list[finding.Finding], Caps]:
    """Return findings on a QoS policy of a port, and its rates.

    :raises SDKException: If Neutron rejects the request.
    """
    policy = connection.network.get_qos_policy(identifier)
    subject = f"QoS policy {policy.name}"
    limits, policy_caps = {}, []
    unchecked = []
    for rule in policy.rules or ():
        direction = str(rule.get("direction", "egress"))
        if _parse_number(rule.get("max_kbps")):
            limits[f"{direction} max_kbps"] = rule["max_kbps"]
        policy_caps += _create_port_caps(rule, direction, subject)
        unchecked += [
            promises.create_not_checked_finding(
                subject,
                f"{direction} {option}={rule[option]}: no workload measures "
                "packets per second",
            )
            for option in ("max_kpps", "min_kpps")
            if rule.get(option)
        ]
    return [*_create_findings(subject, limits), *unchecked], policy_caps


def _create_port_caps(
    rule: collections.abc.Mapping[str, object], direction: str, subject: str
) -> Caps:
    """Return the rates of a rule of a QoS policy: a limit, a guarantee."""
    create_cap = functools.partial(
        rate_caps.network,
        direction=direction if direction in _INTERFACE.values() else "",
    )
    rate = _parse_number(rule.get("max_kbps"))
    guarantee = _parse_number(rule.get("min_kbps"))
    caps = []
    if rate:
        burst = _parse_number(rule.get("max_burst_kbps"))
        caps.append(
            create_cap(
                rate * _KILOBIT,
                f"{subject} ({direction})",
                burst=(burst or rate * _NEUTRON_BURST) * _KILOBIT,
            )
        )
    if guarantee:
        caps.append(
            create_cap(
                guarantee * _KILOBIT,
                f"{subject} ({direction} min_kbps)",
                is_guarantee=True,
            )
        )
    return caps


def find_guest_limits(
    connection: cloud.Connection,
    admin: cloud.Connection | None,
    *,
    guests: collections.abc.Collection[models.Guest],
    port_policies: collections.abc.Mapping[
        str, collections.abc.Collection[str]
    ],
    progress: t.Callable[[str], None],
) -> tuple[list[finding.Finding], dict[int, Caps]]:
    """Return findings on policies that limit guests, and the rate limits.

    The rate limits are by the number of the data volume that they apply to; 0
    has those of the boot disk and of other devices.

    :param admin: The connection of an administrator, which can read the
        limits of volumes; None if there is none.
    :param port_policies: The names of the guests by the identifier of the QoS
        policy of a port.
    :param progress: The function that reports policies that cannot be read.
    """
    findings: list[finding.Finding] = []
    caps: dict[int, Caps] = {0: []}
    policies: list[_Policy] = [
        *_list_flavors(guests),
        *(
            (
                f"QoS policy {identifier}",
                names,
                functools.partial(find_port_limits, connection, identifier),
                0,
            )
            for identifier, names in sorted(port_policies.items())
        ),
        *_list_volume_types(guests, admin),
    ]
    for subject, names, read, number in policies:
        try:
            policy_findings, policy_caps = read()
        except cloud.CLOUD_ERRORS as error:
            reason = f"cannot be read: {cloud.one_line(error)}"
            progress(f"{subject} {reason}")
            findings.append(
                promises.create_not_checked_finding(subject, reason)
            )
            continue
        findings += policy_findings
        limited = tuple(sorted(names))
        caps.setdefault(number, []).extend(
            dataclasses.replace(cap, guests=limited) for cap in policy_caps
        )
    return [*dict.fromkeys(findings)], caps


def _list_flavors(
    guests: collections.abc.Iterable[models.Guest],
) -> collections.abc.Iterator[_Policy]:
    """Yield the flavors of guests, with and without a local boot disk."""
    by_flavor: dict[tuple[str, bool], list[models.Guest]]
    by_flavor = collections.defaultdict(list)
    for guest in guests:
        key = guest.flavor.id, guest.disk.source == "flavor"
        by_flavor[key].append(guest)
    for (_, has_local_disk), owners in by_flavor.items():
        flavor = owners[0].flavor
        yield (
            f"flavor {flavor.name}",
            [guest.name for guest in owners],
            functools.partial(
                find_flavor_limits, flavor, has_local_disk=has_local_disk
            ),
            0,
        )


def _list_volume_types(
    guests: collections.abc.Iterable[models.Guest],
    admin: cloud.Connection | None,
) -> collections.abc.Iterator[_Policy]:
    """Yield the volume types of guests, by number and size of the volume.

    :param admin: The connection of an administrator; None if there is none.
    """
    volumes: dict[tuple[int, str, int], list[str]] = collections.defaultdict(
        list
    )
    for guest in guests:
        disks: list[models.Disk | models.Volume] = [guest.disk]
        for number, disk in enumerate([*disks, *guest.volumes]):
            if disk.type:
                key = number, disk.type, disk.size_gib
                volumes[key].append(guest.name)
    for (number, name, size_gib), names in sorted(volumes.items()):
        subject = f"volume type {name}"
        hidden = promises.create_not_checked_finding(subject, _HIDDEN_QOS)
        yield (
            subject,
            names,
            functools.partial(find_volume_type_limits, admin, name, size_gib)
            if admin
            else functools.partial(_return_finding, hidden),
            number,
        )


def _return_finding(
    found: finding.Finding,
) -> tuple[list[finding.Finding], Caps]:
    """Return a finding, and no rates."""
    return [found], []


#: The reason why the quotas of a flavor are not known.
_HIDDEN_EXTRA_SPECS = (
    "a policy of Nova hides its extra specs, which can have limits; ask the "
    "administrator to allow os_compute_api:os-flavor-extra-specs:index"
)
#: The reason why the QoS of a volume type is not known.
_HIDDEN_QOS = (
    "Cinder shows QoS specifications to administrators only; use an "
    "environment of Rally with an admin"
)


def _create_disk_caps(
    limits: collections.abc.Mapping[str, object],
    subject: str,
    prefix: str = "",
    size_gib: int = 0,
) -> _CapsByOption:
    """Return the caps of limits such as ``read_bytes_sec``, by option.

    QEMU lets a guest reach ``read_bytes_sec_max`` for a second: Nova does not
    hand over ``read_bytes_sec_max_length``. Cinder multiplies a limit per GB
    with the size of the volume; it is at least ``_per_gb_min``, and then
    ``_max`` is its largest value and no burst.

    :param prefix: The prefix of the limits.
    """
    caps = {}
    request_bytes = _parse_number(limits.get(f"{prefix}size_iops_sec"))
    for direction, kind, unit in _DISK_LIMITS:
        option = f"{prefix}{kind}"
        rate = _parse_number(limits.get(option))
        most = _parse_number(limits.get(f"{option}_max"))
        per_gb = _parse_number(limits.get(f"{option}_per_gb")) * size_gib
        if per_gb:
            least = _parse_number(limits.get(f"{option}_per_gb_min"))
            rate = max(per_gb, least)
            rate = min(rate, most) if most else rate
            option, most = f"{option}_per_gb", 0.0
        if rate:
            caps[option] = rate_caps.disk(
                rate,
                unit,
                f"{subject} ({option})",
                direction=direction,
                burst=most * _QEMU_BURST_SECONDS,
                request_bytes=request_bytes if unit == "ops/s" else 0,
            )
    return caps


def _create_interface_caps(
    quotas: collections.abc.Mapping[str, object], subject: str
) -> _CapsByOption:
    """Return the caps of the network interfaces of a flavor, by option.

    A guest can send or receive the kibibytes of ``burst`` at ``peak``. Without
    one, libvirt lets it send those of a second.
    """
    caps = {}
    for name, direction in _INTERFACE.items():
        option = f"vif_{name}_average"
        average = _parse_number(quotas.get(option))
        rate = average * _KILOBYTE
        burst = _parse_number(quotas.get(f"vif_{name}_burst")) * _KIBIBYTE
        if direction == "egress" and not burst:
            burst = max(average * _KIBIBYTE, _OPEN_VSWITCH_BURST)
        if rate:
            caps[option] = rate_caps.network(
                rate,
                f"{subject} ({option})",
                direction=direction,
                burst=burst,
            )
    return caps


def _create_cpu_caps(
    quotas: collections.abc.Mapping[str, object], subject: str
) -> _CapsByOption:
    """Return the cap of the CPU quota, which each vCPU has, by option."""
    quota = _parse_number(quotas.get("cpu_quota"))
    period = _parse_number(quotas.get("cpu_period")) or _CPU_PERIOD
    if not quota:
        return {}
    cap = rate_caps.cpu(100 * quota / period, f"{subject} (cpu_quota)")
    return {"cpu_quota": cap}


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
    """Return one finding that lists the limits of a policy; [] without any.

    Zero and a negative number are no limit.
    """
    detail = ", ".join(
        f"{key}={limit}"
        for key, limit in limits.items()
        if not _UNLIMITED.fullmatch(str(limit))
    )
    if not detail:
        return []
    return [finding.Finding("rate_limited_by_policy", subject, detail)]


def _create_unused_findings(
    subject: str,
    limits: collections.abc.Mapping[str, object],
    caps: _CapsByOption,
    prefix: str = "",
    reason: str = "",
) -> list[finding.Finding]:
    """Return a finding for each promise of a policy that no cap has.

    An option that belongs to a cap, such as its burst, begins with its name.
    Zero and a negative number are no limit.

    :param prefix: The prefix of the options in the policy.
    :param reason: The reason; "" if the options themselves are.
    """
    stems = tuple(
        option.removesuffix("_per_gb").removesuffix("_average")
        for option in caps
    )
    return [
        promises.create_not_checked_finding(
            subject, f"{prefix}{option}={limit}: {reason or _NO_LIMIT}"
        )
        for option, limit in limits.items()
        if option not in _NO_PROMISES
        and not _SHARES.search(option)
        and not _UNLIMITED.fullmatch(str(limit))
        and (not option.startswith(stems) or option.endswith("_max_length"))
    ]
