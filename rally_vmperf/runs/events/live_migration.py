"""The live migration of a guest, to another host and back."""

import dataclasses
import typing as t

from rally_vmperf import documents
from rally_vmperf.guests.booting import migration
from rally_vmperf.guests.booting import server_action
from rally_vmperf.runs import event_types


@dataclasses.dataclass(frozen=True, kw_only=True)
class LiveMigration(event_types.EventType):
    """The live migration of a guest; in the next repetition back.

    :param host: The compute host to which the guest is migrated. Default:
        Nova chooses.
    :param block_migration: Whether Nova copies local disks: true, false, or
        auto, with which Nova decides.
    """

    name = "live_migration"
    title = "a live migration"
    needs_admin = True

    host: t.Annotated[str | None, {"minLength": 1}] = None
    block_migration: t.Literal["auto", True, False] = "auto"

    @property
    def stops_guest(self) -> bool:
        """The guest runs on."""
        return False

    @property
    def may_move_guest(self) -> bool:
        """The guest is on another host afterwards."""
        return True

    def cause(
        self, occasion: event_types.Occasion
    ) -> server_action.ActionOutcome:
        """Migrate the guest, and wait for the end."""
        target = migration.choose_target(
            self.host, occasion.find_host(), occasion.home
        )
        return migration.migrate(
            occasion.admin,
            occasion.guest.id,
            migration.MigrationRequest(
                host=target,
                block_migration=self.block_migration,
                deadline=occasion.deadline,
            ),
        )

    def list_request_options(self) -> documents.Arguments:
        """Return the option that checks the hosts."""
        return {"migrate_to": self.host or ""}

    def describe(self) -> list[str]:
        """Return lines on the event for the report."""
        copied = {True: "yes", False: "no"}.get(
            t.cast(bool, self.block_migration), "as Nova decides"
        )
        return [
            f"to {self.host or 'a host that Nova chooses'}, and back in the "
            "next repetition",
            f"local disks are copied: {copied}",
        ]
