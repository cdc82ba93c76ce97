# SPDX-License-Identifier: Apache-2.0
"""rally-openstack's own scenario, where a cloud has no block storage.

Rally loads this file by its path; only the validators differ.
"""

from rally.common import validation
from rally.task import types
from rally_openstack.common import consts
from rally_openstack.task import scenario
from rally_openstack.task.scenarios.vm import vmtasks


@types.convert(image={"type": "glance_image"}, flavor={"type": "nova_flavor"})
@validation.add(
    "image_valid_on_flavor", flavor_param="flavor", image_param="image"
)
@validation.add("valid_command", param_name="command")
@validation.add("external_network_exists", param_name="floating_network")
@validation.add("required_services", services=[consts.Service.NOVA])
@validation.add("required_platform", platform="openstack", users=True)
@scenario.configure(
    name="VMPerfBench.boot_runcommand_delete",
    platform="openstack",
    context={
        "cleanup@openstack": ["nova"],
        "keypair@openstack": {},
        "allow_ssh@openstack": None,
    },
)
class BootRuncommandDelete(vmtasks.BootRuncommandDelete):
    """Boot a guest, run a command in it, delete it."""
