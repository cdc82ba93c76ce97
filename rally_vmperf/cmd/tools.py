"""Commands that fill a folder with packages for guests."""

import argparse
import collections.abc
import pathlib
import platform

from rally_vmperf.cloud.image import tool_packages
from rally_vmperf.cloud.system import commands
from rally_vmperf.cmd import base
from rally_vmperf.cmd import rally_api
from rally_vmperf.cmd import task_file
from rally_vmperf.execution import assignment
from rally_vmperf.execution import requirements
from rally_vmperf.machines.provisioning import provision
from rally_vmperf.toolbox import bundling
from rally_vmperf.toolbox import folder
from rally_vmperf.toolbox import indexing
from rally_vmperf.toolbox import manifest
from rally_vmperf.workloads import registry
from rally_vmperf.workloads import tools as tools_


class Fetch(base.Command):
    """Download the tools' packages for guests that cannot reach a mirror.

    It takes apt. The folder is then given to vmperf_guests as its option
    tools.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""
        _add_folder(parser)
        _add_tasks(parser)
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
            asked = tool_packages.PackageRequest(
                suite=suite,
                architecture=architecture,
                packages=tuple(packages),
                mirror=parsed.mirror,
            )
            made = tool_packages.fetch(asked, parsed.folder, log)
            self.say(_told(parsed.folder, made))


class Bundle(base.Command):
    """Make one file of the tools with their libraries, for any Linux.

    Bare metal (baseline record --bundle) and guests (option bundle of
    vmperf_guests) then run the very same programs, whatever their releases.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""
        _add_folder(parser)
        parser.add_argument(
            "bundle",
            type=pathlib.Path,
            metavar="FILE",
            help="file to write, such as tools.tar.gz",
        )
        _add_tasks(parser)
        parser.add_argument(
            "--distribution",
            metavar="NAME",
            help="release in the folder whose programs are wanted; needed "
            "where the folder has several",
        )
        rally_api.add_argument(parser)

    def take_action(self, parsed: argparse.Namespace) -> None:
        """Unpack, choose, write."""
        toolbox = folder.load(parsed.folder)
        chosen = _chosen(toolbox, parsed.distribution)
        wanted = {
            tool.command: tool.package
            for tool in _tools(parsed)
            if tool.measures and tool.side != "peer"
        }
        packages = {one.package for one in chosen.packages}
        if not parsed.task:
            wanted = {k: v for k, v in wanted.items() if v in packages}
        left_out = bundling.make(toolbox, chosen, wanted, parsed.bundle)
        held = ", ".join(sorted(wanted.keys() - set(left_out)))
        mebibytes = parsed.bundle.stat().st_size / 1024**2
        self.say(f"{parsed.bundle}: {held} of {chosen}, {mebibytes:.0f} MiB")
        if left_out:
            self.say(
                f"not in it, for they are scripts: {', '.join(left_out)}; "
                "machines run their own"
            )


class Index(base.Command):
    """Index packages in a folder, so that guests can be given them.

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


def _add_tasks(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--task",
        action="append",
        metavar="FILE",
        help="task whose tools are wanted; may be repeated; default: the "
        "tools of all workloads that every release has",
    )
    task_file.add_arguments(parser)


def _chosen(toolbox: folder.Toolbox, name: str | None) -> manifest.Set:
    """Return the only set of a folder, or the one that was named."""
    found = [x for x in toolbox.sets if name in (None, x.distribution)]
    if len(found) == 1:
        return found[0]
    known = ", ".join(one.distribution for one in toolbox.sets)
    raise manifest.ToolboxError(
        f"folder {toolbox.path} has packages for {known or 'nothing'}; name "
        "one with --distribution, or add it with: rally-vmperf tools fetch"
    )


def _tools(
    parsed: argparse.Namespace,
) -> collections.abc.Sequence[tools_.Tool]:
    assignments = [
        one
        for path in parsed.task or ()
        for asked, _ in task_file.read(path, parsed)
        for one in asked.every_workload
    ]
    if not parsed.task:
        assignments += assignment.assign(
            {"name": name} for name in registry.names()
        )
        found = requirements.tools(assignments)
        return [one for one in found if "apt" not in one.advice]
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
