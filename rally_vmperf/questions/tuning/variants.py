# SPDX-License-Identifier: Apache-2.0
"""The variants of a guest, each of which is a group of guests."""

import collections.abc
import dataclasses
import itertools
import re
import typing as t

from rally_vmperf import documents
from rally_vmperf import json_schema
from rally_vmperf.guests import idle
from rally_vmperf.guests import request
from rally_vmperf.guests import schema
from rally_vmperf.questions.common import task
from rally_vmperf.records import model

Variants = collections.abc.Sequence[documents.Arguments]

#: The options that a variant changes.
OPTIONS = (
    "flavor",
    "image",
    "extra_specs",
    "image_properties",
    "network",
    "boot_volume",
    "volumes",
    "host",
    "aggregate",
)
#: Those that are added to the ones of the task instead of replacing them.
_MERGED = ("extra_specs", "image_properties")
#: The options of the task that are part of each group.
_GROUPED = ("image", "flavor", "count", "boot_volume", "volumes", *_MERGED)
#: Those that select the hardware.
_PLACES = ("host", "aggregate")
#: JSON Schema of the variants of a task.
SCHEMA = json_schema.array(
    json_schema.closed_mapping(
        {
            "name": json_schema.text(
                "Name of the variant.",
                pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$(?!\n)",
            ),
            **{option: schema.PROPERTIES[option] for option in OPTIONS},
        },
        "name",
    ),
    minItems=2,
    maxItems=8,
)


def list_names(variants: Variants) -> list[str]:
    """Return the names of variants as a list, in the order of the task."""
    return [variant["name"] for variant in variants]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Arguments(task.Arguments):
    """The arguments of VMPerf.tuning.

    :param variants: The variants, a list of {name, flavor, image,
        extra_specs, image_properties, network, boot_volume, volumes, host,
        aggregate}; each has a name and what differs from the guests of
        vmperf_guests. The guests of all variants are booted once; if they do
        not fit together, those of each variant boot for each of its
        conditions and are deleted after it.
    :param reference: The name of the variant that the others are compared
        with. Default: the first one.
    :param order: The order of the variants. blocks: in a block of as many
        repetitions as variants, each variant runs once at each position.
        shuffled: a random order in each repetition. listed: the order in the
        task.
    :param idle_guests: The state of the guests of other variants: running, or
        paused or stopped by Nova. A stopped guest boots again before each of
        its conditions.
    :param warmup: The number of initial repetitions that are recorded but not
        counted. Default: 1; 0 with a single repetition.
    :param reboot: The time at which Nova stops and starts the guests: never,
        between_workloads, or between_repetitions. auto: between repetitions
        if the guests booted within 60 s. Variants are compared within a boot
        with never, unless each condition has a boot of its own.
    """

    variants: t.Annotated[list[t.Any], SCHEMA]
    reference: t.Annotated[str | None, {"minLength": 1}] = None
    order: model.OrderKind = "blocks"
    idle_guests: idle.IdleState = "paused"

    def complete(self, times: int) -> t.Self:
        """Return the arguments with the default number of warm-ups."""
        warmup = min(1, times - 1) if self.warmup is None else self.warmup
        return dataclasses.replace(self, warmup=warmup)

    def get_reference(self) -> str:
        """Return the name of the variant that others are compared with."""
        return self.reference or str(self.variants[0]["name"])


Task = task.Task[Arguments]


def create_guest_options(
    arguments: Arguments, guest_options: documents.Arguments
) -> documents.Arguments:
    """Return the options of vmperf_guests with one group for each variant.

    The group of the reference is the first one, whose flavor determines the
    arguments of workloads.

    :param arguments: The arguments of the scenario.
    :param guest_options: The options of the guest of the task.
    """
    shared = {
        key: option
        for key, option in guest_options.items()
        if key not in _GROUPED
    }
    variants = sorted(
        arguments.variants,
        key=lambda variant: variant["name"] != arguments.get_reference(),
    )
    return {
        **shared,
        "groups": [
            create_group(variant, guest_options) for variant in variants
        ],
    }


