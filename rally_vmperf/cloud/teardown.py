"""Take the embedded cloud down, completely."""

import concurrent.futures
import pathlib
import signal
import time

from rally_vmperf import removal
from rally_vmperf.cloud.network import network_check
from rally_vmperf.cloud.network import network_removal
from rally_vmperf.cloud.services import services
from rally_vmperf.cloud.services import supervisor
from rally_vmperf.cloud.state import addresses
from rally_vmperf.cloud.state import ownership
from rally_vmperf.cloud.state import state_root
from rally_vmperf.cloud.system import console
from rally_vmperf.cloud.system import layout
from rally_vmperf.cloud.system import lock
from rally_vmperf.cloud.system import machine
from rally_vmperf.cloud.system import mounts
from rally_vmperf.cloud.system import packages
from rally_vmperf.cloud.system import procfs
from rally_vmperf.cloud.system import units

# First what would react to others' end, last what others need to end well.
LAST = ("rabbitmq", "epmd", "mariadb")
PATIENCE = 10.0


def down(
    folders: layout.Layout, progress: console.Progress, *, purge: bool
) -> None:
    """Stop everything that belongs to a state root.

    :param folders: the state root's folders
    :param progress: tells the user
    :param purge: delete the state root too, except for the guest image
    """
    if not folders.root.exists():
        progress.say(f"{folders.root} does not contain a cloud")
        return
    state_root.require(folders)
    with lock.hold(folders.root):
        if purge:
            folders.purging.touch()
        elif folders.data.exists():
            # Before the first guest is ended: this may be interrupted.
            folders.guests_gone.touch()
        take_down(folders, progress)
        if purge:
            units.unmask(folders)
            empty(folders)
            progress.say(
                f"{folders.root} emptied; {folders.image.name} is kept"
            )
    remove_if_empty(folders.root)


def take_down(folders: layout.Layout, progress: console.Progress) -> None:
    """Stop everything and remove it from the machine; keep the state root.

    :param folders: the state root's folders
    :param progress: tells the user
    """
    for note in (folders.run / network_check.NOTE, folders.data_paths):
        note.unlink(missing_ok=True)
    stop_services(folders)
    progress.say("services stopped")
    sweep(folders)
    progress.say("guests and stray processes ended")
    if folders.before.exists():
        # Only then do such names belong to this cloud.
        network_removal.remove(addresses.load(folders))
        progress.say("bridges, namespaces and rules removed")
    # an interrupted build of the image
    mounts.unmount(folders.root)
    packages.restore_policy()
    machine.put_back(folders)


def stop_services(folders: layout.Layout) -> None:
    """Stop the recorded services, concurrently where that is safe.

    :param folders: the state root's folders
    """
    keeper = supervisor.Supervisor(folders)
    names = {record.name for record in keeper.records.all()}
    names.update(service.name for service in services.shipped(folders))
    first = [name for name in names if name not in LAST]
    with concurrent.futures.ThreadPoolExecutor(len(first) or 1) as pool:
        list(pool.map(keeper.stop, first))
    for name in LAST:
        keeper.stop(name)


def sweep(folders: layout.Layout) -> None:
    """End guests, and processes that services started in other sessions.

    :param folders: the state root's folders
    """
    owner = ownership.Ownership(folders, procfs.ProcessTable())
    deadline = time.monotonic() + PATIENCE
    number = signal.SIGTERM
    while stray := found(folders, owner):
        for pid in stray:
            supervisor.send(pid, number)
        if time.monotonic() > deadline - PATIENCE / 2:
            number = signal.SIGKILL
        if time.monotonic() > deadline:
            return
        time.sleep(0.2)


def found(folders: layout.Layout, owner: ownership.Ownership) -> set[int]:
    """Return the processes of the cloud that still run."""
    processes = set(owner.all())
    if folders.before.exists():
        processes |= network_removal.inhabitants()
    return processes


def empty(folders: layout.Layout) -> None:
    """Delete all but the image, its manifest, the marker and the packages.

    :param folders: the state root's folders
    """
    marker = folders.root / removal.MARKER
    manifest = folders.image.with_suffix(".manifest")
    kept = (folders.image, manifest, folders.packages, folders.purging, marker)
    for entry in [*folders.root.iterdir()]:
        if entry not in kept:
            removal.remove(entry, folders.root)
    # Last, so that an interrupted purge is known for one.
    folders.purging.unlink(missing_ok=True)


def remove_if_empty(root: pathlib.Path) -> None:
    """Remove a state root that holds nothing but its marker any more."""
    if [path.name for path in root.iterdir()] == [removal.MARKER]:
        removal.discard(root)
