# SPDX-License-Identifier: Apache-2.0
"""The selection of the baseline entry for the samples of a guest."""

import collections

from rally_vmperf import documents
from rally_vmperf.baseline import document
from rally_vmperf.workloads import registry
from rally_vmperf.workloads import schemas


def covers(
    baseline: document.Baseline,
    workload: str,
    arguments: documents.Arguments,
) -> list[document.BaselineEntry]:
    """Return the list of entries for a workload with these arguments.

    :param arguments: The arguments, with ``cooldown`` and ``drop_caches`` if
        set; ``vcpus`` stands for the vCPUs in the shape of each entry.
    :raises BaselineError: If there is none.
    """
    name = baseline.name
    by_workload = collections.defaultdict(list)
    for baseline_entry in baseline.entries:
        by_workload[baseline_entry.workload].append(baseline_entry)
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
    baseline: document.Baseline,
    workload: str,
    arguments: documents.Arguments,
    shape: document.Shape | None,
) -> document.BaselineEntry:
    """Return the entry for a workload, arguments and shape; reject others.

    The newest of several entries is used. An imported entry, whose shape is
    unknown, matches every shape with one copy.

    :param shape: The shape; None for an unknown one.
    :raises BaselineError: If there is none; with the nearest entry.
    """
    matching = covers(baseline, workload, arguments)
    for baseline_entry in reversed(matching):
        if baseline_entry.shape == shape:
            return baseline_entry
    for baseline_entry in reversed(matching):
        if baseline_entry.imported and shape and shape.copies == 1:
            return baseline_entry
    shapes = "; ".join(
        baseline_entry.describe_shape() for baseline_entry in matching
    )
    raise document.BaselineError(
        f"baseline {baseline.name!r} has {workload} for {shapes}, but "
        f"the guests are {shape or 'of unknown size'}; record it for this "
        "shape as well (--flavor, --copies)"
    )


def _describe_differences(
    baseline_entry: document.BaselineEntry, requested: documents.Arguments
) -> str:
    """Return a text on arguments that differ from those of the entry.

    Of an imported entry only the known arguments are compared, if the
    workload has them. The word ``vcpus`` is the entry's number of vCPUs,
    which an imported entry does not have to know. A recorded entry, or an
    earlier run, has the defaults of arguments that were added later.
    """
    recorded = baseline_entry.conditions
    if baseline_entry.imported:
        if recorded.get("place") == "file":
            recorded["target"] = "root"
        known = {*recorded} & {*requested}
    else:
        workload = baseline_entry.workload
        recorded = registry.add_defaults(workload, recorded)
        requested = registry.add_defaults(workload, requested)
        known = {*recorded} | {*requested}
    shape = baseline_entry.shape
    differences = []
    for key in sorted(known):
        argument = expected = requested.get(key)
        if argument == schemas.VCPUS:
            expected = shape.vcpus if shape else recorded.get(key)
        if recorded.get(key) != expected:
            differences.append(
                f"{key} is {recorded.get(key)!r} in the baseline and "
                f"{argument!r} in the task"
            )
    return ", ".join(differences)
