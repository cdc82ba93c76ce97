"""Group rows by part of the machine, and findings by kind."""

import collections.abc

from rally_vmperf.measurement import finding

#: Order and titles of the parts of a machine, by a metric's first word.
PARTS = {
    "cpu": "CPU",
    "memory": "Memory",
    "disk": "Disk",
    "network": "Network",
    "application": "Application",
}


def part(name: str) -> str:
    """Return the title of the part of the machine that a metric is about."""
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
    """Return findings by kind, so that why and remedy are shown once."""
    found: dict[str, list[finding.RunFinding]] = {}
    for one in findings:
        found.setdefault(one.finding.kind, []).append(one)
    return list(found.items())
