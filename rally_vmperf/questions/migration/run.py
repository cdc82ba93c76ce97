"""A run with one condition for each phase of a live migration."""

import dataclasses
import typing as t

from rally_vmperf.guests import errors
from rally_vmperf.guests import models
from rally_vmperf.measurement.migration import phases
from rally_vmperf.questions.migration import guest_migration
from rally_vmperf.questions.migration import question
from rally_vmperf.runs import actions
from rally_vmperf.runs import attempt
from rally_vmperf.runs import conditions
from rally_vmperf.runs import loads
from rally_vmperf.runs import run_request
from rally_vmperf.runs import runs


def create_run(
    request: run_request.RunRequest, arguments: question.Arguments
) -> runs.Run:
    """Return a run with the phases before, during and after a migration.

    The first guest is migrated in the middle of the phase during, to another
    host and in the next repetition back. If its server is in the status ERROR
    afterwards, all guests are booted again before the next repetition.

    :param arguments: The arguments of the task.
    """
    phase_seconds = arguments.phase_seconds
    options = {
        "host": arguments.host,
        "block_migration": arguments.block_migration,
        "deadline": arguments.deadline,
        "migrated": request.booted.guests[0].name,
    }
    return request.create_run(
        (
            conditions.Condition(axes={phases.AXIS: phase})
            for phase in phases.PHASES
        ),
        options={
            **options,
            "host": arguments.host or "",
            "phase_seconds": phase_seconds,
        },
        open=lambda: _open_session(
            request, request_after=phase_seconds / 2, **options
        ),
    )


def _open_session(
    request: run_request.RunRequest, **options: t.Any
) -> attempt.ReadySession:
    """Return a session whose watch over guests migrates one of them.

    :param options: The options of the migration.
    :raises GuestError: If there is no administrator.
    """
    admin = request.connect_admin()
    if admin is None:
        raise errors.GuestError(
            "only an administrator migrates guests; add an admin to the "
            "environment"
        )
    request = request.boot_group(None)
    ready = request.prepare_session()
    guests = list(request.booted.guests)
    return dataclasses.replace(
        ready,
        actions=tuple(
            _replace_watch(action, guests, admin=admin, **options)
            for action in ready.actions
        ),
    )


def _replace_watch(
    action: actions.Action, guests: list[models.Guest], **options: t.Any
) -> actions.Action:
    """Return the watch over guests as a migration, and others prepared for it.

    :param guests: The guests, whose hosts the migration updates.
    :param options: The options of the migration.
    """
    if isinstance(action, actions.HostWatch):
        action.guests = guests
    if isinstance(action, loads.ControlAction):
        action.load.further_seconds = options["deadline"]
    if not isinstance(action, actions.GuestWatch):
        return action
    return guest_migration.GuestMigration(
        connection=action.connection,
        guests=guests,
        session=action.session,
        timeout=action.timeout,
        progress=action.progress,
        **options,
    )
