# SPDX-License-Identifier: Apache-2.0
"""Command that builds the guest image."""

import argparse
import os
import pathlib
import shlex
import typing as t

from rally_vmperf import documents
from rally_vmperf import errors
from rally_vmperf.cmd import base
from rally_vmperf.image import commands
from rally_vmperf.image import guest_image
from rally_vmperf.image import packages
from rally_vmperf.workloads import registry

if t.TYPE_CHECKING:
    from rally_vmperf.guests.setup import login


class Build(base.Command):
    """Build a guest image that contains the tools of workloads.

    The command requires root and Debian. With --upload, the image is also
    uploaded to a cloud of clouds.yaml, with its properties. An image of this
    name that exists is not replaced.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        parser.add_argument(
            "--output",
            type=pathlib.Path,
            default=pathlib.Path("vmperf-guest.qcow2"),
            metavar="FILE",
            help="path of the qcow2 image (default: %(default)s)",
        )
        parser.add_argument(
            "--size",
            type=_parse_size,
            default="2G",
            help="size of the virtual disk (default: %(default)s)",
        )
        parser.add_argument(
            "--suite",
            default="bookworm",
            help="code name of the Debian release (default: %(default)s)",
        )
        parser.add_argument(
            "--mirror",
            default="",
            metavar="URL",
            help="mirror of the packages (default: the source of this "
            "machine)",
        )
        parser.add_argument(
            "--workloads",
            type=lambda text: tuple(text.split(",")),
            default=guest_image.WORKLOADS,
            metavar="NAME,NAME",
            help="workloads whose tools are installed (default: "
            f"{','.join(guest_image.WORKLOADS)})",
        )
        parser.add_argument(
            "--upload",
            action="store_true",
            help="upload the image to the cloud",
        )
        parser.add_argument(
            "--cloud",
            metavar="NAME",
            help="cloud in clouds.yaml for --upload; default: OS_CLOUD, or "
            "the only one",
        )
        parser.add_argument(
            "--name",
            metavar="NAME",
            help="name of the image in the cloud; default: the name of the "
            "file, without its suffix",
        )

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Build the image file, and upload it if requested; return None."""
        registry.debian_packages(parsed_args.workloads)
        commands.check_user(os.geteuid())
        progress = commands.Progress()
        output = parsed_args.output.resolve()
        if not output.name or output.is_dir():
            raise errors.VMPerfError(
                f"--output={output}: must be a file, such as "
                f"{output / 'vmperf.qcow2'}"
            )
        name = parsed_args.name or output.stem
        cloud_login = _log_in(parsed_args, name)
        log = output.with_suffix(".log")
        packages.install(guest_image.TOOLS, log)
        progress.say(f"building {output} (log: {log})")
        recipe = guest_image.Recipe(
            output=output,
            size=parsed_args.size,
            suite=parsed_args.suite,
            mirror=parsed_args.mirror,
            workloads=parsed_args.workloads,
        )
        guest_image.build(recipe, log)
        mebibytes = output.stat().st_size / 1024**2
        progress.say(f"{output}: {mebibytes:.0f} MiB")
        progress.say(f"packages: {output.with_suffix('.manifest')}")
        if cloud_login is not None:
            _upload(cloud_login, name, recipe, progress)


def _parse_size(text: str) -> str:
    """Return the size of a disk; reject other texts."""
    try:
        return guest_image.check_size(text)
    except errors.VMPerfError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _log_in(parsed: argparse.Namespace, name: str) -> "login.Login | None":
    """Return the login for the upload, or None without an upload.

    :param name: The name of the image in the cloud.
    :raises VMPerfError: If the image cannot be uploaded.
    """
    if not parsed.upload:
        if parsed.cloud or parsed.name:
            raise errors.VMPerfError("--cloud and --name require --upload")
        return None
    from rally_vmperf.guests.booting import images
    from rally_vmperf.guests.setup import login

    cloud_login = login.log_in(parsed.cloud)
    images.check_name(cloud_login.connection, name)
    return cloud_login


def _upload(
    cloud_login: "login.Login",
    name: str,
    recipe: guest_image.Recipe,
    progress: commands.Progress,
) -> None:
    """Upload the image that was built.

    :param name: The name of the image in the cloud.
    :raises VMPerfError: If the upload fails; the line names the file.
    """
    from rally_vmperf.guests.booting import images

    properties = guest_image.list_properties(recipe)
    try:
        image_id = images.upload_image(
            cloud_login.connection,
            name,
            recipe.output,
            properties,
            progress.say,
        )
    except errors.VMPerfError as error:
        raise errors.VMPerfError(
            f"{error}; {recipe.output} is complete, and can be uploaded with: "
            + _format_upload(name, recipe.output, properties)
        ) from error
    progress.say(
        f"image {name!r} (ID {image_id}) is in project "
        f"{cloud_login.project!r} of cloud {cloud_login.cloud_name!r}"
    )


def _format_upload(
    name: str, path: pathlib.Path, properties: documents.Arguments
) -> str:
    """Return the command of OpenStack's client that uploads an image."""
    command = ["openstack", "image", "create", "--file", str(path)]
    for key, setting in properties.items():
        if key in ("disk_format", "container_format", "min_disk"):
            command += [f"--{key.replace('_', '-')}", str(setting)]
        else:
            command += ["--property", f"{key}={setting}"]
    return shlex.join([*command, name])
