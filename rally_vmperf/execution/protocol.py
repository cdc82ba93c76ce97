"""The protocol of a run: what precedes each command, workload, repetition."""

import collections.abc
import dataclasses
import typing as t

#: When guests are stopped and started again.
Reboot = t.Literal["never", "between_workloads", "between_repetitions"]
#: How bare metal is compared: held to the guest's shape, or left whole.
Shape = t.Literal["guest", "whole"]

#: JSON Schema of what holds for a single workload too.
OF_WORKLOADS: dict[str, t.Any] = {
    "cooldown": {
        "type": "number",
        "minimum": 0,
        "maximum": 3600,
        "description": "Seconds of rest before each command.",
    },
    "drop_caches": {
        "type": "boolean",
        "description": "Whether page cache, dentries and inodes are dropped "
        "before each command, which takes root.",
    },
}
#: JSON Schema of all of it, as arguments of a scenario.
SCHEMA: dict[str, t.Any] = {
    **OF_WORKLOADS,
    "reboot": {
        "enum": list(t.get_args(Reboot)),
        "description": "When guests are stopped and started again.",
    },
    "shape": {
        "enum": list(t.get_args(Shape)),
        "description": "Whether bare metal is held to the guest's shape.",
    },
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Protocol:
    """The protocol as a task asks for it, workload by workload aside.

    :param cooldown: seconds of rest before each command
    :param drop_caches: whether caches are dropped before each command
    """

    cooldown: float = 0
    drop_caches: bool = False
    reboot: Reboot = "never"
    shape: Shape = "guest"

    def options(self) -> dict[str, t.Any]:
        """Return what holds for no single workload, for records."""
        found = {"reboot": self.reboot, "shape": self.shape}
        return {
            key: value
            for key, value in found.items()
            if value != getattr(DEFAULT, key)
        }

    def reboots(self, workloads: int, conditions: int, times: int) -> int:
        """Return how often all of it is rebooted in a run.

        :param workloads: their number
        :param conditions: their number within a repetition
        :param times: repetitions, those of the warm-up included
        """
        if self.reboot == "between_workloads":
            return workloads * conditions * times - 1
        return times - 1 if self.reboot == "between_repetitions" else 0


#: The protocol of a task that asks for nothing.
DEFAULT = Protocol()


def of_arguments(
    arguments: collections.abc.Mapping[str, t.Any],
) -> Protocol:
    """Return the protocol among the arguments of a scenario."""
    return Protocol(**{k: arguments[k] for k in SCHEMA if k in arguments})
