# SPDX-License-Identifier: Apache-2.0
"""Live migrations: request, progress, deadline and outcome."""

import dataclasses
import time
import typing as t

from rally_vmperf import json_schema
from rally_vmperf import sanitize
from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.guests.booting import placement
from rally_vmperf.guests.booting import server_action
from rally_vmperf.guests.cleanup import servers
from rally_vmperf.measurement.event import phases

#: The version of Nova's API that lists migrations with identifiers.
_LIST_VERSION = "2.59"
#: The version in which Nova chooses whether disks are copied.
_REQUEST_VERSION = "2.30"
#: The states of migrations that have ended.
_ENDED = ("completed", "error", "failed", "cancelled")
#: Seconds between two requests for the state of a migration, and after an
#: abort or a completed migration until the server is available again.
_POLL, _SETTLE = 0.5, 60.0
_MIGRATIONS = json_schema.mapping(
    {
        "migrations": json_schema.array(
            json_schema.mapping(
                {
                    "id": {"type": "integer"},
                    "uuid": json_schema.text(),
                    "status": json_schema.text(),
                },
                "id",
                "uuid",
                "status",
            )
        )
    },
    "migrations",
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class MigrationRequest:
    """A live migration that is requested.

    :param host: The target host; None if Nova chooses.
    :param block_migration: Whether local disks are copied; ``auto`` if Nova
        decides.
    :param deadline: The seconds after which it is aborted.
    """

    host: str | None
    block_migration: bool | t.Literal["auto"]
    deadline: float


def choose_target(host: str | None, present: str, home: str) -> str | None:
    """Return the host to which a guest is migrated; None if Nova chooses.

    :param host: The host that the task requests; None if Nova chooses.
    :param present: The present host of the guest.
    :param home: The host of the guest before the first migration, or "".
    :raises GuestError: If the present host is not known.
    """
    if not present:
        raise errors.GuestError(
            "Nova shows the host of a guest to administrators only; add an "
            "admin to the environment"
        )
    return host if present == (home or present) else home


def migrate(
    admin: cloud.Connection, server_id: str, requested: MigrationRequest
) -> server_action.ActionOutcome:
    """Migrate a guest, wait for the end, and return how it went.

    :param admin: The connection of an administrator.
    :raises GuestError: If Nova rejects it.
    """
    return _Migration(admin, server_id, requested).run()


@dataclasses.dataclass
class _Migration:
    """A migration in progress."""

    admin: cloud.Connection
    server_id: str
    requested: MigrationRequest
    record: dict[str, t.Any] = dataclasses.field(default_factory=dict)
    request: str = ""
    is_aborted: bool = False

    def run(self) -> server_action.ActionOutcome:
        """Request the migration, and wait for its end."""
        known = {record["id"] for record in self._list()}
        self.request = server_action.send(
            self.admin,
            self.server_id,
            {
                "os-migrateLive": {
                    "host": self.requested.host,
                    "block_migration": self.requested.block_migration,
                }
            },
            version=_REQUEST_VERSION,
        )
        outcome: phases.Outcome
        try:
            outcome, detail = self._wait(known)
        except cloud.CLOUD_ERRORS as error:
            outcome, detail = "failed", cloud.one_line(error)
        return server_action.ActionOutcome(
            outcome=outcome,
            detail=detail,
            request=self.request,
            fields={
                key: text
                for key, text in (
                    ("source", self._text("source_compute")),
                    ("target", self._text("dest_compute")),
                    ("migration", self._text("uuid")),
                    ("initiator", self._find_initiator()),
                    ("nova_begun", self._text("created_at")),
                    ("nova_ended", self._text("updated_at")),
                )
                if text
            },
        )

    def _text(self, key: str) -> str:
        """Return a field of the record of the migration as text, or ""."""
        return sanitize.line(self.record.get(key) or "", 100)

    def _wait(self, known: set[int]) -> tuple[phases.Outcome, str]:
        """Wait for the end; return the outcome and the reason of a failure.

        :param known: The identifiers of earlier migrations of the server.
        """
        deadline = time.monotonic() + self.requested.deadline
        while True:
            now = time.monotonic()
            if now > deadline + _SETTLE:
                return (
                    "failed",
                    f"its state is {self._state()} after the abort",
                )
            if now > deadline and not self.is_aborted:
                self._abort()
            time.sleep(_POLL)
            try:
                self._update(known)
                server = self.admin.compute.get_server(self.server_id)
            except cloud.CLOUD_ERRORS as error:
                if not cloud.is_temporary(error):
                    raise
                continue
            is_over = self._state() in _ENDED or server.status == "ERROR"
            if is_over and not server.task_state:
                return self._conclude(server)

    def _state(self) -> str:
        """Return the state of the migration as text."""
        return self._text("status") or "unknown"

    def _conclude(self, server: t.Any) -> tuple[phases.Outcome, str]:
        """Return the outcome of a migration that ended, and the reason."""
        state = self._state()
        if server.status == "ERROR":
            fault = (server.fault or {}).get("message") or "no fault"
            return "server_error", f"the server is in ERROR: {fault}"
        if state == "completed":
            return "completed", ""
        if self.is_aborted and state == "cancelled":
            limit = f"{self.requested.deadline:g}"
            return "aborted", f"it was not finished after {limit} s"
        return "failed", f"its state is {state}"

    def _abort(self) -> None:
        """Abort the migration, unless Nova does not list it yet."""
        if "id" in self.record:
            self.is_aborted = True
            servers.request_abort(
                self.admin.compute, self.server_id, self.record["id"]
            )

    def _list(self) -> list[dict[str, t.Any]]:
        """Return the migrations of the server."""
        answer = self.admin.compute.get(
            f"/os-migrations?instance_uuid={self.server_id}",
            microversion=_LIST_VERSION,
        )
        server_action.check(answer, "list migrations")
        return list(cloud.parse_document(answer, _MIGRATIONS)["migrations"])

    def _update(self, known: set[int]) -> None:
        """Update the record of the migration."""
        for record in self._list():
            if record["id"] not in known and (
                not self.record or record["id"] == self.record["id"]
            ):
                self.record = record

    def _find_initiator(self) -> str:
        """Return the user that requested the migration in Nova, or ""."""
        for action in placement.list_actions(self.admin, self.server_id):
            if action.get("request_id") == self.request:
                return sanitize.line(action.get("user_id") or "", 100)
        return ""
