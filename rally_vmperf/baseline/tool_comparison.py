# SPDX-License-Identifier: Apache-2.0
"""Findings on tools that differ between guests and bare metal."""

import collections.abc

from rally_vmperf import documents
from rally_vmperf.measurement import finding
from rally_vmperf.workloads import tools


def compare_tools(
    bare_metal: documents.Facts,
    machine: documents.Facts,
    subject: str,
    users: collections.abc.Mapping[str, tuple[str, ...]] | None = None,
    definitions: collections.abc.Iterable[tools.Tool] | None = None,
    reference: str = "bare metal",
) -> list[finding.Finding]:
    """Return findings on tools with another upstream version or build.

    Another version of a load generator is only a note.

    :param bare_metal: The version and the checksum of each tool on bare metal.
    :param machine: The same on the other machine.
    :param users: Tool -> the metrics that depend on it; all if it is not in
        it.
    :param definitions: The tools to compare; None for all.
    :param reference: The name of the first machine.
    """
    findings = []
    by_command = {tool.command: tool for tool in definitions or ()}
    for command, key in find_differences(bare_metal, machine).items():
        if definitions is not None and command not in by_command:
            continue
        tool = by_command.get(command)
        texts = (
            str(bare_metal[command].get(key)),
            str(machine[command].get(key)),
        )
        is_note = key == "version" and tool and tool.is_comparable(*texts)
        findings.append(
            finding.Finding(
                f"tool_{key}_differs",
                subject,
                f"{command}: {reference} {texts[0]}, {subject} {texts[1]}",
                metrics=(users or {}).get(command, ()),
                severity_override="note" if is_note else None,
            )
        )
    return findings


def find_differences(
    bare_metal: documents.Facts, machine: documents.Facts
) -> dict[str, str]:
    """Return the differing tools of two machines.

    :returns: Tool -> ``version`` or ``checksum``, the first that differs.
    """
    differences = {}
    for command in sorted(bare_metal.keys() & machine.keys()):
        recorded, reported = bare_metal[command], machine[command]
        for key in ("version", "checksum"):
            if not _is_same_tool(key, recorded.get(key), reported.get(key)):
                differences[command] = key
                break
    return differences


def _is_same_tool(
    key: str, recorded: str | None, reported: str | None
) -> bool:
    """Return whether a tool is the same on both sides.

    The revision of a distribution is part of the build, not of the version.
    Raw outputs have no checksum.
    """
    if key == "checksum" and not (recorded and reported):
        return True
    if key == "version" and recorded and reported:
        versions = tools.parse_version(recorded), tools.parse_version(reported)
        if all(versions):
            return versions[0] == versions[1]
    return recorded == reported
