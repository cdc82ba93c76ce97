# SPDX-License-Identifier: Apache-2.0
"""The protocol of a run: steps before each command and repetition."""

import dataclasses
import math
import typing as t

from rally_vmperf import declaration

#: When guests are stopped and started again.
Reboot = t.Literal["auto", "never", "between_workloads", "between_repetitions"]
#: The longest boot in seconds for which ``auto`` reboots guests.
MAX_AUTO_BOOT = 60
#: The size of bare metal: limited to the guest's shape, or the whole machine.
Shape = t.Literal["guest", "whole"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Protocol:
    """The protocol of a task, without the options of single workloads.

    :param cooldown: The idle time in seconds before each command.
    :param drop_caches: Whether the page cache, dentries and inodes of the
        machines are dropped before each command, which requires root. A
        workload can override it.
    :param reboot: The time at which Nova stops and starts the guests: never,
        between_workloads, or between_repetitions. auto: between repetitions
        if the guests booted within 60 s.
    :param shape: The resources of bare metal in the baseline. guest: the CPUs
        and memory of the guests. whole: all CPUs and memory.
    """

    cooldown: t.Annotated[float, {"minimum": 0, "maximum": 3600}] = 0
    drop_caches: bool = False
    reboot: Reboot = "never"
    shape: Shape = "guest"

    def plain(self) -> dict[str, t.Any]:
        """Return the options of the whole run as a dict for records."""
        settings = {"reboot": self.reboot, "shape": self.shape}
        return {
            key: option
            for key, option in settings.items()
            if option != getattr(DEFAULT, key)
        }

    def reboots(self, workloads: int, conditions: int, times: int) -> int:
        """Return the number of reboots in a run.

        :param workloads: The number of workloads.
        :param conditions: The number of conditions in a repetition.
        :param times: The number of repetitions, warm-up included.
        """
        if self.reboot == "between_workloads":
            return workloads * conditions * times - 1
        return 0 if self.reboot == "never" else times - 1

    def resolve_reboot(
        self, boot_seconds: float, times: int
    ) -> tuple["Protocol", str]:
        """Return the protocol without ``auto``, and a warning or "".

        :param boot_seconds: The duration of the longest boot of the run.
        :param times: The number of repetitions, warm-up included.
        """
        if self.reboot != "auto":
            return self, ""
        if boot_seconds <= MAX_AUTO_BOOT:
            reboot: Reboot = "between_repetitions"
            return dataclasses.replace(self, reboot=reboot), ""
        minutes = math.ceil((times - 1) * boot_seconds / 60)
        return dataclasses.replace(self, reboot="never"), (
            f"reboot=auto: the guests took {boot_seconds:.0f} s to boot, more "
            f"than {MAX_AUTO_BOOT} s, so that they are not rebooted between "
            "repetitions, and the result is that of one boot; reboot: "
            f"between_repetitions would add about {minutes} min"
        )

    def describe_auto(self, times: int) -> str:
        """Return the rule of ``auto`` as a sentence for plans, or "".

        :param times: The number of repetitions, warm-up included.
        """
        if self.reboot != "auto":
            return ""
        return (
            "reboot=auto: guests that boot within "
            f"{MAX_AUTO_BOOT} s are rebooted between repetitions, which adds "
            f"at most {times - 1} min and is included; others are not "
            "rebooted, and their result is that of one boot"
        )


#: The default protocol.
DEFAULT = Protocol()
#: JSON Schema of the options that a single workload can override.
OF_WORKLOADS = {
    name: declaration.build_schema(Protocol)["properties"][name]
    for name in ("cooldown", "drop_caches")
}
