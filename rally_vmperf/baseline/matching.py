"""The selection of the baseline entry for the samples of a guest."""

import collections
import dataclasses

from rally_vmperf import documents
from rally_vmperf.baseline import document
from rally_vmperf.workloads import schemas

Json = document.Json


@dataclasses.dataclass(frozen=True)
class Shape:
    """The size of one guest or copy, and the number of concurrent ones.

    :param memory_mib: The memory of one guest or copy in MiB.
    """

    vcpus: int
    memory_mib: int
    copies: int = 1

    def __str__(self) -> str:
        return f"{self.copies} x {self.vcpus} vCPU with {self.memory_mib} MiB"


def describe(shape: Json) -> str:
    """Return the shape of an entry as text, also if it is unknown."""
    if shape["vcpus"] is None or shape["memory_mib"] is None:
        return f"{shape['copies']} x unknown size"
    return str(Shape(**shape))


def covers(
    baseline: Json, workload: str, arguments: documents.Arguments
) -> list[Json]:
    """Return the list of entries for a workload with these arguments.

    :param arguments: The arguments, with ``cooldown`` and ``drop_caches`` if
        set; ``vcpus`` stands for the vCPUs in the shape of each entry.
    :raises BaselineError: If there is none.
    """
    name = baseline["name"]
    by_workload = collections.defaultdict(list)
    for baseline_entry in baseline["entries"]:
        by_workload[baseline_entry["workload"]].append(baseline_entry)
    if workload not in by_workload:
        raise document.BaselineError(
            f"baseline {name!r} has no workload {workload!r} (it has: "
            f"{', '.join(sorted(by_workload))}); record the baseline again, "
            "for this task"
        )
    matching = []
    for baseline_entry in by_workload[workload]:
        differences = _describe_differences(baseline_entry, arguments)
        if not differences:
            matching.append(baseline_entry)
    if not matching:
        raise document.BaselineError(
            f"baseline {name!r} has {workload} with other arguments: "
            f"{differences}; use the same in the task, or record the baseline "
            "again"
        )
    return matching


def find(
    baseline: Json, workload: str, arguments: documents.Arguments, shape: Shape
) -> Json:
    """Return the entry for a workload, arguments and shape; reject others.

    The newest of several entries is used. An imported entry, whose shape is
    unknown, matches every shape with the same number of copies.

    :raises BaselineError: If there is none; with the nearest entry.
    """
    matching = covers(baseline, workload, arguments)
    for baseline_entry in reversed(matching):
        if baseline_entry["shape"] == dataclasses.asdict(shape):
            return baseline_entry
    for baseline_entry in reversed(matching):
        copies = baseline_entry["shape"]["copies"]
        if baseline_entry.get("imported") and copies == shape.copies:
            return baseline_entry
    shapes = "; ".join(
        describe(baseline_entry["shape"]) for baseline_entry in matching
    )
    raise document.BaselineError(
        f"baseline {baseline['name']!r} has {workload} for {shapes}, but "
        f"the guests are {shape}; record it for this shape as well "
        "(--flavor, --copies)"
    )


def _describe_differences(
    baseline_entry: Json, requested: documents.Arguments
) -> str:
    """Return a text on arguments that differ from those of the entry.

    Of an imported entry only the known arguments are compared. The word
    ``vcpus`` is the entry's number of vCPUs, which an imported entry does not
    have to know.
    """
    recorded = conditions(baseline_entry)
    known = {*recorded}
    if not baseline_entry.get("imported"):
        known |= {*requested}
    vcpus = baseline_entry["shape"]["vcpus"]
    differences = []
    for key in sorted(known):
        argument = expected = requested.get(key)
        if argument == schemas.VCPUS:
            expected = recorded.get(key) if vcpus is None else vcpus
        if recorded.get(key) != expected:
            differences.append(
                f"{key} is {recorded.get(key)!r} in the baseline and "
                f"{argument!r} in the task"
            )
    return ", ".join(differences)


def conditions(baseline_entry: Json) -> documents.Arguments:
    """Return an entry's arguments, cooldown and drop_caches as a mapping."""
    settings = {"cooldown", "drop_caches"} & baseline_entry.keys()
    return {
        **baseline_entry["arguments"],
        **{key: baseline_entry[key] for key in settings},
    }
