# SPDX-License-Identifier: Apache-2.0
"""The resize of a guest to another flavor, and back."""

import dataclasses
import typing as t

from rally_vmperf import documents
from rally_vmperf.guests import errors
from rally_vmperf.guests import request
from rally_vmperf.guests import resolve
from rally_vmperf.guests.booting import server_action
from rally_vmperf.runs import event_types


@dataclasses.dataclass(frozen=True, kw_only=True)
class Resize(event_types.EventType):
    """The resize of a guest to another flavor.

    Nova stops the guest, and starts it with the other flavor, possibly on
    another host. The flavor is changed back before the next repetition.

    :param flavor: The other flavor, by its name.
    """

    name = "resize"
    title = "a resize"

    flavor: t.Annotated[str, {"minLength": 1}]

    @property
    def _reference(self) -> request.ResourceReference:
        """The reference to the flavor."""
        return request.ResourceReference(by="name", value=self.flavor)

    @property
    def may_move_guest(self) -> bool:
        """Nova chooses the host of the other flavor."""
        return True

    @property
    def is_undone(self) -> bool:
        """The flavor is changed back, for which the guest stops again."""
        return True

    def cause(
        self, occasion: event_types.Occasion
    ) -> server_action.ActionOutcome:
        """Change the flavor, confirm it, and wait for the end."""
        flavor = resolve.get_flavor(occasion.connection, self._reference)
        return self._resize(occasion, flavor.id)

    def undo(self, occasion: event_types.Occasion) -> None:
        """Change the flavor back."""
        done = self._resize(occasion, occasion.guest.flavor.id)
        if done.outcome != "completed":
            raise errors.GuestError(
                f"{occasion.guest.name} does not have its flavor "
                f"{occasion.guest.flavor.name} again: {done.detail}"
            )

    @staticmethod
    def _resize(
        occasion: event_types.Occasion, flavor_id: str
    ) -> server_action.ActionOutcome:
        """Change the flavor, confirm it, and wait for the end."""
        return server_action.resize(
            occasion.connection,
            occasion.guest.id,
            {"resize": {"flavorRef": flavor_id}},
            deadline=occasion.deadline,
        )

    def list_request_options(self) -> documents.Arguments:
        """Return the option that checks flavor and quota."""
        return {"resize_to": self._reference}

    def describe(self) -> list[str]:
        """Return lines on the event for the report."""
        return [f"to flavor {self.flavor}, and back before each repetition"]
