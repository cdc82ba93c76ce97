"""The cold migration of a guest, to another host and back."""

import dataclasses
import typing as t

from rally_vmperf import documents
from rally_vmperf.guests.booting import migration
from rally_vmperf.guests.booting import server_action
from rally_vmperf.runs import event_types

#: The version in which an administrator names the host.
_VERSION = "2.56"


@dataclasses.dataclass(frozen=True, kw_only=True)
class ColdMigration(event_types.EventType):
    """The cold migration of a guest; in the next repetition back.

    Nova shuts the guest down, copies its disk if the hosts do not share it,
    and starts the guest on the other host.

    :param host: The compute host to which the guest is migrated. Default:
        Nova chooses.
    """

    name = "cold_migration"
    title = "a cold migration"
    needs_admin = True

    host: t.Annotated[str | None, {"minLength": 1}] = None

    @property
    def may_move_guest(self) -> bool:
        """The guest is on another host afterwards."""
        return True

    def cause(
        self, occasion: event_types.Occasion
    ) -> server_action.ActionOutcome:
        """Migrate the guest, confirm it, and wait for the end."""
        target = migration.choose_target(
            self.host, occasion.find_host(), occasion.home
        )
        return server_action.resize(
            occasion.admin,
            occasion.guest.id,
            {"migrate": {"host": target} if target else None},
            version=_VERSION,
            deadline=occasion.deadline,
        )

    def list_request_options(self) -> documents.Arguments:
        """Return the option that checks the hosts."""
        return {"migrate_to": self.host or ""}

    def describe(self) -> list[str]:
        """Return lines on the event for the report."""
        return [
            f"to {self.host or 'a host that Nova chooses'}, and back in the "
            "next repetition"
        ]
