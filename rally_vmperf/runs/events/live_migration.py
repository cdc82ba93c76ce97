# SPDX-License-Identifier: Apache-2.0
"""The live migration of a guest, to another host and back."""

import dataclasses
import typing as t

from rally_vmperf.guests.booting import migration
from rally_vmperf.guests.booting import server_action
from rally_vmperf.runs import event_types
from rally_vmperf.runs.events import _migration


@dataclasses.dataclass(frozen=True, kw_only=True)
class LiveMigration(_migration.Migration):
    """The live migration of a guest; in the next repetition back.

    :param block_migration: Whether Nova copies local disks: true, false, or
        auto, with which Nova decides.
    """

    name = "live_migration"
    title = "a live migration"

    block_migration: t.Literal["auto", True, False] = "auto"

    @property
    def stops_guest(self) -> bool:
        """The guest runs on."""
        return False

    def cause(
        self, occasion: event_types.Occasion
    ) -> server_action.ActionOutcome:
        """Migrate the guest, and wait for the end."""
        return migration.migrate(
            occasion.admin,
            occasion.guest.id,
            migration.MigrationRequest(
                host=self.choose_target(occasion),
                block_migration=self.block_migration,
                deadline=occasion.deadline,
            ),
        )

    def describe(self) -> list[str]:
        """Return lines on the event for the report."""
        copied = {True: "yes", False: "no"}.get(
            t.cast(bool, self.block_migration), "as Nova decides"
        )
        return [*super().describe(), f"local disks are copied: {copied}"]
