# SPDX-License-Identifier: Apache-2.0
"""The cold migration of a guest, to another host and back."""

import dataclasses

from rally_vmperf.guests.booting import server_action
from rally_vmperf.runs import event_types
from rally_vmperf.runs.events import _migration

#: The version in which an administrator names the host.
_VERSION = "2.56"


@dataclasses.dataclass(frozen=True, kw_only=True)
class ColdMigration(_migration.Migration):
    """The cold migration of a guest; in the next repetition back.

    Nova shuts the guest down, copies its disk if the hosts do not share it,
    and starts the guest on the other host.
    """

    name = "cold_migration"
    title = "a cold migration"

    def cause(
        self, occasion: event_types.Occasion
    ) -> server_action.ActionOutcome:
        """Migrate the guest, confirm it, and wait for the end."""
        target = self.choose_target(occasion)
        return server_action.resize(
            occasion.admin,
            occasion.guest.id,
            {"migrate": {"host": target} if target else None},
            version=_VERSION,
            deadline=occasion.deadline,
        )
