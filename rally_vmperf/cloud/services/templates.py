"""Configuration files of the embedded cloud, rendered from templates."""

import collections.abc
import pathlib
import typing as t

import jinja2
import yaml

from rally_vmperf import atomic
from rally_vmperf import resources
from rally_vmperf.cloud.state import addresses
from rally_vmperf.cloud.system import layout

DATABASE_ACCOUNTS = {
    "keystone": ["keystone"],
    "placement": ["placement"],
    "glance": ["glance"],
    "neutron": ["neutron"],
    "nova": ["nova", "nova_api", "nova_cell0"],
}

# Template -> file below the state root.
FILES = {
    "my.cnf.j2": "etc/my.cnf",
    "rabbitmq.conf.j2": "etc/rabbitmq.conf",
    "rabbitmq-plugins.j2": "etc/rabbitmq-plugins",
    "keystone.conf.j2": "etc/keystone.conf",
    "placement.conf.j2": "etc/placement.conf",
    "glance.conf.j2": "etc/glance.conf",
    "neutron.conf.j2": "etc/neutron.conf",
    "nova.conf.j2": "etc/nova.conf",
    "nova-database.conf.j2": "etc/nova-database.conf",
    "libvirtd.conf.j2": "data/libvirt/etc/libvirtd.conf",
    "qemu.conf.j2": "data/libvirt/etc/qemu.conf",
    "sshd_config.j2": "etc/sshd_config",
    "clouds.yaml.j2": "clouds.yaml",
    "rally.conf.j2": "rally.conf",
    "task-args.yaml.j2": "task-args.yaml",
}


class Templates:
    """The shipped templates, with everything they may refer to.

    :param folders: the state root's folders
    :param values: what the templates need beside folders and addresses
    """

    def __init__(
        self,
        folders: layout.Layout,
        values: collections.abc.Mapping[str, t.Any],
    ) -> None:
        folder = resources.path("etc", "embedded-cloud")
        self._jinja = jinja2.Environment(
            loader=jinja2.FileSystemLoader(folder),
            undefined=jinja2.StrictUndefined,
            keep_trailing_newline=True,
            trim_blocks=True,
            lstrip_blocks=True,
            autoescape=False,  # noqa: S701 - no HTML
        )
        self._values = {**surroundings(folders), **values}

    def render(self, name: str, **more: t.Any) -> str:
        """Return one rendered template.

        :param name: its file name
        :param more: values for this time only
        """
        return self._jinja.get_template(name).render({**self._values, **more})

    def data(self, name: str) -> t.Any:
        """Return the content of a rendered YAML template."""
        return yaml.safe_load(self.render(name))


def surroundings(folders: layout.Layout) -> dict[str, t.Any]:
    """Return folders and addresses under the names the templates use."""
    chosen = addresses.load(folders)
    return {
        "root": folders.root,
        "etc": folders.etc,
        "data": folders.data,
        "log": folders.log,
        "run": folders.run,
        "auth_url": chosen.auth_url,
        "region": layout.REGION,
        "hypervisor": layout.HYPERVISOR,
        "management_bridge": layout.MANAGEMENT_BRIDGE,
        "management_address": chosen.controller,
        "external_address": chosen.gateway,
        "external_network": str(chosen.external),
        "external_pool": chosen.external_pool,
        "external_port": layout.EXTERNAL_PORT,
        "private_network": str(chosen.private),
        "peer_address": str(chosen.peer.ip),
        "peer_namespace": layout.PEER_NAMESPACE,
        "database_accounts": DATABASE_ACCOUNTS,
    }


def gone(folders: layout.Layout) -> list[str]:
    """Return the configuration files that are missing or empty.

    :param folders: the state root's folders
    """
    return [
        target
        for target in FILES.values()
        if not (folders.root / target).is_file()
        or not (folders.root / target).stat().st_size
    ]


def write_all(templates: Templates, folders: layout.Layout) -> None:
    """Write every configuration file; only root can read them.

    :param templates: the shipped templates
    :param folders: the state root's folders
    """
    for name, target in FILES.items():
        atomic.write(folders.root / target, templates.render(name))
    for user in ("admin", "member"):
        atomic.write(
            folders.root / f"openrc-{user}",
            templates.render("openrc.j2", user=user),
        )
    for shim in ("ebtables", "tc"):
        copy(f"shim-{shim}.sh", folders.shims / shim, mode=0o755)
    copy("libvirtd.sh", folders.etc / "libvirtd.sh", mode=0o755)


def copy(name: str, target: pathlib.Path, *, mode: int) -> None:
    """Copy a shipped file that is no template.

    :param name: its name among the cloud's files
    :param target: where it goes
    :param mode: its permissions there
    """
    text = resources.path("etc", "embedded-cloud", name).read_text()
    atomic.write(target, text, mode=mode)
