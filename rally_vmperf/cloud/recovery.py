"""Bring the cloud up from any state that it was left in."""

import errno

from rally_vmperf import removal
from rally_vmperf.cloud import bringup
from rally_vmperf.cloud import preflight
from rally_vmperf.cloud import teardown
from rally_vmperf.cloud.image import guest_image
from rally_vmperf.cloud.network import network_check
from rally_vmperf.cloud.network import network_removal
from rally_vmperf.cloud.network import paths
from rally_vmperf.cloud.network import routing
from rally_vmperf.cloud.resources import agents
from rally_vmperf.cloud.services import schema
from rally_vmperf.cloud.services import supervisor
from rally_vmperf.cloud.state import addresses
from rally_vmperf.cloud.state import ownership
from rally_vmperf.cloud.state import state_root
from rally_vmperf.cloud.system import console
from rally_vmperf.cloud.system import documents
from rally_vmperf.cloud.system import errors
from rally_vmperf.cloud.system import graph
from rally_vmperf.cloud.system import layout
from rally_vmperf.cloud.system import lock
from rally_vmperf.cloud.system import machine
from rally_vmperf.cloud.system import packages
from rally_vmperf.cloud.system import units

LOST = (
    "the databases were recreated: users, networks, images and guests of "
    "earlier runs are gone; guest image, baselines and journals are kept"
)
# What a rebuild need not take from the machine's present boot.
KEPT = ("kvm.json",)
FULL = (errno.ENOSPC, errno.EDQUOT)


def up(
    folders: layout.Layout,
    progress: console.Progress,
    disk_cache: str | None,
    wanted: addresses.Addresses | None = None,
) -> None:
    """Bring the whole cloud up; repair it, or else rebuild it.

    :param folders: the state root's folders
    :param progress: tells the user
    :param disk_cache: cache mode of guests' disks; as before if None
    :param wanted: its address ranges; as before, or free ones, if None
    """
    owner = ownership.Ownership(
        folders, supervisor.Supervisor(folders).processes
    )
    preflight.check(preflight.gather(folders, owner))
    try:
        state_root.claim(folders)
        with lock.hold(folders.root):
            tidy(folders, progress)
            settle_addresses(folders, progress, wanted)
            try:
                run(folders, progress, disk_cache)
            except errors.DamageError as damage:
                rebuild(folders, progress, damage)
                run(folders, progress, disk_cache)
    except OSError as failed:
        if failed.errno not in FULL:
            raise
        raise errors.CloudError(
            f"the disk is full: {failed.filename or folders.root} cannot be "
            "written; free some, then run 'rally-vmperf cloud up' again"
        ) from failed
    progress.say(
        f"the cloud is ready: export OS_CLIENT_CONFIG_FILE={folders.clouds}"
    )


def run(
    folders: layout.Layout, progress: console.Progress, disk_cache: str | None
) -> None:
    """Go through the steps once.

    :param folders: the state root's folders
    :param progress: tells the user
    :param disk_cache: cache mode of guests' disks; as before if None
    """
    keeper = supervisor.Supervisor(folders)
    steps = bringup.Bringup(folders, progress, keeper, disk_cache)
    graph.run(steps.tasks(), progress.say)


def settle_addresses(
    folders: layout.Layout,
    progress: console.Progress,
    wanted: addresses.Addresses | None,
) -> None:
    """Choose the cloud's address ranges the first time, and check them.

    :param folders: the state root's folders
    :param progress: tells the user
    :param wanted: what the user asked for
    """
    packages.provide(folders, ["iproute2"])
    used = routing.used(routing.routes(), routing.resolvers())
    chosen = addresses.settle(
        folders, used, wanted, made=schema.any_filled(folders)
    )
    if chosen != addresses.USUAL:
        progress.say(f"networks: {', '.join(map(str, chosen.ranges))}")


def tidy(folders: layout.Layout, progress: console.Progress) -> None:
    """Finish or undo what a killed command left half done.

    :param folders: the state root's folders
    :param progress: tells the user
    """
    if folders.purging.exists():
        teardown.take_down(folders, progress)
        units.unmask(folders)
        teardown.empty(folders)
        progress.found("an earlier purge was interrupted", "finished")
    packages.restore_policy()
    for name in guest_image.sweep(folders.root):
        progress.found(f"{name}, left by a build that was killed", "removed")
    if schema.any_filled(folders):
        report_missing_folders(folders, progress)
        for path in (folders.settings, folders.before, folders.addresses):
            if documents.broken(path):
                progress.found(f"{path.name} cannot be read", "recreated")
    folders.make_folders()
    machine.remember(folders)


def report_missing_folders(
    folders: layout.Layout, progress: console.Progress
) -> None:
    """Say which folders are gone, before they are recreated.

    :param folders: the state root's folders
    :param progress: tells the user
    """
    for name in folders.missing_folders():
        done = "recreated"
        if name == "data/nova/instances":
            done = "recreated; guests of earlier runs are gone"
            folders.guests_gone.touch()
        if name == "data/neutron":
            # What serves guests does so by files in there.
            keeper = supervisor.Supervisor(folders)
            paths.remove(keeper, folders, agents.NAMES)
        progress.found(f"folder {name} is gone", done)


def rebuild(
    folders: layout.Layout,
    progress: console.Progress,
    damage: errors.DamageError,
) -> None:
    """Discard everything that depends on the databases.

    :param folders: the state root's folders
    :param progress: tells the user
    :param damage: what was found
    """
    progress.found(str(damage), LOST)
    teardown.stop_services(folders)
    teardown.sweep(folders)
    network_removal.remove(addresses.load(folders))
    for note in (folders.run / network_check.NOTE, folders.data_paths):
        note.unlink(missing_ok=True)
    for entry in folders.data.iterdir():
        if entry.name in KEPT:
            continue
        removal.remove(entry, folders.root)
    folders.make_folders()
