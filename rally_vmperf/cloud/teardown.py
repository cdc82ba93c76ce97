"""Take the embedded cloud down and leave nothing of it behind."""

import concurrent.futures
import pathlib
import signal
import time

from rally_vmperf import removal
from rally_vmperf.cloud import addresses
from rally_vmperf.cloud import console
from rally_vmperf.cloud import layout
from rally_vmperf.cloud import lock
from rally_vmperf.cloud import machine
from rally_vmperf.cloud import mounts
from rally_vmperf.cloud import network_check
from rally_vmperf.cloud import network_removal
from rally_vmperf.cloud import ownership
from rally_vmperf.cloud import packages
from rally_vmperf.cloud import procfs
from rally_vmperf.cloud import services
from rally_vmperf.cloud import state_root
from rally_vmperf.cloud import supervisor
from rally_vmperf.cloud import units

# First what would react to others' end, last what others need to end well.
LAST = ("rabbitmq", "epmd", "mariadb")
PATIENCE = 10.0


def down(
    place: layout.Layout, progress: console.Progress, *, purge: bool
) -> None:
    """Stop everything that belongs to a state root.

    :param place: the state root's folders
    :param progress: tells the user
    :param purge: delete the state root too, except for the guest image
    """
    if not place.root.exists():
        progress.say(f"there is no cloud in {place.root}")
        return
    state_root.require(place)
    with lock.hold(place.root):
        if purge:
            place.purging.touch()
        elif place.data.exists():
            # Before the first guest is ended: this may be interrupted.
            place.guests_gone.touch()
        take_down(place, progress)
        if purge:
            units.unmask(place)
            empty(place)
            progress.say(f"{place.root} emptied; {place.image.name} is kept")
    remove_if_empty(place.root)


def take_down(place: layout.Layout, progress: console.Progress) -> None:
    """Stop everything and take it off the machine; keep the state root.

    :param place: the state root's folders
    :param progress: tells the user
    """
    for note in (place.run / network_check.NOTE, place.ways):
        note.unlink(missing_ok=True)
    stop_services(place)
    progress.say("services stopped")
    sweep(place)
    progress.say("guests and stray processes ended")
    if place.before.exists():
        # Only then do such names belong to this cloud.
        network_removal.remove(addresses.load(place))
        progress.say("bridges, namespaces and rules removed")
    # an interrupted build of the image
    mounts.unmount(place.root)
    packages.restore_policy()
    machine.put_back(place)


def stop_services(place: layout.Layout) -> None:
    """Stop the recorded services, side by side where that is safe.

    :param place: the state root's folders
    """
    keeper = supervisor.Supervisor(place)
    names = {record.name for record in keeper.records.all()}
    names.update(service.name for service in services.shipped(place))
    first = [name for name in names if name not in LAST]
    with concurrent.futures.ThreadPoolExecutor(len(first) or 1) as pool:
        list(pool.map(keeper.stop, first))
    for name in LAST:
        keeper.stop(name)


def sweep(place: layout.Layout) -> None:
    """End guests and whatever services started outside their sessions.

    :param place: the state root's folders
    """
    owner = ownership.Ownership(place, procfs.ProcessTable())
    deadline = time.monotonic() + PATIENCE
    number = signal.SIGTERM
    while stray := found(place, owner):
        for pid in stray:
            supervisor.send(pid, number)
        if time.monotonic() > deadline - PATIENCE / 2:
            number = signal.SIGKILL
        if time.monotonic() > deadline:
            return
        time.sleep(0.2)


def found(place: layout.Layout, owner: ownership.Ownership) -> set[int]:
    """Return what still runs of the cloud."""
    processes = set(owner.all())
    if place.before.exists():
        processes |= network_removal.inhabitants()
    return processes


def empty(place: layout.Layout) -> None:
    """Delete all but the guest image, the marker, and what was installed.

    :param place: the state root's folders
    """
    marker = place.root / removal.MARKER
    kept = (place.image, place.packages, place.purging, marker)
    for entry in [*place.root.iterdir()]:
        if entry not in kept:
            removal.remove(entry, place.root)
    # Last, so that an interrupted purge is known for one.
    place.purging.unlink(missing_ok=True)


def remove_if_empty(root: pathlib.Path) -> None:
    """Remove a state root that holds nothing but its marker any more."""
    if [path.name for path in root.iterdir()] == [removal.MARKER]:
        removal.discard(root)
