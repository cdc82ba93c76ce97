# SPDX-License-Identifier: Apache-2.0
"""Paths of the embedded cloud's files, and names of its devices."""

import pathlib

#: The templates and scripts of the cloud.
SHIPPED = pathlib.Path(__file__).parent.parent / "etc"
DEFAULT_ROOT = pathlib.Path("/var/lib/vmperf-cloud")

REGION = "RegionOne"
#: The end of the link on the host, which is its only device of the cloud.
LINK = "vmperf-cloud0"
CGROUP = "vmperf-cloud"
PEER_NAMESPACE = "vmperf-peer"
#: The size of the file that holds all volumes.
VOLUMES_GIB = 20
#: The names of both hypervisors in Nova and Neutron.
HYPERVISORS = ("vmperf-hypervisor", "vmperf-hypervisor-2")
#: The agents of Neutron on the first one; the second one has the first agent.
AGENTS = tuple(
    f"neutron-{name}-agent"
    for name in ("linuxbridge", "dhcp", "l3", "metadata")
)
#: The services of Cinder that report to it.
VOLUME_SERVICES = ("cinder-scheduler", "cinder-volume")

# Services that do not run as root have their files in these ...
_PASSAGES = ("bin", "run", "run/mariadb", "data", "data/mysql")
# ... and QEMU has its files, behind directories of root, in these ...
_QEMU = (
    *("neutron", "libvirt/cache", "libvirt/lib"),
    *("nova/instances", "instances"),
)
# ... and nobody but root has files in these.
_PRIVATE = (
    *("etc", "log", "rally", "baselines", "journal", "data/done"),
    *("data/glance", "data/glance/images", "data/glance/staging"),
    *("data/glance/tasks", "data/keystone", "data/peer"),
    *("data/rabbitmq", "data/ceph", "data/cinder"),
)
_PRIVATE_OF_HYPERVISOR = ("libvirt", "libvirt/etc", "libvirt/log", "locks")


class Layout:
    """The directories and files below one state directory.

    :param root: The state directory.
    """

    def __init__(self, root: pathlib.Path) -> None:
        self.root = root
        self.package_root = root / "root"  # mounted read-only
        self.tarball = root / "root.tar.zst"  # of the package root
        self.scripts = root / "bin"  # programs that run in the container
        self.etc = root / "etc"  # configuration files and secrets
        self.data = root / "data"  # of the services
        self.log = root / "log"  # of each service and each long step
        self.run = root / "run"  # sockets of the running services
        self.image = root / "vmperf-guest.qcow2"
        self.clouds = root / "clouds.yaml"
        self.settings = root / "settings.json"
        self.addresses = root / "addresses.json"
        #: The kernel modules from before the start of the container.
        self.modules = root / "modules.txt"
        #: Exists after a start, until servers without guests are deleted.
        self.guests_gone = self.data / "guests-gone"

    @property
    def used(self) -> bool:
        """Whether the databases hold data that could be lost."""
        return any((self.data / "done").glob("schema-*"))

    @property
    def has_volumes(self) -> bool:
        """Whether the databases hold those of volumes, too."""
        return (self.data / "done" / "schema-cinder").exists()

    def hypervisor_data(self, number: int) -> pathlib.Path:
        """Return the data directory of a hypervisor, 1 or 2."""
        return self.data if number == 1 else self.data / "hypervisor-2"

    def make_directories(self) -> None:
        """Create the directories.

        Numbers of users in the container are those of others on the host, so
        that only root enters the state directory.
        """
        self.root.mkdir(parents=True, exist_ok=True)
        self.root.chmod(0o700)
        modes = dict.fromkeys(_PASSAGES, 0o711) | dict.fromkeys(
            _PRIVATE, 0o700
        )
        for number in (1, 2):
            data = str(self.hypervisor_data(number).relative_to(self.root))
            modes |= {data: 0o711, f"{data}/nova": 0o710}
            modes |= {f"{data}/{name}": 0o711 for name in _QEMU}
            for name in _PRIVATE_OF_HYPERVISOR:
                modes[f"{data}/{name}"] = 0o700
            modes[f"etc/hypervisor-{number}"] = 0o700
        for name, mode in modes.items():
            (self.root / name).mkdir(parents=True, exist_ok=True)
            (self.root / name).chmod(mode)
