"""Commands that fill a folder with packages for guests."""

import argparse
import collections.abc
import pathlib
import platform

from rally_vmperf.cloud import commands
from rally_vmperf.cloud import tool_packages
from rally_vmperf.cmd import base
from rally_vmperf.cmd import rally_api
from rally_vmperf.cmd import task_file
from rally_vmperf.execution import assignment
from rally_vmperf.execution import requirements
from rally_vmperf.machines import provision
from rally_vmperf.toolbox import indexing
from rally_vmperf.toolbox import manifest
from rally_vmperf.workloads import registry


class Fetch(base.Command):
    """Download the tools' packages for guests without a way to a mirror.

    The folder is then given to vmperf_guests as its option tools.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""
        _add_folder(parser)
        parser.add_argument(
            "--task",
            action="append",
            metavar="FILE",
            help="task whose tools are wanted; may be repeated; default: the "
            "tools of all workloads",
        )
        task_file.add_arguments(parser)
        parser.add_argument(
            "--distribution",
            action="append",
            metavar="NAME",
            help="code name of the guests' release, such as bookworm or "
            "jammy; may be repeated; default: this machine's",
        )
        parser.add_argument(
            "--architecture",
            metavar="NAME",
            help="the guests', such as amd64; default: this machine's",
        )
        parser.add_argument(
            "--mirror",
            default="",
            metavar="URL",
            help="where the packages are; default: this machine's source",
        )
        rally_api.add_argument(parser)

    def take_action(self, parsed: argparse.Namespace) -> None:
        """Download, verify, index."""
        packages = provision.package_names(_tools(parsed), "apt")
        architecture = (
            parsed.architecture
            or commands.run(["dpkg", "--print-architecture"]).strip()
        )
        log = parsed.folder / "fetch.log"
        for suite in parsed.distribution or [_suite()]:
            parsed.folder.mkdir(parents=True, exist_ok=True)
            wish = tool_packages.Wish(
                suite=suite,
                architecture=architecture,
                packages=tuple(packages),
                mirror=parsed.mirror,
            )
            made = tool_packages.fetch(wish, parsed.folder, log)
            self.say(_told(parsed.folder, made))


class Index(base.Command):
    """Make packages that lie in a folder ready for guests.

    For distributions whose packages 'tools fetch' cannot download.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""
        _add_folder(parser)
        parser.add_argument(
            "--distribution",
            required=True,
            metavar="NAME",
            help="ID and VERSION_ID, or its first number, of the guests' "
            "os-release, such as rocky-9; or their code name",
        )

    def take_action(self, parsed: argparse.Namespace) -> None:
        """Write index and manifest."""
        made = indexing.index(parsed.folder, "", parsed.distribution)
        self.say(_told(parsed.folder, made))


def _add_folder(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder",
        type=pathlib.Path,
        metavar="FOLDER",
        help="folder of the packages and their manifest",
    )


def _tools(
    parsed: argparse.Namespace,
) -> collections.abc.Sequence[provision.Requirement]:
    assignments = [
        one
        for path in parsed.task or ()
        for asked, _ in task_file.read(path, parsed)
        for one in asked.assignments
    ]
    if not parsed.task:
        assignments += assignment.assign(
            {"name": name} for name in registry.names()
        )
    return requirements.tools(assignments)


def _suite() -> str:
    release = platform.freedesktop_os_release()
    return release.get("VERSION_CODENAME", release["ID"])


def _told(folder: pathlib.Path, made: manifest.Set) -> str:
    mebibytes = sum(one.size for one in made.packages) / 1024**2
    return (
        f"{folder}: {len(made.packages)} packages for {made}, "
        f"{mebibytes:.0f} MiB; give vmperf_guests the option tools: {folder}"
    )