def create_group(
    variant: documents.Arguments, guest_options: documents.Arguments
) -> dict[str, t.Any]:
    """Return the group of a variant as a dict of options."""
    group = {
        key: guest_options[key] for key in _GROUPED if guest_options.get(key)
    }
    for key, option in variant.items():
        merged = key in _MERGED
        group[key] = {**group.get(key, {}), **option} if merged else option
    return group


def list_guests(guest_options: documents.Arguments) -> dict[str, list[str]]:
    """Return the names of guests by variant, as a dict of lists.

    :param guest_options: The options with a group for each variant.
    """
    numbers = itertools.count(1)
    return {
        group["name"]: [
            f"g{next(numbers)}" for _ in range(group.get("count", 1))
        ]
        for group in request.list_group_options(guest_options)
    }


def have_one_host(variants: Variants) -> bool:
    """Return whether no variant selects hardware of its own."""
    return not any(
        variant.get(place) for variant in variants for place in _PLACES
    )


#: The names that Nova documents, without their prefix ``hw_`` or ``hw:``.
_HARDWARE = re.findall(
    r"\S+",
    """
architecture auto_disk_config boot_menu cdrom_bus cpu_cores cpu_dedicated_mask
cpu_max_cores cpu_max_sockets cpu_max_threads cpu_policy cpu_realtime
cpu_realtime_mask cpu_sockets cpu_thread_policy cpu_threads device_id disk_bus
disk_type emulation_architecture emulator_threads_policy ephemeral_encryption
ephemeral_encryption_format firmware_stateless firmware_type floppy_bus
hide_hypervisor_id input_bus ipxe_boot locked_memory machine_type
max_cpu_cores max_cpu_sockets max_cpu_threads maxphysaddr_bits
maxphysaddr_mode mem_encryption mem_encryption_model mem_page_size numa_cpus
numa_mem numa_nodes packed_ring pci_numa_affinity_policy pmem pmu
pointer_model qemu_guest_agent rescue_bus rescue_device rng_model
scsi_model serial_port_count sound_model time_hpet tpm_model
tpm_secret_security tpm_version usb_model redirected_usb_ports vif_model
vif_multiqueue_enabled video_model video_ram viommu_model
virtio_packed_ring vm_mode watchdog_action
""",
)
_OTHERS = re.findall(
    r"\S+",
    """
os:monitors os:resolution os:secure_boot os:vram
os_admin_user os_command_line os_distro os_require_quiesce os_secure_boot
os_skip_agent_inject_files_at_boot os_skip_agent_inject_ssh os_type os_version
quota:cpu_limit quota:cpu_period quota:cpu_quota quota:cpu_reservation
quota:cpu_shares quota:cpu_shares_level quota:cpu_shares_share
quota:disk_io_limit quota:disk_io_reservation quota:disk_io_shares_level
quota:disk_io_shares_share quota:disk_read_bytes_sec quota:disk_read_iops_sec
quota:disk_total_bytes_sec quota:disk_total_iops_sec
quota:disk_write_bytes_sec quota:disk_write_iops_sec quota:memory_limit
quota:memory_reservation quota:memory_shares_level quota:memory_shares_share
quota:vif_inbound_average quota:vif_inbound_burst quota:vif_inbound_peak
quota:vif_limit quota:vif_outbound_average quota:vif_outbound_burst
quota:vif_outbound_peak quota:vif_reservation quota:vif_shares_level
quota:vif_shares_share
""",
)
#: The names of extra specs and image properties that Nova documents.
KNOWN_PROPERTIES = frozenset(
    [f"{prefix}{name}" for prefix in ("hw:", "hw_") for name in _HARDWARE]
    + _OTHERS
)


def find_unknown_properties(variant: documents.Arguments) -> list[str]:
    """Return the names of properties that Nova does not document, a list.

    Only names that are reserved for Nova are compared. The number of a NUMA
    node at the end of a name is ignored.
    """
    names = [name for key in _MERGED for name in variant.get(key, ())]
    return [
        name
        for name in names
        if re.match(r"(hw|os)[:_]|quota:", name)
        and re.sub(r"\.[0-9]+$", "", name) not in KNOWN_PROPERTIES
    ]
