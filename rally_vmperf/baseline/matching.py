"""The selection of the baseline entry for the samples of a guest."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.baseline import document

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
    baseline: Json,
    workload: str,
    arguments: collections.abc.Mapping[str, t.Any],
) -> list[Json]:
    """Return the list of entries for a workload with these arguments.

    :param arguments: The arguments, with ``cooldown`` and ``drop_caches`` if
        set.
    :raises BaselineError: If there is none.
    """
    name = baseline["name"]
    entries_of_workload = [
        baseline_entry
        for baseline_entry in baseline["entries"]
        if baseline_entry["workload"] == workload
    ]
    if not entries_of_workload:
        workloads = sorted(
            {
                baseline_entry["workload"]
                for baseline_entry in baseline["entries"]
            }
        )
        raise document.BaselineError(
            f"baseline {name!r} has no workload {workload!r} (it has: "
            f"{', '.join(workloads)}); record the baseline again, for this "
            "task"
        )
    matching = [
        baseline_entry
        for baseline_entry in entries_of_workload
        if _has_arguments(baseline_entry, arguments)
    ]
    if not matching:
        raise document.BaselineError(
            f"baseline {name!r} has {workload} with other arguments: "
            f"{_describe_differences(entries_of_workload[-1], arguments)}; "
            "use the same in the task, or record the baseline again"
        )
    return matching


def find(
    baseline: Json,
    workload: str,
    arguments: collections.abc.Mapping[str, t.Any],
    shape: Shape,
) -> Json:
    """Return the entry for a workload, arguments and shape; reject others.

    The newest of several entries is used. An imported entry, whose shape is
    unknown, matches every shape with the same number of copies.

    :raises BaselineError: If there is none; with the nearest entry.
    """
    matching = covers(baseline, workload, arguments)
    shape_document = dataclasses.asdict(shape)
    for baseline_entry in reversed(matching):
        if baseline_entry["shape"] == shape_document:
            return baseline_entry
    for baseline_entry in reversed(matching):
        if (
            baseline_entry.get("imported")
            and baseline_entry["shape"]["copies"] == shape.copies
        ):
            return baseline_entry
    shapes = "; ".join(
        describe(baseline_entry["shape"]) for baseline_entry in matching
    )
    raise document.BaselineError(
        f"baseline {baseline['name']!r} has {workload} for {shapes}, but "
        f"the guests are {shape}; record it for this shape as well "
        "(--flavor, --copies)"
    )


def _has_arguments(
    baseline_entry: Json, arguments: collections.abc.Mapping[str, t.Any]
) -> bool:
    """Return whether an entry was recorded with these arguments."""
    return not any(_list_differing(baseline_entry, arguments))


def _describe_differences(
    baseline_entry: Json, requested: collections.abc.Mapping[str, t.Any]
) -> str:
    """Return a text on arguments that differ from those of the entry."""
    recorded = conditions(baseline_entry)
    return ", ".join(
        f"{key} is {recorded.get(key)!r} in the baseline and "
        f"{requested.get(key)!r} in the task"
        for key in _list_differing(baseline_entry, requested)
    )


def _list_differing(
    baseline_entry: Json, requested: collections.abc.Mapping[str, t.Any]
) -> collections.abc.Iterator[str]:
    """Yield the names of arguments that differ, if the entry knows them."""
    recorded = conditions(baseline_entry)
    imported = baseline_entry.get("imported", False)
    for key in sorted({*recorded, *requested}):
        is_known = key in recorded or not imported
        if is_known and recorded.get(key) != requested.get(key):
            yield key


def conditions(baseline_entry: Json) -> dict[str, t.Any]:
    """Return an entry's arguments, cooldown and drop_caches as a dict."""
    before = ("cooldown", "drop_caches")
    return {
        **baseline_entry["arguments"],
        **{
            key: baseline_entry[key] for key in before if key in baseline_entry
        },
    }
