# SPDX-License-Identifier: Apache-2.0
"""The promised size of a guest, and the size that it has."""

import collections.abc
import dataclasses
import math
import re
import typing as t

from rally_vmperf import formats
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.samples import sample

#: The sizes that each flavor has by the name of the promise. Data volumes are
#: ``volume_1``, ``volume_2``.
FLAVOR = ("vcpus", "memory", "disk")
#: The volume that is the boot disk in place of the disk of the flavor.
BOOT_VOLUME = "boot_volume"
#: The local disks that a flavor may have next to the boot disk.
EXTRA_DISKS = EPHEMERAL_DISK, SWAP_DISK = ("ephemeral_disk", "swap_disk")
_NAME = "|".join(
    (*FLAVOR, *EXTRA_DISKS, BOOT_VOLUME, "volume_[1-9][0-9]{0,2}")
)
#: The memory in bytes that the firmware of a guest may keep for itself:
#: SeaBIOS less than 1 MiB, UEFI firmware up to some 20 MiB.
FIRMWARE_BYTES = 32 << 20
#: The property of images that has the meaning of the extra spec.
CPU_POLICY = "hw_cpu_policy"
#: The property of images that precedes the realtime mask of a flavor.
REALTIME_MASK = "hw_cpu_realtime_mask"
#: A number or a range of CPUs in a mask, or one that is excluded.
_MASK_RULE = re.compile(r"(\^?)([0-9]{1,5})(?:-([0-9]{1,5}))?")
#: The texts that Nova reads as true.
_TRUE = ("1", "t", "true", "on", "y", "yes")
#: Whether vCPUs have CPUs of their own: none, some or all.
CpuPolicy = t.Literal["shared", "mixed", "dedicated"]


def find_cpu_policy(
    extra_specs: collections.abc.Mapping[str, t.Any], image_policy: str
) -> CpuPolicy:
    """Return the policy of the vCPUs of a guest, as Nova finds it.

    The policy of a flavor precedes that of the image; Nova rejects a guest
    whose image requires more than a flavor with a policy allows.

    :param extra_specs: The extra specs of the flavor.
    :param image_policy: The property ``hw_cpu_policy`` of the image, or "".
    """
    if "resources:PCPU" in extra_specs:
        return "dedicated"
    policy = str(extra_specs.get("hw:cpu_policy") or image_policy).lower()
    if policy == "dedicated":
        return "dedicated"
    return "mixed" if policy == "mixed" else "shared"


def describe_policy_conflict(
    extra_specs: collections.abc.Mapping[str, t.Any], image_policy: str
) -> str:
    """Return the policies that Nova rejects together as text, or "".

    The image must not require more CPUs of their own than a flavor with a
    policy.

    :param image_policy: The property ``hw_cpu_policy`` of the image, or "".
    """
    policy, image_policy = (
        str(text or "").lower()
        for text in (extra_specs.get("hw:cpu_policy"), image_policy)
    )
    order = t.get_args(CpuPolicy)
    if (
        policy not in order
        or image_policy not in order
        or order.index(image_policy) <= order.index(policy)
    ):
        return ""
    return (
        f"the flavor has hw:cpu_policy={policy}, and the image "
        f"{CPU_POLICY}={image_policy}, which Nova rejects"
    )


def count_dedicated(
    extra_specs: collections.abc.Mapping[str, t.Any],
    image_policy: str,
    image_mask: str,
    vcpus: int,
) -> int | None:
    """Return the number of CPUs of its own that a guest gets, as Nova does.

    :param image_policy: The property ``hw_cpu_policy`` of the image, or "".
    :param image_mask: Its property ``hw_cpu_realtime_mask``, or "".
    :param vcpus: The number of vCPUs of the flavor.
    :returns: The number; None if no valid mask tells which vCPUs are meant.
    """
    policy = find_cpu_policy(extra_specs, image_policy)
    if policy == "shared":
        return 0
    number, most = vcpus, vcpus
    if policy == "mixed":
        mask = str(extra_specs.get("hw:cpu_dedicated_mask") or "")
        if mask or "hw:emulator_threads_policy" not in extra_specs:
            most = vcpus - 1
        if not mask and _is_true(extra_specs.get("hw:cpu_realtime")):
            mask = image_mask or str(
                extra_specs.get("hw:cpu_realtime_mask") or f"0-{vcpus - 1}"
            )
        number = len(_parse_mask(mask, vcpus))
    if not 0 < number <= most:
        return None
    # The threads of the emulator.
    return number + (
        extra_specs.get("hw:emulator_threads_policy") == "isolate"
    )


