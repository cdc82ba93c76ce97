"""Options of the [vmperf] group, for tempest.conf."""

import typing as t

from oslo_config import cfg

from rally_vmperf import opts
from rally_vmperf.guests import schema

GROUP = cfg.OptGroup(
    name=opts.GROUP,
    title="Overhead and density of guests, measured by rally_vmperf",
)

#: Where baselines and journals are, Rally and Tempest agree on.
OPTIONS: list[t.Any] = [
    *opts.OPTIONS,
    cfg.StrOpt(
        "report_dir",
        help="Folder of the HTML reports, one for each test; by default "
        "journal_dir.",
    ),
    cfg.StrOpt(
        "baseline",
        help="Name of the registered bare-metal baseline that guests are "
        "compared with; without it there are no tests of overhead.",
    ),
    cfg.StrOpt(
        "baseline_class",
        help="Class of machines, in place of a baseline's name: its baseline "
        "that was recorded last.",
    ),
    cfg.StrOpt(
        "limits_file",
        help="YAML file with the names of SLAs and their limits, as in the "
        "section sla of a Rally task; without it nothing is tested.",
    ),
    cfg.StrOpt(
        "workloads_file",
        help="YAML file with a list of workloads, each {name, arguments, "
        "label} as in a Rally task; by default all that the baseline has.",
    ),
    cfg.IntOpt(
        "repetitions",
        default=5,
        min=3,
        help="Counted repetitions of each test; with fewer than three there "
        "is no interval.",
    ),
    cfg.IntOpt(
        "warmup",
        default=1,
        min=0,
        help="Repetitions that are made first and not counted.",
    ),
    cfg.StrOpt(
        "image_ref",
        help="Identifier of the guests' image; by default [compute] "
        "image_ref.",
    ),
    cfg.StrOpt(
        "image_user",
        help="Login name that the image provides; by default [validation] "
        "image_ssh_user.",
    ),
    cfg.StrOpt(
        "flavor_ref",
        help="Identifier of the guests' flavor; by default [compute] "
        "flavor_ref.",
    ),
    cfg.IntOpt(
        "guests",
        default=schema.DEFAULTS["count"],
        min=1,
        help="How many guests measure at once in the tests of overhead; the "
        "baseline needs as many copies.",
    ),
    cfg.ListOpt(
        "levels",
        item_type=cfg.types.Integer(min=1),
        default=[1, 2],
        help="Numbers of guests on a host in the test of density.",
    ),
    cfg.StrOpt(
        "host",
        help="Compute host to force the guests on, as administrator.",
    ),
    cfg.StrOpt(
        "server_group",
        default="affinity",
        choices=schema.PROPERTIES["server_group"]["enum"],
        help="Server group that the test of placement asks for.",
    ),
    cfg.DictOpt(
        "peer",
        default={},
        help="Other end of network workloads, reached by SSH: "
        "address:A,port:N,user:U,key_file:F,known_hosts:F,name:N; without it "
        "there is no test of the network.",
    ),
    cfg.ListOpt(
        "allowed_sources",
        help="Networks from which the guests let SSH in; by default those "
        "out of which this machine reaches them.",
    ),
    cfg.BoolOpt(
        "install",
        default=schema.DEFAULTS["install"],
        help="Install the tools that the image lacks.",
    ),
    cfg.FloatOpt(
        "boot_timeout",
        default=schema.DEFAULTS["boot_timeout"],
        help="Seconds in which all guests must be active.",
    ),
    cfg.FloatOpt(
        "ssh_timeout",
        default=schema.DEFAULTS["ssh_timeout"],
        help="Seconds in which all guests must answer SSH and finish "
        "booting, once they are active.",
    ),
]


def list_opts() -> list[tuple[str, list[t.Any]]]:
    """Return the options by group name, as oslo-config-generator expects."""
    return [(GROUP.name, OPTIONS)]
