"""How much of the machine a guest loses, against bare metal."""

import datetime

from rally_vmperf.baseline import document
from rally_vmperf.execution import assignment
from rally_vmperf.runs import actions
from rally_vmperf.runs import attempt
from rally_vmperf.runs import comparability
from rally_vmperf.runs import conditions
from rally_vmperf.runs import opened
from rally_vmperf.runs import reference
from rally_vmperf.runs import run as runs
from rally_vmperf.runs import setting


def make(asked: opened.Asked) -> runs.Run:
    """Return a run with one condition: all guests at once."""
    guests = asked.booted.guests
    assignments = assignment.assign(asked.workloads)
    shape = setting.shape_of(guests)

    def ready() -> attempt.Ready:
        baseline = asked.baseline
        if baseline is None:
            raise document.BaselineError(
                "there is no baseline to compare guests with; record one "
                "with: rally-vmperf baseline record"
            )
        bare_metal, metrics = reference.reference(
            baseline, assignments, [shape]
        )
        connection = asked.connect()
        session = asked.session()
        now = datetime.datetime.now(datetime.UTC)
        return attempt.Ready(
            session=session,
            setting=setting.of_guests(
                asked.booted,
                assignments,
                session,
                reference=bare_metal,
                metrics=metrics,
                findings=reference.findings(baseline, assignments, shape, now)
                + comparability.machines(session, baseline)
                + comparability.alone(session)
                + comparability.data(session, baseline, shape)
                + comparability.hosts(guests, baseline),
            ),
            actions=(actions.Watch(connection, guests),),
        )

    return runs.Run(
        **asked.common(),
        conditions=(conditions.Condition(copies=shape.copies),),
        unready=setting.of_guests(asked.booted, assignments),
        open=ready,
    )
