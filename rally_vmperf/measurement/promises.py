"""The promised size of a guest, and the size that it has."""

import dataclasses
import typing as t

from rally_vmperf import fields
from rally_vmperf.measurement.samples import sample

#: The metrics of the size of a guest by the name of the promise. They can be
#: zero, as counts, and a flavor promises them exactly.
METRICS = {
    name: sample.Metric(
        f"guest.{name}.size", unit, "higher", scale="count", optional=True
    )
    for name, unit in (("vcpus", "CPUs"), ("memory", "B"), ("disk", "B"))
}
#: The memory in bytes that the firmware of a guest may keep for itself:
#: SeaBIOS less than 1 MiB, UEFI firmware up to some 20 MiB.
FIRMWARE_BYTES = 32 << 20


@dataclasses.dataclass(frozen=True, kw_only=True)
class Size:
    """A promised size, and the one that the guest reports.

    :param guest: The name of the guest.
    :param name: The promise: vcpus, memory or disk.
    :param promised: The promised size, in the unit of the metric.
    :param delivered: The size that the guest reports, in the same unit.
    """

    guest: str
    name: t.Annotated[str, fields.one_of(*METRICS)]
    promised: fields.Amount
    delivered: fields.Amount

    @property
    def metric(self) -> sample.Metric:
        """The metric of the size."""
        return METRICS[self.name]

    @property
    def least(self) -> float:
        """The smallest size that keeps the promise."""
        if self.name == "memory":
            return max(0.0, self.promised - FIRMWARE_BYTES)
        return self.promised
