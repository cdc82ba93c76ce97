"""Find the entry of a baseline that a guest's samples are compared with."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.baseline import document

Json = document.Json


@dataclasses.dataclass(frozen=True)
class Shape:
    """Size of one guest or copy, and how many there are at once.

    :param memory_mib: memory of one, MiB
    """

    vcpus: int
    memory_mib: int
    copies: int = 1

    def __str__(self) -> str:
        return f"{self.copies} x {self.vcpus} vCPU with {self.memory_mib} MiB"


def describe(shape: Json) -> str:
    """Return an entry's shape in words, also where it is not known."""
    if shape["vcpus"] is None or shape["memory_mib"] is None:
        return f"{shape['copies']} x unknown size"
    return str(Shape(**shape))


def covers(
    baseline: Json,
    workload: str,
    arguments: collections.abc.Mapping[str, t.Any],
) -> list[Json]:
    """Return the entries of a workload with these arguments, any shape.

    :param arguments: with ``cooldown`` and ``drop_caches``, where given
    :raises BaselineError: when there is none
    """
    name = baseline["name"]
    same = [e for e in baseline["entries"] if e["workload"] == workload]
    if not same:
        known = sorted({e["workload"] for e in baseline["entries"]})
        raise document.BaselineError(
            f"baseline {name!r} has no workload {workload!r} (it has: "
            f"{', '.join(known)}); record the baseline again, for this task"
        )
    matching = [e for e in same if _agree(e, arguments)]
    if not matching:
        raise document.BaselineError(
            f"baseline {name!r} has {workload} with other arguments: "
            f"{_differences(same[-1], arguments)}; use the same "
            "in the task, or record the baseline again"
        )
    return matching


def find(
    baseline: Json,
    workload: str,
    arguments: collections.abc.Mapping[str, t.Any],
    shape: Shape,
) -> Json:
    """Return the entry of a workload, its arguments and shape.

    The newest of several wins. An imported entry, whose shape is not known,
    matches every shape of as many copies.

    :raises BaselineError: saying what the nearest entry has instead
    """
    matching = covers(baseline, workload, arguments)
    wanted = dataclasses.asdict(shape)
    for entry in reversed(matching):
        if entry["shape"] == wanted:
            return entry
    for entry in reversed(matching):
        if entry.get("imported") and entry["shape"]["copies"] == shape.copies:
            return entry
    shapes = "; ".join(describe(e["shape"]) for e in matching)
    raise document.BaselineError(
        f"baseline {baseline['name']!r} has {workload} for {shapes}, but "
        f"the guests are {shape}; record it for this shape as well "
        "(--flavor, --copies)"
    )


def _agree(
    entry: Json, arguments: collections.abc.Mapping[str, t.Any]
) -> bool:
    return not any(_differing(entry, arguments))


def _differences(
    entry: Json, asked: collections.abc.Mapping[str, t.Any]
) -> str:
    recorded = conditions(entry)
    return ", ".join(
        f"{key} is {recorded.get(key)!r} in the baseline and "
        f"{asked.get(key)!r} in the task"
        for key in _differing(entry, asked)
    )


def _differing(
    entry: Json, asked: collections.abc.Mapping[str, t.Any]
) -> collections.abc.Iterator[str]:
    """Yield the arguments that differ; the unknown ones of imports do not."""
    recorded = conditions(entry)
    imported = entry.get("imported", False)
    for key in sorted({*recorded, *asked}):
        known = key in recorded or not imported
        if known and recorded.get(key) != asked.get(key):
            yield key


def conditions(entry: Json) -> dict[str, t.Any]:
    """Return an entry's arguments, with its cooldown and drop_caches."""
    before = ("cooldown", "drop_caches")
    return {
        **entry["arguments"],
        **{k: entry[k] for k in before if k in entry},
    }
