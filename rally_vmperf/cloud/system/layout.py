"""Paths of the embedded cloud's files, and names of its devices."""

import dataclasses
import pathlib

DEFAULT_ROOT = pathlib.Path("/var/lib/vmperf-cloud")

REGION = "RegionOne"
#: The end of the link on the host, which is its only device of the cloud.
LINK = "vmperf-cloud0"
CGROUP = "vmperf-cloud"
PEER_NAMESPACE = "vmperf-peer"

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
    "data/rabbitmq",
)
_PRIVATE_OF_HYPERVISOR = ("libvirt", "libvirt/etc", "libvirt/log", "locks")


@dataclasses.dataclass(frozen=True)
class Layout:
    """The directories and files below one state directory."""

    root: pathlib.Path

    @property
    def package_root(self) -> pathlib.Path:
        """The root file system of the container, mounted read-only."""
        return self.root / "root"

    @property
    def tarball(self) -> pathlib.Path:
        """The archive of the root file system."""
        return self.root / "root.tar.zst"

    @property
    def scripts(self) -> pathlib.Path:
        """The programs that run in the container."""
        return self.root / "bin"

    @property
    def etc(self) -> pathlib.Path:
        """Configuration files and secrets."""
        return self.root / "etc"

    @property
    def data(self) -> pathlib.Path:
        """The data of the services."""
        return self.root / "data"

    @property
    def log(self) -> pathlib.Path:
        """One log for each service and each long step."""
        return self.root / "log"

    @property
    def run(self) -> pathlib.Path:
        """Sockets of the running services."""
        return self.root / "run"

    @property
    def image(self) -> pathlib.Path:
        """The guest image."""
        return self.root / "vmperf-guest.qcow2"

    @property
    def clouds(self) -> pathlib.Path:
        """The clouds.yaml of the cloud's users."""
        return self.root / "clouds.yaml"

    @property
    def settings(self) -> pathlib.Path:
        """The settings of the cloud."""
        return self.root / "settings.json"

    @property
    def addresses(self) -> pathlib.Path:
        """The address ranges that were chosen."""
        return self.root / "addresses.json"

    @property
    def modules(self) -> pathlib.Path:
        """The kernel modules from before the start of the container."""
        return self.root / "modules.txt"

    @property
    def guests_gone(self) -> pathlib.Path:
        """Exists after a start, until servers without guests are deleted."""
        return self.data / "guests-gone"

    @property
    def used(self) -> bool:
        """Whether the databases hold data that could be lost."""
        return any((self.data / "done").glob("schema-*"))

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
        modes: dict[pathlib.Path, int] = {}
        for name in _PASSAGES:
            modes[self.root / name] = 0o711
        for name in _PRIVATE:
            modes[self.root / name] = 0o700
        for number in (1, 2):
            data = self.hypervisor_data(number)
            modes[data] = 0o711
            modes[data / "nova"] = 0o710
            modes |= {data / name: 0o711 for name in _QEMU}
            modes |= {data / name: 0o700 for name in _PRIVATE_OF_HYPERVISOR}
            modes[self.etc / f"hypervisor-{number}"] = 0o700
        for directory, mode in modes.items():
            directory.mkdir(parents=True, exist_ok=True)
            directory.chmod(mode)
