# SPDX-License-Identifier: Apache-2.0
"""Options of the [vmperf] group, for tempest.conf."""

import typing as t

from oslo_config import cfg

from rally_vmperf import opts
from rally_vmperf.guests import schema

GROUP = cfg.OptGroup(
    name=opts.GROUP,
    title="Overhead and density of guests, measured by rally_vmperf",
)

#: The options of the group that are also options of vmperf_guests.
GUEST_OPTIONS = (
    *("host", "allowed_sources", "install", "boot_timeout", "ssh_timeout"),
)
_TYPES = {
    "string": cfg.StrOpt,
    "array": cfg.ListOpt,
    "boolean": cfg.BoolOpt,
    "number": cfg.FloatOpt,
}


def _create_guest_option(name: str) -> t.Any:
    """Return the option that sets an option of vmperf_guests."""
    rule = schema.PROPERTIES[name]
    return _TYPES[rule["type"]](
        name, default=schema.DEFAULTS.get(name), help=rule["description"]
    )


#: The directories of baselines and journals have the same options in Rally.
OPTIONS: list[t.Any] = [
    *opts.OPTIONS,
    cfg.StrOpt(
        "report_dir",
        help="Directory of the HTML reports, one for each test; default: "
        "journal_dir.",
    ),
    cfg.StrOpt(
        "baseline",
        help="Name of the registered bare-metal baseline with which guests "
        "are compared. Limits in percent of bare metal require it.",
    ),
    cfg.StrOpt(
        "baseline_class",
        help="Class of machines, instead of the name of a baseline: the "
        "baseline of this class that was recorded last is used.",
    ),
    cfg.StrOpt(
        "limits_file",
        help="YAML file with the names of SLAs and their limits, as in the "
        "section sla of a Rally task. Without it, all tests are skipped.",
    ),
    cfg.StrOpt(
        "workloads_file",
        help="YAML file with a list of workloads, each {name, arguments, "
        "label} as in a Rally task; default: all workloads of the baseline.",
    ),
    cfg.IntOpt(
        "repetitions",
        default=5,
        min=3,
        help="Number of counted repetitions of each test. A confidence "
        "interval requires at least three.",
    ),
    cfg.IntOpt(
        "warmup",
        default=1,
        min=0,
        help="Number of repetitions before the counted repetitions.",
    ),
    cfg.StrOpt(
        "image_ref",
        help="Identifier of the image of the guests; default: [compute] "
        "image_ref.",
    ),
    cfg.StrOpt(
        "image_user",
        help="Login name in the image; default: [validation] image_ssh_user.",
    ),
    cfg.StrOpt(
        "flavor_ref",
        help="Identifier of the flavor of the guests; default: [compute] "
        "flavor_ref.",
    ),
    cfg.IntOpt(
        "volume_size_gib",
        min=0,
        default=0,
        help="Size in GiB of a data volume of each guest, which workloads "
        "with target: volume measure; 0 for none.",
    ),
    cfg.StrOpt(
        "volume_type",
        help="Type of the data volume of volume_size_gib; default: that of "
        "the project.",
    ),
    cfg.IntOpt(
        "guests",
        default=1,
        min=1,
        help="Number of guests that are measured concurrently in the tests "
        "of overhead; the baseline must have the same number of copies.",
    ),
    cfg.ListOpt(
        "levels",
        item_type=cfg.types.Integer(min=1),
        default=[1, 2],
        help="Numbers of guests on a host in the test of density.",
    ),
    cfg.StrOpt(
        "server_group",
        default="affinity",
        choices=schema.PROPERTIES["server_group"]["enum"],
        help="Policy of the server group in the test of placement.",
    ),
    cfg.DictOpt(
        "peer",
        default={},
        help="Other end of network workloads, reached by SSH: "
        "address:A,port:N,user:U,key_file:F,known_hosts:F,name:N. Limits on "
        "network metrics require it.",
    ),
    *map(_create_guest_option, GUEST_OPTIONS),
]


def list_opts() -> list[tuple[str, list[t.Any]]]:
    """Return the options by group name, as oslo-config-generator expects."""
    return [(GROUP.name, OPTIONS)]
