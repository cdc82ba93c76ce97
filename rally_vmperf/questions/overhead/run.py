"""How much of the machine a guest loses, against bare metal."""

from rally_vmperf.baseline import document
from rally_vmperf.runs import attempt
from rally_vmperf.runs import conditions
from rally_vmperf.runs import opened
from rally_vmperf.runs import run as runs
from rally_vmperf.runs import setting


def make(asked: opened.Asked) -> runs.Run:
    """Return a run with one condition: all guests at once."""
    shape = setting.shape_of(asked.booted.guests)

    def ready() -> attempt.Ready:
        if asked.baseline is None:
            raise document.BaselineError(
                "there is no baseline to compare guests with; record one "
                "with: rally-vmperf baseline record"
            )
        return asked.ready([shape])

    return runs.Run(
        **asked.common(),
        conditions=(conditions.Condition(copies=shape.copies),),
        unready=setting.of_guests(asked.booted, asked.assignments),
        open=ready,
    )
