"""What the machine was like before the cloud, and putting it back."""

import json
import pathlib
import shutil
import typing as t

from rally_vmperf.cloud import credentials
from rally_vmperf.cloud import documents
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
LEFTOVERS = ("/run/netns", "/run/sshd", "/run/libvirt", "/run/libvirtd.pid")


def remember(place: layout.Layout) -> None:
    """Write down what the cloud's services are going to change, once.

    :param place: the state root's folders
    """
    if documents.read(place.before):
        return
    values = {}
    for name in KERNEL_SETTINGS:
        path = SETTINGS / name
        if path.exists():
            values[name] = path.read_text().strip()
    before: dict[str, t.Any] = {
        "settings": values,
        "leftovers": [
            name for name in LEFTOVERS if pathlib.Path(name).exists()
        ],
    }
    credentials.write_private(place.before, json.dumps(before) + "\n")


def put_back(place: layout.Layout) -> None:
    """Restore what was written down, and forget it.

    :param place: the state root's folders
    """
    if not place.before.exists():
        return
    # a broken file says that the cloud came, and no more
    before = documents.read(place.before) or {}
    for name, value in before.get("settings", {}).items():
        path = SETTINGS / name
        if path.exists() and path.read_text().strip() != value:
            path.write_text(value)
    for name in LEFTOVERS:
        if name not in before.get("leftovers", LEFTOVERS):
            remove(pathlib.Path(name))
    place.before.unlink()


def remove(path: pathlib.Path) -> None:
    """Remove what services left in /run, mounts and all.

    :param path: a file or a folder
    """
    mounts.unmount(path)
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
