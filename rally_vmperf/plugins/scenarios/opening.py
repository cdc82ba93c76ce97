"""Open a run: sessions with the guests, comparison, what never changes.

The run is opened by the first repetition and kept by the process, because
Rally makes a new scenario object for every iteration.
"""

import collections.abc
import dataclasses
import typing as t

from rally.common import cfg
from rally.common import db
from rally.common import logging

from rally_vmperf.baseline import document
from rally_vmperf.execution import assignment
from rally_vmperf.execution import session as sessions
from rally_vmperf.execution import supplying
from rally_vmperf.guests import credentials
from rally_vmperf.guests import errors
from rally_vmperf.machines import base as machines
from rally_vmperf.measurement import finding
from rally_vmperf.plugins import harmless
from rally_vmperf.plugins.scenarios import recording
from rally_vmperf.records import journal as journals
from rally_vmperf.workloads import base as workload_base

if t.TYPE_CHECKING:
    from rally_vmperf.execution import arrival

LOG = logging.getLogger(__name__)
CONF = cfg.CONF

Context = dict[str, t.Any]

#: What can keep guests from being ready, each in one line.
EXPECTED = (
    document.BaselineError,
    errors.GuestError,
    machines.MachineError,
    supplying.Error,
    workload_base.WorkloadError,
)

R = t.TypeVar("R", bound=recording.Run)
#: Makes a run of Rally's context and of the arguments that all runs take.
Maker = t.Callable[[Context, dict[str, t.Any]], R]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Asked:
    """What scenarios of all questions are asked."""

    workloads: list[dict[str, t.Any]]
    warmup: int
    peer: dict[str, t.Any] | None


_kept: dict[str, "arrival.Guests"] = {}
_runs: dict[str, recording.Run] = {}
_failures: dict[str, str] = {}


def keep(owner: str, arrived: "arrival.Guests") -> None:
    """Keep the connections to guests until the first repetition wants them.

    :param owner: identifier of the workload
    """
    _kept[owner] = arrived


def open_run(context: Context, asked: Asked, make: Maker[R]) -> R:
    """Return the run of this Rally workload, made ready if it is the first.

    What could not be made ready once is not tried again.

    :param make: gives the run, of what all questions have in common
    :raises Unready: in one line, why guests or peer are not ready
    """
    owner = context["owner_id"]
    if owner in _failures:
        raise recording.Unready(f"not tried again: {_failures[owner]}")
    if owner not in _runs:
        try:
            _runs[owner] = _open(context, asked, make)
        except EXPECTED as error:
            _failures[owner] = harmless.harmless(str(error))
            raise recording.Unready(_failures[owner]) from None
    return t.cast(R, _runs[owner])


def close_run(owner: str) -> None:
    """Give up the connections of a workload; harmless if there are none."""
    run = _runs.pop(owner, None)
    arrived = _kept.pop(owner, None)
    try:
        if run is not None:
            run.session.close()
    finally:
        if arrived is not None:
            arrived.close()


def _open(context: Context, asked: Asked, make: Maker[R]) -> R:
    # Rally imports all plugins for a mere list, which needs no cloud, no SSH.
    from rally_vmperf.execution import arrival
    from rally_vmperf.execution import reach
    from rally_vmperf.guests import cloud
    from rally_vmperf.guests import guest
    from rally_vmperf.guests import placement

    booted = context["vmperf_guests"]
    guests = [guest.from_plain(one) for one in booted["guests"]]
    owner = context["owner_id"]
    owner_of_guests = credentials.of_guests(context, booted["config"])
    connection = cloud.connect(owner_of_guests)
    times = db.workload_get(owner)["runner"].get("times", 1)
    if owner not in _kept:
        keep(owner, arrival.Guests(guests, booted["client_key"]))
    session = sessions.open_session(
        assignment.assign(asked.workloads),
        _kept[owner].places,
        reach.peer_station(asked.peer) if asked.peer else None,
        supply=supplying.of_options(booted["config"]),
        progress=LOG.info,
        runner=_kept[owner].runner,
    )

    def watch(
        names: collections.abc.Collection[str] | None = None,
    ) -> list[finding.Finding]:
        wanted = [g for g in guests if names is None or g.name in names]
        return placement.changes(connection, wanted)

    try:
        return make(
            context,
            {
                "task": context["task"]["uuid"],
                "workload": owner,
                "times": times,
                "warmup": asked.warmup,
                "session": session,
                "journal": journals.Journal(CONF.vmperf.journal_dir, owner),
                "watch": watch,
            },
        )
    except BaseException:
        session.close()
        raise