def _is_true(content: t.Any) -> bool:
    """Return whether Nova reads an extra spec as true."""
    return str(content or "").strip().lower() in _TRUE


def _parse_mask(mask: str, vcpus: int) -> set[int]:
    """Return the vCPUs in a mask, such as ``0-2,^1``; none if it is invalid.

    A mask that begins with an excluded number is one of all others.
    """
    included: set[int] = set()
    excluded: set[int] = set()
    if mask.strip().startswith("^"):
        included |= {*range(vcpus)}
    for rule in filter(None, map(str.strip, mask.split(","))):
        if not (match := _MASK_RULE.fullmatch(rule)):
            return set()
        first, last = int(match[2]), int(match[3] or match[2])
        chosen = excluded if match[1] else included
        chosen |= {*range(first, last + 1)}
    included -= excluded
    return included if included <= {*range(vcpus)} else set()


def find_recorded_cpu_policy(
    nova: collections.abc.Mapping[str, t.Any],
) -> CpuPolicy:
    """Return the policy of the vCPUs of a guest in a record.

    :param nova: The facts from Nova; a record of an earlier version has the
        requested properties of the image only.
    """
    return find_cpu_policy(*_read_policies(nova))


def count_recorded_dedicated(
    nova: collections.abc.Mapping[str, t.Any], vcpus: int
) -> int | None:
    """Return the number of CPUs of its own of a guest in a record.

    :param nova: As for ``find_recorded_cpu_policy``.
    :param vcpus: The number of its vCPUs.
    :returns: As ``count_dedicated``; a record has a mask of the image only if
        the task requested it.
    """
    requested = nova.get("settings") or {}
    mask = str(requested.get(REALTIME_MASK) or "")
    return count_dedicated(*_read_policies(nova), mask, vcpus)


def _read_policies(
    nova: collections.abc.Mapping[str, t.Any],
) -> tuple[dict[str, t.Any], str]:
    """Return the extra specs and the policy of the image in a record."""
    requested = nova.get("settings") or {}
    extra_specs = (nova.get("flavor") or {}).get("extra_specs") or {}
    image_policy = (nova.get("image") or {}).get("cpu_policy")
    return (
        {**extra_specs, **requested},
        str(image_policy or requested.get(CPU_POLICY) or ""),
    )


def count_local_gib(
    boot_gib: int, ephemeral_gib: int = 0, swap_mib: int = 0
) -> int:
    """Return the GiB of local disks that Nova requests from Placement.

    :param boot_gib: The size of a local boot disk; 0 for a boot volume.
    """
    return boot_gib + ephemeral_gib + math.ceil(swap_mib / 1024)


def list_needs(
    vcpus: int, dedicated: int, memory_mib: int, local_gib: int
) -> dict[str, int]:
    """Return the needs of a guest by resource class of Placement.

    :param dedicated: The number of CPUs of its own.
    :param local_gib: As ``count_local_gib``.
    """
    needs = {
        "VCPU": max(0, vcpus - dedicated),
        "PCPU": dedicated,
        "MEMORY_MB": memory_mib,
        "DISK_GB": local_gib,
    }
    return {kind: need for kind, need in needs.items() if need}


def create_not_checked_finding(subject: str, detail: str) -> finding.Finding:
    """Return the finding that a promise cannot be compared.

    :param subject: The policy or the guest that promises it.
    :param detail: The promise and the reason.
    """
    return finding.Finding("promise_not_checked", subject, detail)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Size:
    """A promised size, and the one that the guest reports.

    :param guest: The name of the guest.
    :param name: The promise: vcpus, memory, a disk or the number of a volume.
    :param promised: The promised size, in the unit of the metric.
    :param delivered: The size that the guest reports, in the same unit.
    """

    guest: str
    name: t.Annotated[str, formats.text_like(_NAME)]
    promised: formats.Amount
    delivered: formats.Amount

    @property
    def metric(self) -> sample.Metric:
        """The metric of the size.

        It can be zero, as a count, and is promised exactly.
        """
        return sample.Metric(
            f"guest.{self.name}.size",
            "CPUs" if self.name == "vcpus" else "B",
            "higher",
            scale="count",
            optional=True,
        )

    @property
    def title(self) -> str:
        """The promise with the place that makes it."""
        title = self.name.replace("_", " ")
        if self.name in (*FLAVOR, *EXTRA_DISKS):
            return f"{title} of the flavor"
        article = "the " if self.name == BOOT_VOLUME else ""
        return f"size of {article}{title}"

    @property
    def least(self) -> float:
        """The smallest size that keeps the promise."""
        if self.name == "memory":
            return max(0.0, self.promised - FIRMWARE_BYTES)
        return self.promised
