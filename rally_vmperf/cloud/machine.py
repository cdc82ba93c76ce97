"""What the machine was like before the cloud, and putting it back."""

import json
import pathlib
import typing as t

from rally_vmperf.cloud import credentials
from rally_vmperf.cloud import layout
from rally_vmperf.cloud import mounts

SETTINGS = pathlib.Path("/proc/sys")
KERNEL_SETTINGS = (
    "net/bridge/bridge-nf-call-arptables",
    "net/bridge/bridge-nf-call-ip6tables",
    "net/bridge/bridge-nf-call-iptables",
    "net/ipv4/ip_forward",
    "net/ipv6/conf/all/forwarding",
)
# Made by what the services run, and left behind by it.
FOLDERS = ("/run/netns", "/run/sshd", "/run/libvirt")


def remember(place: layout.Layout) -> None:
    """Write down what the cloud's services are going to change, once.

    :param place: the state root's folders
    """
    if place.before.exists():
        return
    values = {}
    for name in KERNEL_SETTINGS:
        path = SETTINGS / name
        if path.exists():
            values[name] = path.read_text().strip()
    before: dict[str, t.Any] = {
        "settings": values,
        "folders": [name for name in FOLDERS if pathlib.Path(name).exists()],
    }
    credentials.write_private(place.before, json.dumps(before) + "\n")


def put_back(place: layout.Layout) -> None:
    """Restore what was written down, and forget it.

    :param place: the state root's folders
    """
    if not place.before.exists():
        return
    before = json.loads(place.before.read_text())
    for name, value in before["settings"].items():
        path = SETTINGS / name
        if path.exists() and path.read_text().strip() != value:
            path.write_text(value)
    for name in FOLDERS:
        if name not in before["folders"]:
            remove_folder(pathlib.Path(name))
    place.before.unlink()


def remove_folder(folder: pathlib.Path) -> None:
    """Remove what services left in a folder of /run, mount and all."""
    mounts.unmount(folder)
    for entry in sorted(folder.rglob("*"), reverse=True):
        if entry.is_dir() and not entry.is_symlink():
            entry.rmdir()
        else:
            entry.unlink(missing_ok=True)
    if folder.exists():
        folder.rmdir()
