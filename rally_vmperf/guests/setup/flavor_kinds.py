# SPDX-License-Identifier: Apache-2.0
"""The kinds of flavors of a cloud, by their extra specs and names."""

import collections.abc
import re
import typing as t

from rally_vmperf.guests import resolve
from rally_vmperf.guests.setup import image_kinds

#: Names of processors of graphics and of other devices, in names and extra
#: specs of flavors.
_DEVICES = re.compile(
    r"gpu|nvidia|fpga|(?<![a-z0-9])(?:a10|a16|a30|a40|a100|h100|h200|l4|l40s?|"
    r"p100|t4|v100|mi[0-9]{2,3}x?|rtx[a-z0-9]{0,6})(?![a-z0-9])"
)
_SERVICES = re.compile(
    r"(?<![a-z])(?:amphora|octavia|trove|manila|sahara|magnum)"
)
_NODES = re.compile(r"(?<![a-z])(?:ironic|bare-?metal)")
_ENCRYPTION = ("hw:mem_encryption", "trait:HW_CPU_X86_AMD_SEV")
#: The keys of extra specs that request a resource of a host.
_RESOURCE = re.compile(r"resources[^:]{0,64}:(?:[VP]GPU|CUSTOM_|PCI|FPGA)")
#: The values of extra specs that request nothing.
_NOTHING = ("0", "false", "no", "forbidden", "")


def find_misfit(
    flavor: t.Any,
    extra_specs: collections.abc.Mapping[str, str],
    architecture: str = image_kinds.ARCHITECTURE,
) -> str:
    """Return why a flavor is not that of usual guests, or "".

    :param flavor: The flavor, as an object of the SDK.
    :param extra_specs: The extra specs of the flavor.
    :param architecture: The architecture of the image.
    """
    name = str(flavor.name or "").lower()
    requested = {
        key: str(value)
        for key, value in extra_specs.items()
        if str(value).lower() not in _NOTHING
    }
    specs = "\n".join(
        f"{key}={value}".lower() for key, value in requested.items()
    )
    own_architecture = image_kinds.parse_architecture(
        specs
    ) or image_kinds.parse_architecture(re.sub(r"\barm\b", "arm64", name))
    rules = (
        (bool(getattr(flavor, "is_disabled", False)), "it is disabled"),
        (
            resolve.boots_nodes(extra_specs)
            or bool(_NODES.search(specs) or _NODES.search(name)),
            "it boots nodes of Ironic",
        ),
        (
            any(key.startswith("pci_passthrough:") for key in requested)
            or bool(_DEVICES.search(specs) or _DEVICES.search(name))
            or any(map(_RESOURCE.match, requested)),
            "it has PCI devices or GPUs",
        ),
        (
            any(key.startswith(_ENCRYPTION) for key in requested),
            "it encrypts memory",
        ),
        (bool(_SERVICES.search(name)), "it is of a service"),
        (
            own_architecture not in ("", architecture),
            f"for {own_architecture}",
        ),
    )
    return next((kind for applies, kind in rules if applies), "")
