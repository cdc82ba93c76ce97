"""Which workloads there are.

A workload's module is imported when the workload is asked for, so that a
list of names costs nothing.
"""

import importlib

from rally_vmperf.workloads import base

_CLASSES = {
    "bzip2": "Compression",
    "fio": "Disk",
    "iperf3": "Network",
    "mbw": "MemoryBandwidth",
    "sysbench": "Processor",
}


def names() -> tuple[str, ...]:
    """Return the names of all workloads, sorted."""
    return tuple(sorted(_CLASSES))


def get(name: str) -> base.Workload:
    """Return the workload of that name.

    :raises base.WorkloadError: naming the workloads that there are
    """
    if name not in _CLASSES:
        raise base.WorkloadError(
            f"no workload {name!r}; there are: {', '.join(names())}"
        )
    module = importlib.import_module(f"rally_vmperf.workloads.{name}")
    workload = getattr(module, _CLASSES[name])()
    assert isinstance(workload, base.Workload)  # noqa: S101 - narrows a type
    return workload
