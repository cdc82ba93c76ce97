# SPDX-License-Identifier: Apache-2.0
"""Guests and requests for guests, in one line each."""

from rally_vmperf.guests import models
from rally_vmperf.guests import request


def build_request(
    *, one_host=False, sequential=False, host_cpus=None, **options
):
    """Return a request by the options of the context."""
    defaults = {"network": {"name": "private"}, **options}
    if "groups" not in defaults:
        defaults.setdefault("image", {"name": "debian"})
        defaults.setdefault("flavor", {"name": "small"})
    network = defaults.pop("tenant_network", None)
    return request.parse_config(
        defaults,
        network,
        one_host=one_host,
        sequential=sequential,
        host_cpus=host_cpus,
    )


def guest(name="g1", **changes):
    """Return a booted guest."""
    attributes = {
        "group": "default",
        "id": f"id-{name}",
        "boot": f"id-{name}#1",
        "server_name": name,
        "address": "192.0.2.1",
        "measure_address": "192.0.2.1",
        "fixed_address": "192.0.2.1",
        "user": "debian",
        "flavor": models.Flavor(
            id="f1", name="small", vcpus=2, memory_mib=1024, disk_gib=4
        ),
        "image": models.Image(id="i1", name="debian"),
        "disk": models.Disk(source="flavor", size_gib=4),
        **changes,
    }
    return models.Guest(name=name, **attributes)
