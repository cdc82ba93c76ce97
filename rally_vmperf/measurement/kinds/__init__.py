"""The closed list of findings, by what they concern."""

from rally_vmperf.measurement.kinds import base
from rally_vmperf.measurement.kinds import density
from rally_vmperf.measurement.kinds import figures
from rally_vmperf.measurement.kinds import guests
from rally_vmperf.measurement.kinds import machines

KINDS: dict[str, base.Kind] = {
    **machines.KINDS,
    **guests.KINDS,
    **figures.KINDS,
    **density.KINDS,
}
