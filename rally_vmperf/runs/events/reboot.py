# SPDX-License-Identifier: Apache-2.0
"""The reboot of a guest by Nova."""

import dataclasses
import typing as t

from rally_vmperf.guests.booting import server_action
from rally_vmperf.runs import event_types


@dataclasses.dataclass(frozen=True, kw_only=True)
class Reboot(event_types.EventType):
    """The reboot of a guest by Nova.

    :param type: The kind of the reboot: soft, with which the guest shuts down
        itself, or hard, which is as a loss of power.
    """

    name = "reboot"
    title = "a reboot"

    type: t.Literal["soft", "hard"] = "soft"

    def cause(
        self, occasion: event_types.Occasion
    ) -> server_action.ActionOutcome:
        """Reboot the guest, and wait until Nova shows it as active."""
        return server_action.run(
            occasion.connection,
            occasion.guest.id,
            {"reboot": {"type": self.type.upper()}},
            deadline=occasion.deadline,
        )

    def describe(self) -> list[str]:
        """Return lines on the event for the report."""
        return [f"a {self.type} reboot, by Nova"]
