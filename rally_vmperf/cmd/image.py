"""Command that builds the guest image."""

import argparse
import os
import pathlib

from rally_vmperf.cmd import base
from rally_vmperf.image import guest_image
from rally_vmperf.image.system import commands
from rally_vmperf.image.system import console
from rally_vmperf.image.system import packages
from rally_vmperf.workloads import registry


class Build(base.Command):
    """Build a guest image that contains the tools of workloads.

    The command requires root and Debian.
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

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Build the image file; return None."""
        registry.debian_packages(parsed_args.workloads)
        commands.check_user(os.geteuid())
        progress = console.Progress()
        output = parsed_args.output.resolve()
        log = output.with_suffix(".log")
        packages.install(guest_image.TOOLS, log)
        progress.say(f"building {output} (log: {log})")
        guest_image.build(
            guest_image.Recipe(
                output=output,
                size=parsed_args.size,
                suite=parsed_args.suite,
                mirror=parsed_args.mirror,
                workloads=parsed_args.workloads,
            ),
            log,
        )
        mebibytes = output.stat().st_size / 1024**2
        progress.say(f"{output}: {mebibytes:.0f} MiB")
        progress.say(f"packages: {output.with_suffix('.manifest')}")
