"""Have the cloud running, whatever happened to it before."""

import errno

from rally_vmperf import removal
from rally_vmperf.cloud import addresses
from rally_vmperf.cloud import agents
from rally_vmperf.cloud import bringup
from rally_vmperf.cloud import console
from rally_vmperf.cloud import documents
from rally_vmperf.cloud import errors
from rally_vmperf.cloud import graph
from rally_vmperf.cloud import guest_image
from rally_vmperf.cloud import layout
from rally_vmperf.cloud import lock
from rally_vmperf.cloud import machine
from rally_vmperf.cloud import network_check
from rally_vmperf.cloud import network_removal
from rally_vmperf.cloud import ownership
from rally_vmperf.cloud import packages
from rally_vmperf.cloud import paths
from rally_vmperf.cloud import preflight
from rally_vmperf.cloud import routing
from rally_vmperf.cloud import schema
from rally_vmperf.cloud import state_root
from rally_vmperf.cloud import supervisor
from rally_vmperf.cloud import teardown
from rally_vmperf.cloud import units

LOST = (
    "the databases were made anew: users, networks, images and guests of "
    "earlier runs are gone; guest image, baselines and journals are kept"
)
# What a rebuild need not take from the machine's present boot.
KEPT = ("kvm.json",)
FULL = (errno.ENOSPC, errno.EDQUOT)


def up(
    place: layout.Layout,
    progress: console.Progress,
    disk_cache: str | None,
    wanted: addresses.Addresses | None = None,
) -> None:
    """Have the whole cloud running; repair it, or else make it anew.

    :param place: the state root's folders
    :param progress: tells the user
    :param disk_cache: cache mode of guests' disks; as before if None
    :param wanted: its address ranges; as before, or free ones, if None
    """
    owner = ownership.Ownership(place, supervisor.Supervisor(place).processes)
    preflight.check(preflight.gather(place, owner))
    try:
        state_root.claim(place)
        with lock.hold(place.root):
            tidy(place, progress)
            settle_addresses(place, progress, wanted)
            try:
                run(place, progress, disk_cache)
            except errors.DamageError as damage:
                rebuild(place, progress, damage)
                run(place, progress, disk_cache)
    except OSError as failed:
        if failed.errno not in FULL:
            raise
        raise errors.CloudError(
            f"the disk is full: {failed.filename or place.root} cannot be "
            "written; free some, then run 'rally-vmperf cloud up' again"
        ) from failed
    progress.say(
        f"the cloud is ready: export OS_CLIENT_CONFIG_FILE={place.clouds}"
    )


def run(
    place: layout.Layout, progress: console.Progress, disk_cache: str | None
) -> None:
    """Go through the steps once.

    :param place: the state root's folders
    :param progress: tells the user
    :param disk_cache: cache mode of guests' disks; as before if None
    """
    keeper = supervisor.Supervisor(place)
    steps = bringup.Bringup(place, progress, keeper, disk_cache)
    graph.run(steps.tasks(), progress.say)


def settle_addresses(
    place: layout.Layout,
    progress: console.Progress,
    wanted: addresses.Addresses | None,
) -> None:
    """Choose the cloud's address ranges, the first time, and check them.

    :param place: the state root's folders
    :param progress: tells the user
    :param wanted: what the user asked for
    """
    packages.provide(place, ["iproute2"])
    used = routing.used(routing.routes(), routing.resolvers())
    chosen = addresses.settle(
        place, used, wanted, made=schema.any_filled(place)
    )
    if chosen != addresses.USUAL:
        progress.say(f"networks: {', '.join(map(str, chosen.ranges))}")


def tidy(place: layout.Layout, progress: console.Progress) -> None:
    """Finish or undo what an earlier command was killed over.

    :param place: the state root's folders
    :param progress: tells the user
    """
    if place.purging.exists():
        teardown.take_down(place, progress)
        units.unmask(place)
        teardown.empty(place)
        progress.found("an earlier purge was interrupted", "finished")
    packages.restore_policy()
    for name in guest_image.sweep(place.root):
        progress.found(f"{name}, left by a build that was killed", "removed")
    if schema.any_filled(place):
        folders(place, progress)
        for path in (place.settings, place.before, place.addresses):
            if documents.broken(path):
                progress.found(f"{path.name} cannot be read", "made anew")
    place.make_folders()
    machine.remember(place)


def folders(place: layout.Layout, progress: console.Progress) -> None:
    """Say which folders are gone, before they are made anew.

    :param place: the state root's folders
    :param progress: tells the user
    """
    for name in place.missing_folders():
        done = "made anew"
        if name == "data/nova/instances":
            done = "made anew; guests of earlier runs are gone"
            place.guests_gone.touch()
        if name == "data/neutron":
            # What serves guests does so by files in there.
            keeper = supervisor.Supervisor(place)
            paths.remove(keeper, place, agents.NAMES)
        progress.found(f"folder {name} is gone", done)


def rebuild(
    place: layout.Layout,
    progress: console.Progress,
    damage: errors.DamageError,
) -> None:
    """Throw away what depends on the databases.

    :param place: the state root's folders
    :param progress: tells the user
    :param damage: what was found
    """
    progress.found(str(damage), LOST)
    teardown.stop_services(place)
    teardown.sweep(place)
    network_removal.remove(addresses.load(place))
    for note in (place.run / network_check.NOTE, place.ways):
        note.unlink(missing_ok=True)
    for entry in place.data.iterdir():
        if entry.name in KEPT:
            continue
        removal.remove(entry, place.root)
    place.make_folders()
