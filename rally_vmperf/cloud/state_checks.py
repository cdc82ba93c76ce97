"""What is wrong with a cloud, its services aside."""

import shutil

from rally_vmperf.cloud import addresses
from rally_vmperf.cloud import credentials
from rally_vmperf.cloud import database_files
from rally_vmperf.cloud import documents
from rally_vmperf.cloud import fernet
from rally_vmperf.cloud import image_store
from rally_vmperf.cloud import layout
from rally_vmperf.cloud import network_check
from rally_vmperf.cloud import paths
from rally_vmperf.cloud import preflight
from rally_vmperf.cloud import procfs
from rally_vmperf.cloud import schema
from rally_vmperf.cloud import templates


def of_parts(
    place: layout.Layout, processes: procfs.ProcessTable
) -> list[tuple[str, str]]:
    """Return each damaged part of a cloud, with what is wrong with it.

    :param place: the state root's folders
    :param processes: the machine's process table
    """
    if not schema.any_filled(place):
        return []
    wrong = [("files", trouble) for trouble in of_files(place)]
    broken = database_files.damage(
        place.data / "mysql", schema.known_tables(place)
    )
    if broken:
        wrong.append(("databases", broken))
    if network_check.expected(place, processes.boot_id()):
        here = network_check.troubles(addresses.load(place))
        # Without the bridges nothing can be said of what joins them.
        here = here or paths.troubles(paths.saved(place))
        wrong += [("network", trouble) for trouble in here]
    return wrong


def of_files(place: layout.Layout) -> list[str]:
    """Return what is wrong with files that services are given.

    :param place: the state root's folders
    """
    wrong = [f"folder {name} is gone" for name in place.missing_folders()]
    wrong += [f"{name} is gone or empty" for name in templates.gone(place)]
    secrets = place.etc / "secrets.json"
    lost = len(credentials.PURPOSES) - len(credentials.known(secrets))
    if lost:
        wrong.append(f"{lost} secrets are lost from {secrets.name}")
    for path in (place.settings, place.before, place.addresses):
        if documents.broken(path):
            wrong.append(f"{path.name} cannot be read")
    for name in fernet.broken(place):
        wrong.append(f"Keystone's keys ({name}) cannot be used")
    if place.image.exists() and not image_store.readable(place.image):
        wrong.append(f"{place.image.name} is no whole image")
    free = shutil.disk_usage(place.root).free
    if free < preflight.DISK_OF_RUNNING:
        wrong.append(f"only {free / preflight.GIB:.1f} GiB of disk are free")
    return wrong
