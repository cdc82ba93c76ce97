# SPDX-License-Identifier: Apache-2.0
"""The facts that machines and clouds report, as documents have them.

Unknown facts are accepted; a fact that is not reported is null or missing.
"""

import collections.abc
import typing as t

from rally_vmperf import documents
from rally_vmperf import formats

_Text = str | None
_Count = formats.Count | None
_Positive = formats.Positive | None
_Texts = list[str] | None
#: Disks or network interfaces: properties of each, numbers as text.
_Devices = list[dict[str, _Text]] | None


def _unchanged(content: t.Any) -> formats.Schema:
    """Return the schema of facts that stay as they are.

    :param content: The type that they have in documents.
    """
    return formats.Schema(
        lambda core, _, handler: core.no_info_wrap_validator_function(
            _check,
            handler.generate_schema(content),
            serialization=core.simple_ser_schema("any"),
        )
    )


def _check(facts: t.Any, check: t.Callable[[t.Any], t.Any]) -> t.Any:
    """Return facts in their order; reject those of another type."""
    check(facts)
    return facts


def _known(types: dict[str, t.Any]) -> formats.Schema:
    """Return the schema of facts, of which some have a known type."""
    known = formats.known_keys(types, is_open=True)
    return _unchanged(t.Annotated[t.Any, known])


#: The facts of a machine that make it comparable. The size of memory is in
#: bytes; connected networks need no router, such as 192.0.2.0/24.
Fingerprint = t.Annotated[
    documents.Facts,
    _known(
        {
            "cpu_model": _Text,
            "microcode": _Text,
            "kernel": _Text,
            "governor": _Text,
            "virtualisation": _Text,
            "machine_type": _Text,
            "machine_id": _Text,
            "boot_id": _Text,
            "isolated_cpus": _Text,
            "turbo": _Text,
            "transparent_huge_pages": _Text,
            "hostname": _Text,
            "os": _Text,
            "sockets": _Count,
            "cores": _Count,
            "threads": _Count,
            "numa_nodes": _Count,
            "huge_pages": _Count,
            "memory_bytes": _Count,
            "firmware_memory_bytes": _Count,
            "online_cpus": _Count,
            "root_disk": _Text,
            "cpu_flags": _Texts,
            "kernel_arguments": _Texts,
            "connected_networks": _Texts,
            "disks": _Devices,
            "network_interfaces": _Devices,
            "mitigations": dict[str, str] | None,
            "smt": bool | None,
            "emulated": bool | None,
        }
    ),
]
#: The path, the version and the checksum of each tool.
Tools = t.Annotated[documents.Facts, _unchanged(dict[str, dict[str, _Text]])]
_Disk = t.Annotated[
    dict[str, t.Any],
    formats.rule(
        {"source", "size_gib"}.issubset, "must have source and size_gib"
    ),
]
_Nova = t.Annotated[
    documents.Facts,
    _known(
        {
            "hypervisor": _Text,
            "hypervisor_version": _Text,
            "nova_microversion": _Text,
            "host": _Text,
            "host_id": _Text,
            "host_cpu": _Texts,
            "host_vcpus": _Positive,
            "host_memory_mib": _Positive,
            "disk": _Disk | None,
        }
    ),
]
_Machine = t.Annotated[
    documents.Facts,
    _known({"fingerprint": Fingerprint, "tools": Tools, "nova": _Nova}),
]
#: A file next to the journal: the facts of machines, or outputs.
File = t.Annotated[
    documents.Facts,
    _known({"machines": collections.abc.Mapping[str, _Machine]}),
]
