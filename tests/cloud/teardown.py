# SPDX-License-Identifier: Apache-2.0
"""Take the embedded cloud down."""

from rally_vmperf import removal
from rally_vmperf.image import commands
from tests.cloud import preflight
from tests.cloud.container import container
from tests.cloud.container import package_root
from tests.cloud.state import state_root
from tests.cloud.system import layout


def down(
    folders: layout.Layout, progress: commands.Progress, *, purge: bool
) -> None:
    """End everything that belongs to a cloud.

    :param folders: The paths of the cloud.
    :param progress: The output for the user.
    :param purge: Whether to delete the state directory, too.
    :raises errors.HostError: If something is still mounted in there, or if
        the cloud has an earlier form.
    """
    if not folders.root.exists():
        progress.say(f"{folders.root} does not contain a cloud")
        return
    state_root.require(folders)
    # Its processes would remain, without their files.
    preflight.check_earlier(folders.root)
    with commands.hold_lock(folders.root):
        container.Container(folders).end()
        progress.say("the container has ended")
        if purge:
            if mounted := commands.list_mounts(folders.root):
                raise commands.HostError(
                    f"{mounted[0]} is mounted, so {folders.root} is not "
                    "deleted; unmount it first"
                )
            removal.discard(folders.root)
            progress.say(f"{folders.root} deleted")


def discard(folders: layout.Layout, progress: commands.Progress) -> None:
    """End the cloud and delete what its services have written.

    Guest image, secrets, baselines and journals remain, and packages unless
    they are too old.
    """
    container.Container(folders).end()
    directories = [folders.data, folders.log, folders.run]
    if package_root.get_age(folders) > package_root.MAX_AGE:
        directories.append(folders.package_root)
    for directory in directories:
        removal.remove(directory, folders.root)
    progress.say("databases, images and logs of services deleted")
