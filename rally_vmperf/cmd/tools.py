"""Command that makes bundles of tools."""

import argparse
import collections.abc
import pathlib
import platform
import tempfile

from rally_vmperf.cloud.image import tool_packages
from rally_vmperf.cmd import base
from rally_vmperf.cmd import rally_api
from rally_vmperf.cmd import task_file
from rally_vmperf.execution import assignment
from rally_vmperf.execution import requirements
from rally_vmperf.toolbox import bundling
from rally_vmperf.workloads import registry
from rally_vmperf.workloads import tools as tools_


class Bundle(base.Command):
    """Make one file of the tools with their libraries, for any Linux.

    Bare metal (baseline record --bundle) and guests (option bundle of
    vmperf_guests) then run the very same programs, whatever their releases.
    The packages are downloaded with apt, which verifies them; nothing is
    installed, and root is not needed.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""
        parser.add_argument(
            "bundle",
            type=pathlib.Path,
            metavar="FILE",
            help="file to write, such as tools.tar.gz",
        )
        parser.add_argument(
            "--task",
            action="append",
            metavar="FILE",
            help="task whose tools are wanted; may be repeated; default: the "
            "tools of all workloads that every release has",
        )
        task_file.add_arguments(parser)
        parser.add_argument(
            "--distribution",
            metavar="NAME",
            help="code name of the release whose programs are wanted, such "
            "as bookworm or jammy; default: this machine's",
        )
        parser.add_argument(
            "--mirror",
            default="",
            metavar="URL",
            help="where the packages are; default: this machine's source",
        )
        rally_api.add_argument(parser)

    def take_action(self, parsed: argparse.Namespace) -> None:
        """Download, unpack, choose, write."""
        wanted = {
            tool.command: tool.package
            for tool in _tools(parsed)
            if tool.measures and tool.side != "peer"
        }
        target = parsed.bundle
        request = tool_packages.PackageRequest(
            suite=parsed.distribution or _suite(),
            packages=tuple(sorted(set(wanted.values()) - {""})),
            mirror=parsed.mirror,
        )
        log = target.with_name(f"{target.name}.log")
        with tempfile.TemporaryDirectory(
            prefix=".vmperf-", dir=target.parent
        ) as work:
            packages = tool_packages.fetch(
                request, pathlib.Path(work, "apt"), log
            )
            left_out = bundling.make(
                target,
                wanted,
                packages,
                request.suite,
                pathlib.Path(work, "tree"),
            )
        programs = ", ".join(sorted(wanted.keys() - set(left_out)))
        mebibytes = target.stat().st_size / 1024**2
        self.say(
            f"{target}: {programs} of {request.suite}, {mebibytes:.0f} MiB"
        )
        if left_out:
            self.say(
                "not in it, as they are scripts or have no package: "
                f"{', '.join(left_out)}; machines run their own"
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
