# SPDX-License-Identifier: Apache-2.0
"""Command that creates bundles of tools."""

import argparse
import collections.abc
import pathlib
import platform

from rally_vmperf import removal
from rally_vmperf.bundles import bundle
from rally_vmperf.bundles import bundling
from rally_vmperf.cmd import base
from rally_vmperf.cmd import task_file
from rally_vmperf.execution import assignment
from rally_vmperf.execution import requirements
from rally_vmperf.image import tool_packages
from rally_vmperf.workloads import registry
from rally_vmperf.workloads import tools


class Bundle(base.Command):
    """Create a bundle: one file with tools and their libraries.

    The programs in a bundle run on any Linux. Bare metal (baseline record
    --bundle) and guests (option bundle of vmperf_guests) run the same
    programs, even if their releases differ. apt downloads and verifies the
    packages; nothing is installed, and root is not required.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        parser.add_argument(
            "bundle",
            type=pathlib.Path,
            metavar="FILE",
            help="path of the bundle, such as tools.tar.gz",
        )
        parser.add_argument(
            "--task",
            action="append",
            metavar="FILE",
            help="task whose tools the bundle contains; may be repeated; "
            "default: the tools of all workloads that every release has",
        )
        task_file.add_arguments(parser)
        parser.add_argument(
            "--distribution",
            metavar="NAME",
            help="code name of the release that provides the programs, such "
            "as bookworm or jammy; default: the release of this machine",
        )
        parser.add_argument(
            "--mirror",
            default="",
            metavar="URL",
            help="mirror of the packages; default: the source of this machine",
        )

    def take_action(self, parsed: argparse.Namespace) -> None:
        """Download the packages, and write the bundle."""
        target = parsed.bundle
        if not target.name or target.is_dir():
            raise bundle.BundleError(
                f"bundle {target}: must be the path of a file, such as "
                "tools.tar.gz"
            )
        package_names = {
            tool.command: tool.package
            for tool in _select_tools(parsed)
            if tool.affects_results and tool.side != "peer"
        }
        request = tool_packages.PackageRequest(
            suite=parsed.distribution or _get_suite(),
            packages=tuple(sorted(set(package_names.values()) - {""})),
            mirror=parsed.mirror,
        )
        log = target.with_name(f"{target.name}.log")
        with removal.temporary(".vmperf-", target.parent) as work_dir:
            packages = tool_packages.fetch(request, work_dir / "apt", log)
            omitted = bundling.create_bundle(
                target,
                package_names,
                packages,
                request.suite,
                work_dir / "tree",
            )
        programs = ", ".join(sorted(package_names.keys() - set(omitted)))
        mebibytes = target.stat().st_size / 1024**2
        self.print_line(
            f"{target}: {programs} of {request.suite}, {mebibytes:.0f} MiB"
        )
        if omitted:
            self.print_line(
                f"omitted: {', '.join(omitted)}, because they are scripts or "
                "have no package; machines use their installed programs"
            )


def _select_tools(
    parsed: argparse.Namespace,
) -> collections.abc.Sequence[tools.Tool]:
    """Return the tools of the given tasks, by default of all workloads."""
    # The settings name a task, too.
    paths = parsed.task or ([None] if parsed.settings else [])
    assignments = [
        assigned
        for path in paths
        for workload, task_question in task_file.read_task(path, parsed)
        for assigned in (
            *workload.assignments,
            *workload.arguments.list_unmeasured(),
        )
    ]
    if not paths:
        assignments += [
            assignment.create_assignment({"name": name})
            for name in registry.workload_names()
        ]
        return [
            tool
            for tool in requirements.tools(assignments)
            if "apt" not in tool.advice
        ]
    return requirements.tools(assignments)


def _get_suite() -> str:
    """Return the code name of this machine's distribution, or its id."""
    release = platform.freedesktop_os_release()
    return release.get("VERSION_CODENAME", release["ID"])
