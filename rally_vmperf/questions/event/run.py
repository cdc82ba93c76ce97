# SPDX-License-Identifier: Apache-2.0
"""A run with one condition for each phase of an event."""

import dataclasses
import typing as t

from rally_vmperf.execution.stations import reach
from rally_vmperf.guests import errors
from rally_vmperf.guests import models
from rally_vmperf.measurement.event import phases
from rally_vmperf.questions.event import guest_event
from rally_vmperf.questions.event import question
from rally_vmperf.runs import actions
from rally_vmperf.runs import attempt
from rally_vmperf.runs import conditions
from rally_vmperf.runs import event_types
from rally_vmperf.runs import loads
from rally_vmperf.runs import run_request
from rally_vmperf.runs import runs


def create_run(
    request: run_request.RunRequest, arguments: question.Arguments
) -> runs.Run:
    """Return a run with the phases before, during and after an event.

    It happens to the first guest in the middle of the phase during. If the
    server of the guest is in the status ERROR afterwards, all guests are
    booted again before the next repetition.

    :param arguments: The arguments of the task.
    """
    happening = event_types.parse(arguments.event)
    return request.create_run(
        (
            conditions.PlannedCondition(axes={phases.AXIS: phase})
            for phase in phases.PHASES
        ),
        options={
            "event": happening.plain(),
            "deadline": arguments.deadline,
            "phase_seconds": arguments.phase_seconds,
        },
        open=lambda: _open_session(
            request,
            event=happening,
            subject=request.booted.guests[0].name,
            request_after=arguments.phase_seconds / 2,
            deadline=arguments.deadline,
        ),
    )


def _open_session(
    request: run_request.RunRequest, **options: t.Any
) -> attempt.ReadySession:
    """Return a session whose watch over guests causes an event.

    :param options: The options of the event.
    :raises GuestError: If an administrator is required, and there is none.
    """
    admin = request.connect_admin()
    happening: event_types.EventType = options["event"]
    if admin is None and happening.needs_admin:
        raise errors.GuestError(
            f"only an administrator requests {happening.title}; add an admin "
            "to the environment"
        )
    request = request.boot_group(None)
    ready = request.prepare_session()
    guests = list(request.booted.guests)

    def create_prober(guest: models.Guest) -> t.Any:
        """Return a connection of its own to a guest."""
        way = reach.create_route(guest.jump, guest.namespace)
        return reach.connect(guest, request.booted.client_key, way)

    return dataclasses.replace(
        ready,
        actions=tuple(
            _replace_watch(
                action,
                guests,
                admin=admin,
                create_prober=create_prober,
                **options,
            )
            for action in ready.actions
        ),
    )


def _replace_watch(
    action: actions.Action, guests: list[models.Guest], **options: t.Any
) -> actions.Action:
    """Return the watch over guests as an event, and others prepared for it.

    :param guests: The guests, whose hosts the event updates.
    :param options: The options of the event.
    """
    if isinstance(action, actions.HostWatch):
        action.guests = guests
    if isinstance(action, loads.ControlAction):
        action.load.further_seconds = options["deadline"]
    if not isinstance(action, actions.GuestWatch):
        return action
    return guest_event.GuestEvent(
        connection=action.connection,
        guests=guests,
        session=action.session,
        timeout=action.timeout,
        progress=action.progress,
        **options,
    )
