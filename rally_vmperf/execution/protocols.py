"""The protocol of a run: steps before each command and repetition."""

import collections.abc
import dataclasses
import math
import typing as t

from rally_vmperf import json_schema

#: When guests are stopped and started again.
Reboot = t.Literal["auto", "never", "between_workloads", "between_repetitions"]
#: The longest boot in seconds for which ``auto`` reboots guests.
MAX_AUTO_BOOT = 60
#: The size of bare metal: limited to the guest's shape, or the whole machine.
Shape = t.Literal["guest", "whole"]

#: JSON Schema of the options that a single workload can override.
OF_WORKLOADS = {
    "cooldown": json_schema.number(
        "Pause before each command in seconds.", minimum=0, maximum=3600
    ),
    "drop_caches": json_schema.flag(
        "Whether page cache, dentries and inodes are dropped before each "
        "command, which requires root."
    ),
}
#: JSON Schema of the protocol, as arguments of a scenario.
SCHEMA = {
    **OF_WORKLOADS,
    "reboot": json_schema.choice(
        t.get_args(Reboot),
        "When guests are stopped and started again; auto: between "
        f"repetitions if they boot within {MAX_AUTO_BOOT} s.",
    ),
    "shape": json_schema.choice(
        t.get_args(Shape),
        "Whether bare metal is limited to the guest's shape.",
    ),
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Protocol:
    """The protocol of a task, without the options of single workloads.

    :param cooldown: The pause before each command in seconds.
    :param drop_caches: Whether caches are dropped before each command.
    """

    cooldown: float = 0
    drop_caches: bool = False
    reboot: Reboot = "never"
    shape: Shape = "guest"

    def options(self) -> dict[str, t.Any]:
        """Return the options of the whole run as a dict for records."""
        options = {"reboot": self.reboot, "shape": self.shape}
        return {
            key: option
            for key, option in options.items()
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


def create_protocol(
    arguments: collections.abc.Mapping[str, t.Any],
) -> Protocol:
    """Return the protocol: pauses, caches, reboots and shape."""
    return Protocol(
        **{name: arguments[name] for name in SCHEMA if name in arguments}
    )
