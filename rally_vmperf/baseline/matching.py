"""Which entry of a baseline a guest's samples are compared with."""

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


def covers(
    baseline: Json,
    workload: str,
    arguments: collections.abc.Mapping[str, t.Any],
) -> list[Json]:
    """Return the entries of a workload with these arguments, any shape.

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
    matching = [e for e in same if e["arguments"] == dict(arguments)]
    if not matching:
        raise document.BaselineError(
            f"baseline {name!r} has {workload} with other arguments: "
            f"{_differences(same[-1]['arguments'], arguments)}; use the same "
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

    The newest of several wins.

    :raises BaselineError: saying what the nearest entry has instead
    """
    matching = covers(baseline, workload, arguments)
    wanted = dataclasses.asdict(shape)
    for entry in reversed(matching):
        if entry["shape"] == wanted:
            return entry
    shapes = "; ".join(str(Shape(**e["shape"])) for e in matching)
    raise document.BaselineError(
        f"baseline {baseline['name']!r} has {workload} for {shapes}, but "
        f"the guests are {shape}; record it for this shape as well "
        "(--flavor, --copies)"
    )


def _differences(
    recorded: collections.abc.Mapping[str, t.Any],
    asked: collections.abc.Mapping[str, t.Any],
) -> str:
    return ", ".join(
        f"{key} is {recorded.get(key)!r} there and {asked.get(key)!r} here"
        for key in sorted({*recorded, *asked})
        if recorded.get(key) != asked.get(key)
    )
