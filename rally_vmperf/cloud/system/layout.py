"""Paths of the embedded cloud's files, and names of its devices."""

import dataclasses
import pathlib
import shutil

DEFAULT_ROOT = pathlib.Path("/var/lib/vmperf-cloud")

REGION = "RegionOne"
HYPERVISOR = "vmperf-hypervisor"

MANAGEMENT_BRIDGE = "br-mgmt"
EXTERNAL_BRIDGE = "br-ex"
EXTERNAL_PORT = "vmperf-ext"
PEER_NAMESPACE = "vmperf-peer"
PEER_PORT = "vmperf-peer"

# Services that are not root have their files behind these ...
PASSAGES = (
    *("bin", "run", "run/mariadb", "data", "data/mysql", "data/neutron"),
    # QEMU's, behind folders that are root's
    *("data/libvirt/cache", "data/libvirt/lib", "data/nova/instances"),
)
# ... guests' disks behind these, which only QEMU's group may pass ...
GUESTS_FOLDERS = ("data/nova",)
QEMU_GROUP = "libvirt-qemu"
# ... and nothing behind these.
PRIVATE_FOLDERS = (
    "etc",
    "log",
    "rally",
    "baselines",
    "journal",
    "data/done",
    "data/glance",
    "data/glance/images",
    "data/glance/staging",
    "data/glance/tasks",
    "data/keystone",
    "data/libvirt",
    "data/libvirt/etc",
    "data/libvirt/log",
    "data/locks",
    "data/rabbitmq",
)


@dataclasses.dataclass(frozen=True)
class Layout:
    """The folders and files below one state root."""

    root: pathlib.Path

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
        """Records of what is running."""
        return self.root / "run"

    @property
    def shims(self) -> pathlib.Path:
        """Programs that services use in place of the machine's own."""
        return self.root / "bin"

    @property
    def image(self) -> pathlib.Path:
        """The guest image, which outlives a purge."""
        return self.root / "vmperf-guest.qcow2"

    @property
    def clouds(self) -> pathlib.Path:
        """The clouds.yaml of the cloud's users."""
        return self.root / "clouds.yaml"

    @property
    def settings(self) -> pathlib.Path:
        """The settings with which the cloud was brought up."""
        return self.root / "settings.json"

    @property
    def packages(self) -> pathlib.Path:
        """What was installed for the cloud; it outlives a purge too."""
        return self.root / "packages.json"

    @property
    def addresses(self) -> pathlib.Path:
        """The address ranges that were chosen."""
        return self.root / "addresses.json"

    @property
    def guests_gone(self) -> pathlib.Path:
        """Exists after a ``cloud down`` that left servers without guests."""
        return self.root / "data" / "guests-gone"

    @property
    def data_paths(self) -> pathlib.Path:
        """The ways for packets that were found to work, for ``status``."""
        return self.run / "ways"

    @property
    def purging(self) -> pathlib.Path:
        """Exists while everything but the guest image is being deleted."""
        return self.root / ".purging"

    @property
    def before(self) -> pathlib.Path:
        """Settings of the machine from before the cloud."""
        return self.root / "before.json"

    def missing_folders(self) -> list[str]:
        """Return the names of the folders that are not there."""
        names = GUESTS_FOLDERS + PASSAGES + PRIVATE_FOLDERS
        return [name for name in names if not (self.root / name).is_dir()]

    def make_folders(self) -> None:
        """Create the folders; others may at most pass through them."""
        self.root.mkdir(parents=True, exist_ok=True)
        self.root.chmod(0o711)
        modes = (
            (GUESTS_FOLDERS, 0o710),
            (PASSAGES, 0o711),
            (PRIVATE_FOLDERS, 0o700),
        )
        for names, mode in modes:
            for folder in (self.root / name for name in names):
                folder.mkdir(parents=True, exist_ok=True)
                folder.chmod(mode)

    def let_qemu_pass(self) -> None:
        """Give guests' folders to QEMU's group, which its package brings."""
        for name in GUESTS_FOLDERS:
            shutil.chown(self.root / name, group=QEMU_GROUP)
