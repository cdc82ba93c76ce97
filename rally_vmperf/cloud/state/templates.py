"""Configuration files of the embedded cloud, rendered from templates."""

import collections.abc
import hashlib
import os
import pathlib
import typing as t

import jinja2
import yaml

from rally_vmperf import atomic
from rally_vmperf import resources
from rally_vmperf.cloud.state import addresses
from rally_vmperf.cloud.state import hypervisors
from rally_vmperf.cloud.state import settings
from rally_vmperf.cloud.system import layout

DATABASE_ACCOUNTS = {
    "keystone": ["keystone"],
    "placement": ["placement"],
    "glance": ["glance"],
    "neutron": ["neutron"],
    "nova": ["nova", "nova_api", "nova_cell0"],
}

# Template -> file below the state directory.
_FILES = {
    "container.env.j2": "etc/container.env",
    "hosts.j2": "etc/hosts",
    "my.cnf.j2": "etc/my.cnf",
    "schema.sh.j2": "etc/schema.sh",
    "rabbitmq.conf.j2": "etc/rabbitmq.conf",
    "rabbitmq-plugins.j2": "etc/rabbitmq-plugins",
    "keystone.conf.j2": "etc/keystone.conf",
    "placement.conf.j2": "etc/placement.conf",
    "glance.conf.j2": "etc/glance.conf",
    "neutron.conf.j2": "etc/neutron.conf",
    "nova.conf.j2": "etc/nova.conf",
    "nova-database.conf.j2": "etc/nova-database.conf",
    "sshd_config.j2": "etc/sshd_config",
    "clouds.yaml.j2": "clouds.yaml",
    "rally.conf.j2": "rally.conf",
    "task-args.yaml.j2": "task-args.yaml",
}
# Files that everybody in the container reads.
_OPEN_FILES = ("etc/hosts",)
_SCRIPTS = (
    *("after.sh", "enter.sh", "hypervisor.sh", "init.sh"),
    *("cgroups.sh", "libvirt-folders.sh", "libvirtd.sh", "mariadb.sh"),
)


class Templates:
    """The shipped templates, with everything that they refer to.

    :param folders: The paths of the cloud.
    :param secrets: The secrets by purpose.
    :param chosen: The settings of the cloud.
    """

    def __init__(
        self,
        folders: layout.Layout,
        secrets: collections.abc.Mapping[str, str],
        chosen: settings.Settings,
    ) -> None:
        self._folders = folders
        self._jinja = jinja2.Environment(
            loader=jinja2.FileSystemLoader(
                resources.path("etc", "embedded-cloud")
            ),
            undefined=jinja2.StrictUndefined,
            keep_trailing_newline=True,
            trim_blocks=True,
            lstrip_blocks=True,
            autoescape=False,  # noqa: S701 - no HTML
        )
        ranges = addresses.load(folders)
        self._hypervisors = hypervisors.describe(
            folders, ranges, secrets["libvirt_host"]
        )
        self._values: dict[str, t.Any] = {
            "secrets": secrets,
            "root": folders.root,
            "etc": folders.etc,
            "data": folders.data,
            "log": folders.log,
            "run": folders.run,
            "region": layout.REGION,
            "link": layout.LINK,
            "cgroup": layout.CGROUP,
            "peer_namespace": layout.PEER_NAMESPACE,
            "auth_url": ranges.auth_url,
            "host_address": ranges.host,
            "management_address": ranges.controller,
            "management_network": ranges.management,
            "prefix": addresses.LENGTH,
            "external_address": ranges.gateway,
            "external_network": ranges.external,
            "external_pool": ranges.external_pool,
            "private_network": ranges.private,
            "peer_address": ranges.peer,
            "database_accounts": DATABASE_ACCOUNTS,
            "agents": hypervisors.AGENTS,
            "hypervisors": self._hypervisors,
            "hypervisor_count": chosen.hypervisors,
            "virtualization": chosen.virtualization,
            "disk_cache": chosen.disk_cache,
            "digest": digest,
        }

    def render(self, name: str, **more: t.Any) -> str:
        """Return one rendered template.

        :param name: The file name of the template.
        :param more: Values for this time only.
        """
        return self._jinja.get_template(name).render({**self._values, **more})

    def data(self, name: str) -> t.Any:
        """Return the content of a rendered YAML template."""
        return yaml.safe_load(self.render(name))

    def write_all(self) -> None:
        """Write the scripts and the configuration files.

        Those of supervisord are last, because they contain digests of others.
        """
        for name in _SCRIPTS:
            _copy(name, self._folders.scripts / name)
        for name in ("ebtables", "tc"):
            _copy(f"shim-{name}.sh", self._folders.scripts / name)
        for name, target in _FILES.items():
            mode = 0o644 if target in _OPEN_FILES else 0o600
            self._write(name, self._folders.root / target, mode)
        for user in ("admin", "member"):
            self._write(
                "openrc.j2", self._folders.root / f"openrc-{user}", user=user
            )
        for own in self._hypervisors:
            for name, path in (
                ("hypervisor-nova.conf.j2", own.nova),
                ("hypervisor-neutron.conf.j2", own.neutron),
                ("libvirtd.conf.j2", own.libvirtd),
                ("qemu.conf.j2", own.qemu),
            ):
                self._write(name, path, own=own)
        for name in ("supervisord-2.conf", "supervisord.conf"):
            self._write(f"{name}.j2", self._folders.etc / name)

    def _write(
        self,
        name: str,
        path: pathlib.Path,
        mode: int = 0o600,
        **more: t.Any,
    ) -> None:
        """Write a rendered template."""
        atomic.write(path, self.render(name, **more), mode=mode)


def digest(
    paths: collections.abc.Iterable["str | os.PathLike[str]"],
) -> str:
    """Return a digest of the content of files."""
    content = b"\0".join(pathlib.Path(path).read_bytes() for path in paths)
    return hashlib.sha256(content).hexdigest()[:16]


def _copy(name: str, target: pathlib.Path) -> None:
    """Copy a shipped program."""
    text = resources.path("etc", "embedded-cloud", name).read_text()
    atomic.write(target, text, mode=0o755)
