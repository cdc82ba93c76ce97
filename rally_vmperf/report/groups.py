# SPDX-License-Identifier: Apache-2.0
"""The groups of rows by part of the machine, and of findings by kind."""

import collections.abc

from rally_vmperf.measurement import finding

#: The titles of the parts of a machine by the prefix of metrics, in order.
PARTS = {
    "cpu": "CPU",
    "memory": "Memory",
    "disk": "Disk",
    "network": "Network",
    "application": "Application",
}


def part(name: str) -> str:
    """Return the title of the machine's part that a metric measures."""
    first = name.partition(".")[0]
    return PARTS.get(first, first)


def position(name: str) -> int:
    """Return the position of a metric's part in the order of parts."""
    order = [*PARTS.values()]
    title = part(name)
    return order.index(title) if title in order else len(order)


def by_kind(
    findings: collections.abc.Iterable[finding.RunFinding],
) -> list[tuple[str, list[finding.RunFinding]]]:
    """Return each kind of finding with its findings, as a list of pairs."""
    groups: dict[str, list[finding.RunFinding]] = {}
    for run_finding in findings:
        groups.setdefault(run_finding.finding.kind, []).append(run_finding)
    return list(groups.items())
