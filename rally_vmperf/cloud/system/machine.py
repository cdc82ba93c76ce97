"""Record the machine's settings before the cloud, and restore them."""

import json
import pathlib
import typing as t

from rally_vmperf import atomic
from rally_vmperf import removal
from rally_vmperf.cloud.system import documents
from rally_vmperf.cloud.system import layout
from rally_vmperf.cloud.system import mounts

SETTINGS = pathlib.Path("/proc/sys")
KERNEL_SETTINGS = (
    "net/bridge/bridge-nf-call-arptables",
    "net/bridge/bridge-nf-call-ip6tables",
    "net/bridge/bridge-nf-call-iptables",
    "net/ipv4/ip_forward",
    "net/ipv6/conf/all/forwarding",
)
# Made by what the services run, and left behind by it; folders of it are
# removed when they are empty ...
LEFTOVERS = ("/run/netns", "/run/sshd", "/run/libvirt", "/run/libvirtd.pid")
# ... except for those that we make ourselves, so that all in them is ours.
OWN_FOLDERS = ("/run/libvirt",)


def remember(folders: layout.Layout) -> None:
    """Record what the cloud's services are going to change, once.

    :param folders: the state root's folders
    """
    before = documents.read(folders.before)
    if before is None:
        before = look()
        atomic.write(folders.before, json.dumps(before) + "\n")
    for path in map(pathlib.Path, OWN_FOLDERS):
        if str(path) not in before.get("leftovers", []) and not path.exists():
            path.mkdir(mode=0o755)
            removal.mark(path)


def look() -> dict[str, t.Any]:
    """Return what the cloud's services are going to change."""
    values = {}
    for name in KERNEL_SETTINGS:
        path = SETTINGS / name
        if path.exists():
            values[name] = path.read_text().strip()
    return {
        "settings": values,
        "leftovers": [
            name for name in LEFTOVERS if pathlib.Path(name).exists()
        ],
    }


def put_back(folders: layout.Layout) -> None:
    """Restore what was recorded, and delete the record.

    :param folders: the state root's folders
    """
    if not folders.before.exists():
        return
    # a broken file says that the cloud came, and no more
    before = documents.read(folders.before) or {}
    for name, value in before.get("settings", {}).items():
        path = SETTINGS / name
        if path.exists() and path.read_text().strip() != value:
            path.write_text(value)
    for name in LEFTOVERS:
        if name not in before.get("leftovers", LEFTOVERS):
            remove(pathlib.Path(name))
    folders.before.unlink()


def remove(path: pathlib.Path) -> None:
    """Remove what the cloud's services left in /run, and nothing else.

    :param path: a file, a folder of ours, or one that others may use by now
    """
    if not path.is_dir():
        path.unlink(missing_ok=True)
    elif removal.is_marked(path):
        mounts.unmount(path)
        removal.discard(path)
    elif not any(path.iterdir()):
        # "ip netns" mounts its folder on itself
        mounts.unmount(path)
        path.rmdir()
