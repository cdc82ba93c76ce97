# SPDX-License-Identifier: Apache-2.0
"""An event that a run causes, and the registry of events.

Each module of ``rally_vmperf.runs.events`` is an event of the same name,
unless its name begins with an underscore. The module is imported when the
event is requested.
"""

import abc
import contextlib
import dataclasses
import functools
import importlib
import importlib.util
import pkgutil
import time
import typing as t

from rally_vmperf import declaration
from rally_vmperf import documents
from rally_vmperf import errors
from rally_vmperf import json_schema
from rally_vmperf import sanitize
from rally_vmperf.guests import errors as guest_errors
from rally_vmperf.guests import models
from rally_vmperf.measurement.event import phases

if t.TYPE_CHECKING:
    from rally_vmperf.guests import cloud
    from rally_vmperf.guests.booting import server_action

PACKAGE = "rally_vmperf.runs.events"
#: The event of a task that names none.
DEFAULT = "live_migration"
#: Maximum number of characters of a reason in a record.
_MAX_LENGTH = 300


class InvalidEvent(errors.VMPerfError):
    """An event that is not valid; the message is one line."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Occasion:
    """The guest to which an event happens, and the means to cause it.

    :param guest: The guest, on its present host.
    :param home: The host of the guest before the first event; "" if it is not
        known.
    :param connection: The connection to the cloud, with the credential of the
        guests.
    :param admin: The connection of an administrator; None if there is none.
    :param deadline: The seconds after which the event is aborted.
    """

    guest: models.Guest
    home: str
    connection: "cloud.Connection"
    admin: "cloud.Connection | None"
    deadline: float

    def find_host(self) -> str:
        """Return the present host of the guest; "" if Nova hides it."""
        from rally_vmperf.guests import cloud

        connection = self.admin or self.connection
        with cloud.convert_errors(f"show server {self.guest.id}"):
            server = connection.compute.get_server(self.guest.id)
        return str(server.compute_host or "")


@dataclasses.dataclass(frozen=True, kw_only=True)
class EventType(abc.ABC):
    """An event with its options, which are the fields of a subclass.

    :cvar name: The name in tasks, which is that of the module.
    :cvar title: A noun with an article, for messages.
    :cvar needs_admin: Whether only an administrator can request it.
    :cvar is_requested: Whether this run requests it from Nova.
    """

    name: t.ClassVar[str]
    title: t.ClassVar[str]
    needs_admin: t.ClassVar[bool] = False
    is_requested: t.ClassVar[bool] = True

    @property
    def stops_guest(self) -> bool:
        """Whether the guest stops and starts again."""
        return True

    @property
    def may_move_guest(self) -> bool:
        """Whether the guest may be on another host afterwards."""
        return False

    @abc.abstractmethod
    def cause(self, occasion: Occasion) -> "server_action.ActionOutcome":
        """Request the event, wait for its end, and return how it went.

        :raises GuestError: If the cloud rejects it, or does not answer.
        """

    @property
    def is_undone(self) -> bool:
        """Whether ``undo`` changes the guest, for which it stops."""
        return False

    def undo(self, occasion: Occasion) -> None:
        """Return the guest to its state before the event.

        It is called before the phases of the next repetition.

        :raises GuestError: If the cloud rejects it.
        """
        raise NotImplementedError

    def plain(self) -> dict[str, t.Any]:
        """Return the name with the options that are given, as in tasks."""
        options = dataclasses.asdict(self)
        return {
            "name": self.name,
            **{
                key: value
                for key, value in options.items()
                if value not in json_schema.EMPTY
            },
        }

    def list_request_options(self) -> documents.Arguments:
        """Return the options of the request for guests, which are checked."""
        return {}

    def describe(self) -> list[str]:
        """Return lines on the event for the report."""
        return [self.title]

    def happen(self, occasion: Occasion) -> phases.EventRecord:
        """Cause the event, and return its record."""
        from rally_vmperf.guests import cloud
        from rally_vmperf.guests.booting import server_action

        source, requested = "", time.time()
        try:
            source = occasion.find_host()
            requested = time.time()
            done = self.cause(occasion)
        except guest_errors.GuestError as error:
            done = server_action.ActionOutcome(
                outcome="failed", detail=str(error)
            )
        except cloud.CLOUD_ERRORS as error:
            reason = cloud.one_line(error)
            done = server_action.ActionOutcome(outcome="failed", detail=reason)
        ended = time.time()
        target = ""
        if done.outcome == "completed":
            with contextlib.suppress(guest_errors.GuestError):
                target = occasion.find_host()
        return phases.EventRecord(
            **{
                "name": self.name,
                "guest": occasion.guest.name,
                "outcome": done.outcome,
                "detail": sanitize.line(done.detail, _MAX_LENGTH),
                "source": source,
                "target": target,
                "request": done.request,
                "requested": requested,
                "ended": ended,
                "stops_guest": self.stops_guest,
                **done.fields,
            }
        )


@functools.cache
def list_names() -> tuple[str, ...]:
    """Return the sorted names of all events; none is imported."""
    spec = importlib.util.find_spec(PACKAGE)
    paths = spec.submodule_search_locations if spec else None
    names = (found.name for found in pkgutil.iter_modules(paths))
    return tuple(sorted(name for name in names if not name.startswith("_")))


@functools.cache
def get_type(name: str) -> type[EventType]:
    """Return the class of an event.

    :param name: One of ``list_names``.
    """
    module = importlib.import_module(f"{PACKAGE}.{name}")
    return next(
        found
        for found in vars(module).values()
        if isinstance(found, type)
        and issubclass(found, EventType)
        and vars(found).get("name") == name
    )


#: The argument of a task: the name of the event, and its options.
SCHEMA = json_schema.mapping(
    {
        "name": {
            "enum": [*list_names()],
            "description": "The event. The other keys are its options.",
        }
    },
    "name",
)


def parse(argument: documents.Arguments | None) -> EventType:
    """Return the event that a task requests; by default a live migration.

    An option that is empty is not given.

    :param argument: The name with the options, which match ``SCHEMA``.
    :raises InvalidEvent: If the name or an option is unknown or not valid.
    """
    argument = argument or {"name": DEFAULT}
    name = argument.get("name")
    if name not in list_names():
        raise InvalidEvent(
            f"event name={sanitize.line(repr(name), 80)}: must be one of "
            f"{', '.join(list_names())}"
        )
    event_type = get_type(name)
    options = {
        key: value
        for key, value in argument.items()
        if key != "name" and value not in json_schema.EMPTY
    }
    error = documents.first_error(
        declaration.build_schema(event_type), options
    )
    if error is not None:
        place = f"event {event_type.name}{error.json_path.removeprefix('$')}"
        message = error.message
        if error.validator == "enum":
            choices = ", ".join(map(str, error.validator_value))
            message = f"must be one of {choices}"
        raise InvalidEvent(f"{place}: {message}")
    return event_type(**options)
