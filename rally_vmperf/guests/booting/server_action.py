# SPDX-License-Identifier: Apache-2.0
"""Actions of Nova on a server: reboot, resize, cold migration."""

import collections.abc
import dataclasses
import time
import typing as t

from rally_vmperf import sanitize
from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.guests import waiting
from rally_vmperf.measurement.event import phases

#: Seconds between two requests for the state of the server.
_POLL = 0.5
#: The first version of Nova's API in which a request has an identifier.
_VERSION = "2.1"
#: The status of a server whose resize must be confirmed.
_TO_CONFIRM = "VERIFY_RESIZE"


@dataclasses.dataclass(frozen=True, kw_only=True)
class ActionOutcome:
    """An action that has ended.

    :param outcome: The state, as in ``phases.EventRecord``.
    :param detail: The reason of another outcome than ``completed``, or "".
    :param request: The identifier of the request in Nova, or "".
    :param fields: The further fields of ``phases.EventRecord`` that are known.
    """

    outcome: phases.Outcome = "completed"
    detail: str = ""
    request: str = ""
    fields: collections.abc.Mapping[str, t.Any] = dataclasses.field(
        default_factory=dict
    )


def send(
    connection: cloud.Connection,
    server_id: str,
    body: collections.abc.Mapping[str, t.Any],
    version: str = _VERSION,
) -> str:
    """Request an action, and return the identifier of the request.

    :param body: The name of the action, with its options.
    :param version: The version of Nova's API.
    :raises GuestError: If Nova rejects it; with the reason of Nova.
    """
    (name,) = body
    answer = connection.compute.post(
        f"/servers/{server_id}/action", json=body, microversion=version
    )
    check(answer, name)
    request = answer.headers.get("x-openstack-request-id") or ""
    return sanitize.line(request, 100)


def check(answer: t.Any, what: str) -> None:
    """Reject an answer of Nova that is an error.

    :param what: The request, for the message.
    :raises GuestError: If it is one; with the reason of Nova.
    """
    if not answer.ok:
        reason = sanitize.line(answer.text, 300)
        raise errors.GuestError(f"{what}: {answer.status_code} {reason}")


def resize(
    connection: cloud.Connection,
    server_id: str,
    body: collections.abc.Mapping[str, t.Any],
    *,
    deadline: float,
    version: str = _VERSION,
) -> ActionOutcome:
    """Request a resize or a cold migration, and confirm it.

    :param body: The name of the action, with its options.
    :param deadline: The seconds after which the action has failed.
    :param version: The version of Nova's API.
    :raises GuestError: If Nova rejects a request.
    """
    begun = time.monotonic()
    done = run(
        connection,
        server_id,
        body,
        deadline=deadline,
        version=version,
        status=_TO_CONFIRM,
    )
    if done.outcome != "completed":
        return done
    left = max(0.0, deadline - (time.monotonic() - begun))
    confirmed = run(
        connection, server_id, {"confirmResize": None}, deadline=left
    )
    return dataclasses.replace(confirmed, request=done.request)


def run(
    connection: cloud.Connection,
    server_id: str,
    body: collections.abc.Mapping[str, t.Any],
    *,
    deadline: float,
    version: str = _VERSION,
    status: str = "ACTIVE",
) -> ActionOutcome:
    """Request an action, and wait until the server has a status.

    :param body: The name of the action, with its options.
    :param deadline: The seconds after which the action has failed.
    :param version: The version of Nova's API.
    :param status: The status of the server when the action has ended.
    :raises GuestError: If Nova rejects the request.
    """
    request = send(connection, server_id, body, version)
    latest = time.monotonic() + deadline
    shown = "unknown"
    while time.monotonic() < latest:
        time.sleep(_POLL)
        try:
            server = connection.compute.get_server(server_id)
        except cloud.CLOUD_ERRORS as error:
            if not cloud.is_temporary(error):
                raise
            continue
        shown = str(server.task_state or server.status)
        if server.task_state:
            continue
        if server.status == status:
            return ActionOutcome(request=request)
        if server.status == "ERROR":
            fault = waiting.describe_fault(connection, server)
            return ActionOutcome(
                outcome="server_error",
                detail=f"the server is in ERROR: {fault}",
                request=request,
            )
        if status == _TO_CONFIRM:
            # Nova accepts a resize with a task state, which is gone.
            return ActionOutcome(
                outcome="failed",
                detail=f"Nova left the server {shown}; check the log of "
                "nova-compute on its host, and whether another host has room",
                request=request,
            )
    return ActionOutcome(
        outcome="failed",
        detail=f"the server is {shown}, not {status}, after {deadline:g} s",
        request=request,
    )
