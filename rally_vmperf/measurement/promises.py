"""The promised size of a guest, and the size that it has."""

import dataclasses
import typing as t

from rally_vmperf import fields
from rally_vmperf.measurement.samples import sample

#: The units of the sizes in a flavor by the name of the promise; the disk is
#: also that of a boot volume. Data volumes are ``volume_1``, ``volume_2``.
FLAVOR = {"vcpus": "CPUs", "memory": "B", "disk": "B"}
_NAME = "|".join((*FLAVOR, "volume_[1-9][0-9]{0,2}"))
#: The memory in bytes that the firmware of a guest may keep for itself:
#: SeaBIOS less than 1 MiB, UEFI firmware up to some 20 MiB.
FIRMWARE_BYTES = 32 << 20


@dataclasses.dataclass(frozen=True, kw_only=True)
class Size:
    """A promised size, and the one that the guest reports.

    :param guest: The name of the guest.
    :param name: The promise: vcpus, memory, disk or the number of a volume.
    :param promised: The promised size, in the unit of the metric.
    :param delivered: The size that the guest reports, in the same unit.
    """

    guest: str
    name: t.Annotated[str, fields.text_like(_NAME)]
    promised: fields.Amount
    delivered: fields.Amount

    @property
    def metric(self) -> sample.Metric:
        """The metric of the size.

        It can be zero, as a count, and is promised exactly.
        """
        return sample.Metric(
            f"guest.{self.name}.size",
            FLAVOR.get(self.name, "B"),
            "higher",
            scale="count",
            optional=True,
        )

    @property
    def title(self) -> str:
        """The promise with the place that makes it."""
        if self.name in FLAVOR:
            return f"{self.name} of the flavor"
        return f"size of {self.name.replace('_', ' ')}"

    @property
    def least(self) -> float:
        """The smallest size that keeps the promise."""
        if self.name == "memory":
            return max(0.0, self.promised - FIRMWARE_BYTES)
        return self.promised
