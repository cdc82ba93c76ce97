# SPDX-License-Identifier: Apache-2.0
"""A tempest.conf with the options of the package, and not the global one."""

import pathlib

import yaml
from oslo_config import cfg

from rally_vmperf.questions import table
from rally_vmperf.tempest_plugin import config
from rally_vmperf.tempest_plugin import tasks

#: The options of Tempest that the options of the package refer to.
OTHERS = {
    "compute": {"image_ref": "i1", "flavor_ref": "f1", "region": ""},
    "validation": {
        "image_ssh_user": "debian",
        "connect_method": "floating",
        "ip_version_for_ssh": 4,
    },
}


def conf(**values):
    """Return a configuration.

    :param values: The values of the options in [vmperf].
    """
    made = cfg.ConfigOpts()
    made.register_opts(config.OPTIONS, group=config.GROUP.name)
    for name, value in values.items():
        made.set_override(name, value, group=config.GROUP.name)
    for group, options in OTHERS.items():
        for name, default in options.items():
            kind = cfg.IntOpt if isinstance(default, int) else cfg.StrOpt
            made.register_opt(kind(name, default=default), group=group)
    made([], default_config_files=[])
    return made


def write(folder, name, content):
    """Write a YAML file; return its path as options give it."""
    path = pathlib.Path(folder, name)
    path.write_text(yaml.safe_dump(content))
    return str(path)


def build_question(question="overhead", **values):
    """Return a question as these options configure it."""
    return tasks.ConfiguredQuestion(
        conf(**values), table.questions()[question]
    )
