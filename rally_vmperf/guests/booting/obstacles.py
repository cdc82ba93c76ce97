# SPDX-License-Identifier: Apache-2.0
"""Reasons why guests will never answer SSH, which Nova shows."""

import collections.abc
import contextlib
import dataclasses
import time
import typing as t

from rally_vmperf.guests import console
from rally_vmperf.guests import errors
from rally_vmperf.guests import models
from rally_vmperf.guests.booting import placement
from rally_vmperf.machines import base

#: Seconds between two requests to Nova about a guest that does not answer.
_REQUEST_INTERVAL = 20.0


@dataclasses.dataclass
class Obstacles:
    """The reasons why guests will never answer SSH.

    :param guests: The guests that are waited for.
    :ivar reasons: The reasons that were found, by guest.
    """

    connection: t.Any
    guests: collections.abc.Iterable[models.Guest]
    reasons: dict[str, str] = dataclasses.field(default_factory=dict)
    _requested: dict[str, float] = dataclasses.field(default_factory=dict)
    _booted: set[str] = dataclasses.field(default_factory=set)
    #: The text of the console with a sign of a failure, by guest.
    _failed: dict[str, str] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        self._by_name = {guest.name: guest for guest in self.guests}

    def find(self, name: str, error: base.Unreachable) -> str:
        """Return why a guest will never answer, or "".

        :param error: The error of the latest attempt.
        """
        if name not in self.reasons and (reason := self._search(name, error)):
            self.reasons[name] = reason
        return self.reasons.get(name, "")

    def _search(self, name: str, error: base.Unreachable) -> str:
        """Return the reason that Nova shows now, or ""."""
        is_denied = isinstance(error, base.Denied)
        guest = self._by_name[name]
        if is_denied and name in self._booted:
            return (
                f"it rejects the key of user {guest.user!r} although its boot "
                "has ended; set user to the login name of its image"
            )
        now = time.monotonic()
        if now < self._requested.get(name, now):
            return ""
        self._requested[name] = now + _REQUEST_INTERVAL
        if placement.is_deleted(self.connection, guest.id):
            return placement.describe_deleted(name)
        with contextlib.suppress(errors.GuestError):
            text = console.read_console(self.connection, guest.id)
            if not is_denied:
                return self._find_failure(name, text)
            if console.has_booted(text):
                # The key may have been installed since the attempt.
                self._booted.add(name)
        return ""

    def _find_failure(self, name: str, text: str) -> str:
        """Return the failure on a console that does not change, or "".

        A guest that restarts after a failure writes to its console.
        """
        hint = console.find_fatal_hint(text)
        has_stopped = bool(hint) and self._failed.get(name) == text
        self._failed[name] = text if hint else ""
        return f"by its console {hint}" if has_stopped else ""
