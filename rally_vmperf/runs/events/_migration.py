# SPDX-License-Identifier: Apache-2.0
"""The migration of a guest, live or cold, to another host and back."""

import dataclasses
import typing as t

from rally_vmperf import documents
from rally_vmperf.guests.booting import migration
from rally_vmperf.runs import event_types


@dataclasses.dataclass(frozen=True, kw_only=True)
class Migration(event_types.EventType):
    """The migration of a guest; in the next repetition back.

    :param host: The compute host to which the guest is migrated. Default:
        Nova chooses.
    """

    needs_admin = True

    host: t.Annotated[str | None, {"minLength": 1}] = None

    @property
    def may_move_guest(self) -> bool:
        """The guest is on another host afterwards."""
        return True

    def choose_target(self, occasion: event_types.Occasion) -> str | None:
        """Return the host to which the guest goes; None if Nova chooses.

        :raises GuestError: If the present host is not known.
        """
        return migration.choose_target(
            self.host, occasion.find_host(), occasion.home
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
