"""The axes along which conditions of a repetition are compared."""

from rally_vmperf.judging import axis
from rally_vmperf.judging import gains
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.migration import figures
from rally_vmperf.measurement.migration import phases

#: The number of guests that run another workload.
NEIGHBOURS = axis.Axis(
    name="neighbours",
    limits={"max_percent": 1},
    no_pair="no counted repetition has it with and without neighbours",
    contrast=axis.Contrast(
        reference={"neighbours": False},
        other={"neighbours": True},
        names=("without neighbours", "with neighbours", "loss"),
    ),
)
#: The settings of guests. A least gain is a largest loss below zero.
VARIANTS = axis.Axis(
    name=repetition.VARIANT,
    limits={"min_gain_percent": -1, "max_loss_percent": 1},
    no_pair="no counted repetition has it of both variants",
    loss=verdict.GAIN,
    conclude=gains.conclude,
    has_own_guests=True,
)
#: The phases of a migration, whose figures belong to the phase during.
PHASES = axis.Axis(
    name=phases.AXIS,
    limits={"max_percent": 1},
    no_pair="no counted repetition has it before and after the migration",
    contrast=axis.Contrast(
        reference={phases.AXIS: "before"},
        other={phases.AXIS: "after"},
        names=("before", "after", "loss"),
    ),
    counts=axis.Counts(axes={phases.AXIS: "during"}, metrics=figures.METRICS),
)
