# SPDX-License-Identifier: Apache-2.0
"""Files of the embedded cloud, rendered from templates."""

import collections.abc
import hashlib
import os
import pathlib
import typing as t
import uuid

import jinja2
import yaml

from rally_vmperf import atomic
from tests.cloud.state import addresses
from tests.cloud.state import settings
from tests.cloud.system import layout

USERS = ("admin", "member")
# Those of supervisord are last: they contain digests of others.
_OF_SERVICES = (
    *("container.env", "my.cnf", "schema.sh", "rabbitmq.conf"),
    *("keystone.conf", "placement.conf", "glance.conf"),
    *("neutron.conf", "nova.conf", "nova-database.conf", "sshd_config"),
    *("hypervisor_ssh_config", "hypervisor_sshd_config"),
    *("ceph.conf", "ceph.sh", "cinder.conf"),
    *("supervisord-2.conf", "supervisord.conf"),
)
_OF_USERS = ("clouds.yaml", "rally.conf", "task-args.yaml")


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
            loader=jinja2.FileSystemLoader(layout.SHIPPED),
            undefined=jinja2.StrictUndefined,
            keep_trailing_newline=True,
            trim_blocks=True,
            lstrip_blocks=True,
            autoescape=False,
        )
        ranges = addresses.load(folders)
        host = uuid.UUID(hex=secrets["libvirt_host"])
        #: What differs between the hypervisors; the second may not run.
        self.hypervisors: list[dict[str, t.Any]] = [
            {
                "number": number,
                "name": name,
                "address": str(ranges.management[number + 1]),
                "uuid": uuid.uuid5(host, str(number)),
                "etc": folders.etc / f"hypervisor-{number}",
                "data": folders.hypervisor_data(number),
            }
            for number, name in enumerate(layout.HYPERVISORS, start=1)
        ]
        self._jinja.globals |= {
            **vars(folders),
            "layout": layout,
            "secrets": secrets,
            "settings": chosen,
            "addresses": ranges,
            "hypervisors": self.hypervisors,
            "ceph": {
                "fsid": uuid.uuid5(host, "ceph"),
                "osd": uuid.uuid5(host, "osd"),
                "pool": "volumes",
            },
            "digest": digest,
        }

    def render(self, name: str, **more: t.Any) -> str:
        """Return one rendered template.

        :param name: The file name of the template.
        :param more: Values for this time only.
        """
        return self._jinja.get_template(name).render(**more)

    def data(self, name: str) -> t.Any:
        """Return the content of a rendered YAML template."""
        return yaml.safe_load(self.render(name))

    def write_all(self) -> None:
        """Write the scripts and the configuration files."""
        folders = self._folders
        for path in layout.SHIPPED.glob("*.sh"):
            name = path.name
            if name.startswith("shim-"):
                # It takes the place of a program.
                name = path.stem.removeprefix("shim-")
            atomic.write(folders.scripts / name, path.read_text(), mode=0o755)
        for hypervisor in self.hypervisors:
            for name in ("nova.conf", "neutron.conf"):
                template = f"hypervisor-{name}.j2"
                self._write(template, hypervisor["etc"] / name, own=hypervisor)
            for name in ("libvirtd.conf", "qemu.conf"):
                path = hypervisor["data"] / "libvirt/etc" / name
                self._write(f"{name}.j2", path, own=hypervisor)
        for name in _OF_SERVICES:
            self._write(f"{name}.j2", folders.etc / name)
        for name in _OF_USERS:
            self._write(f"{name}.j2", folders.root / name)
        for user in USERS:
            path = folders.root / f"rally-env-{user}.json"
            self._write("rally-env.json.j2", path, user=user)

    def _write(self, template: str, path: pathlib.Path, **more: t.Any) -> None:
        """Write a rendered template."""
        atomic.write(path, self.render(template, **more))


def digest(
    paths: collections.abc.Iterable["str | os.PathLike[str]"],
) -> str:
    """Return a digest of the content of files."""
    content = b"\0".join(pathlib.Path(path).read_bytes() for path in paths)
    return hashlib.sha256(content).hexdigest()[:16]
