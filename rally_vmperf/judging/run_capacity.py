"""The number of guests that keep all limits of a density run."""

import dataclasses

from rally_vmperf.judging import judged_run
from rally_vmperf.measurement.density import max_guests


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunCapacity:
    """The number of guests on a host within all limits of a run.

    :param largest: The largest measured number.
    :param first_beyond: The metrics whose limit decides the number.
    :param has_free_guest: Whether a single guest was measured, and no limit
        applies to it, because it is the reference of the others.
    """

    number: max_guests.MaxGuests
    largest: int
    first_beyond: tuple[str, ...] = ()
    has_free_guest: bool = False

    @property
    def proven(self) -> int:
        """The largest number that is known to keep the limits."""
        free = int(self.has_free_guest and self.number.high != 0)
        return max(free, self.number.tested or 0, self.number.low or 0)

    @property
    def is_lower_bound(self) -> bool:
        """Whether more guests may keep the limits."""
        return self.number.high is None or self.number.high > self.proven


def find_capacity(run: judged_run.JudgedRun) -> RunCapacity | None:
    """Return the number of guests within all limits of a run.

    :returns: The number; None if the run has no limits for several guests.
    """
    rows = [
        row
        for row in run.judgement.curves
        if row.max_guests and row.limit is not None and row.measured
    ]
    number = max_guests.combine(row.max_guests for row in rows)
    if number is None:
        return None
    guests = {point.guests for row in rows for point in row.points}
    return RunCapacity(
        number=number,
        largest=max(guests),
        first_beyond=tuple(
            row.metric.name
            for row in rows
            if row.max_guests.high == number.high is not None
        ),
        has_free_guest=1 in guests
        and all(1 not in row.statuses for row in rows),
    )
