"""Live migrations: request, progress, deadline and outcome."""

import dataclasses
import time
import typing as t

from rally_vmperf import json_schema
from rally_vmperf import sanitize
from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.guests.booting import placement
from rally_vmperf.guests.cleanup import servers
from rally_vmperf.measurement.migration import phases

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
    """How a guest is migrated.

    :param host: The target host; None if Nova chooses.
    :param block_migration: Whether local disks are copied; ``auto`` if Nova
        decides.
    :param deadline: The seconds after which it is aborted.
    """

    host: str | None
    block_migration: bool | t.Literal["auto"]
    deadline: float


def find_host(admin: cloud.Connection, server_id: str) -> str:
    """Return the host of a server.

    :raises GuestError: If Nova does not show it.
    """
    with cloud.convert_errors(f"show server {server_id}"):
        host = admin.compute.get_server(server_id).compute_host
    if not host:
        raise errors.GuestError(
            f"show server {server_id}: Nova shows its host to administrators "
            "only; add an admin to the environment"
        )
    return str(host)


def migrate(
    admin: cloud.Connection,
    server_id: str,
    guest: str,
    request: MigrationRequest,
) -> phases.Event:
    """Migrate a guest, wait for the end, and return how it went.

    :param admin: The connection of an administrator.
    :param guest: The name of the guest.
    """
    return _Migration(admin, server_id, guest, request).run()


@dataclasses.dataclass
class _Migration:
    """A migration in progress."""

    admin: cloud.Connection
    server_id: str
    guest: str
    request: MigrationRequest
    record: dict[str, t.Any] = dataclasses.field(default_factory=dict)
    request_id: str = ""
    is_aborted: bool = False

    def run(self) -> phases.Event:
        """Request the migration, and wait for its end."""
        source, requested = "", time.time()
        outcome: phases.Outcome
        try:
            source = find_host(self.admin, self.server_id)
            known = {record["id"] for record in self._list()}
            requested = time.time()
            self._send()
            outcome, detail = self._wait(known)
        except errors.GuestError as error:
            outcome, detail = "failed", str(error)
        except cloud.CLOUD_ERRORS as error:
            outcome, detail = "failed", cloud.one_line(error)
        return phases.Event(
            guest=self.guest,
            outcome=outcome,
            detail=sanitize.line(detail, 300) if detail else "",
            source=self._text("source_compute") or source,
            target=self._text("dest_compute"),
            migration=self._text("uuid"),
            request=self.request_id,
            initiator=self._find_initiator(),
            requested=requested,
            ended=time.time(),
            nova_begun=self._text("created_at"),
            nova_ended=self._text("updated_at"),
        )

    def _text(self, key: str) -> str:
        """Return a field of the record of the migration as text, or ""."""
        return sanitize.line(self.record.get(key) or "", 100)

    def _send(self) -> None:
        """Request the migration.

        :raises GuestError: If Nova rejects it.
        """
        body = {
            "os-migrateLive": {
                "host": self.request.host,
                "block_migration": self.request.block_migration,
            }
        }
        answer = self.admin.compute.post(
            f"/servers/{self.server_id}/action",
            json=body,
            microversion=_REQUEST_VERSION,
        )
        self._check(answer, "migrate the guest")
        self.request_id = sanitize.line(
            answer.headers.get("x-openstack-request-id") or "", 100
        )

    def _wait(self, known: set[int]) -> tuple[phases.Outcome, str]:
        """Wait for the end; return the outcome and the reason of a failure.

        :param known: The identifiers of earlier migrations of the server.
        """
        deadline = time.monotonic() + self.request.deadline
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
            limit = f"{self.request.deadline:g}"
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
        self._check(answer, "list migrations")
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
            if action.get("request_id") == self.request_id:
                return sanitize.line(action.get("user_id") or "", 100)
        return ""

    @staticmethod
    def _check(answer: t.Any, what: str) -> None:
        """Reject an answer that is an error.

        :raises GuestError: If it is one; with the reason of Nova.
        """
        if not answer.ok:
            reason = sanitize.line(answer.text, 300)
            raise errors.GuestError(f"{what}: {answer.status_code} {reason}")
