# SPDX-License-Identifier: Apache-2.0
"""The number of guests that keep all limits of a density run."""

import dataclasses

from rally_vmperf.judging import counting
from rally_vmperf.judging import judged_run
from rally_vmperf.judging.results import result
from rally_vmperf.measurement import promises
from rally_vmperf.measurement import repetition
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


def find_capacities(run: judged_run.JudgedRun) -> dict[str, RunCapacity]:
    """Return the number of guests within all limits by offered load.

    The load of workloads at full speed is "". Without limits for several
    guests, there is none.
    """
    rows_by_load: dict[str, list[result.Curve]] = {}
    for row in _list_limited(run):
        # Raw outputs have no records.
        load = run.last.find_load(row.metric.name) if run.records else ""
        rows_by_load.setdefault(load, []).append(row)
    return {
        load: found
        for load, rows in rows_by_load.items()
        if (found := _combine(rows)) is not None
    }


def describe(run: judged_run.JudgedRun, load: str, found: RunCapacity) -> str:
    """Return how many guests fit within all limits, as a clause.

    The vCPUs per CPU follow if Nova or the task states the number of CPUs,
    and then whose guests they are if there are several hosts.

    :param load: The offered load; "" at full speed.
    :param found: The number of guests at this load.
    """
    limits = "all limits of losses" if _has_other_limits(run) else "all limits"
    text = found.number.sentence(None, found.largest, all_limits=limits)
    if load:
        text = f"at {load}, {text}"
    tested, cpus = found.number.tested, _count_host_cpus(run)
    if cpus and tested:
        ratio = tested * run.last.shape.vcpus / cpus
        text += f" ({ratio:.1f} vCPUs per CPU)"
    hosts = count_hosts(run)
    if hosts > 1:
        is_each = all(row.statistic == "worst" for row in _list_limited(run))
        subject = "on each" if is_each else "per host in the mean"
        text += f", {subject} of {hosts} hosts"
    return text


def count_hosts(run: judged_run.JudgedRun) -> int:
    """Return the number of hosts, each with the guests of a level."""
    levels = repetition.list_conditions(run.judged_repetitions)
    numbers = [
        len(level.machines) // (counting.guests_of(level) * level.batches)
        for level in levels
    ]
    return max([1, *numbers])


def _has_other_limits(run: judged_run.JudgedRun) -> bool:
    """Return whether there are limits of other figures than losses."""
    limited = sum(
        len(judgement.limited_groups) for judgement in run.judgements.values()
    )
    return limited > len(_list_limited(run))


def _count_host_cpus(run: judged_run.JudgedRun) -> int:
    """Return the number of CPUs of the smallest host; 0 if it is unknown.

    The number of Nova, which administrators see, precedes that of the task.
    It does not include dedicated CPUs.
    """
    if not run.records:
        return 0
    guests = run.of_role("guest")
    is_dedicated = any(
        promises.find_recorded_cpu_policy(guest.nova) != "shared"
        for guest in guests
    )
    numbers = [
        number
        for guest in guests
        if isinstance(number := guest.nova.get("host_vcpus"), int)
        and number > 0
        and not is_dedicated
    ]
    levels = run.last.options.get("levels")
    stated = levels.get("host_cpus") if isinstance(levels, dict) else None
    return min(numbers, default=stated if isinstance(stated, int) else 0)


def _list_limited(run: judged_run.JudgedRun) -> list[result.Curve]:
    """Return the measured metrics that have a limit for several guests."""
    return [
        row
        for row in run.judgement.curves
        if row.max_guests and row.limit is not None and row.measured
    ]


def _combine(rows: list[result.Curve]) -> RunCapacity | None:
    """Return the number of guests within the limits of all rows, or None."""
    found = {
        row.metric.name: row.max_guests
        for row in rows
        if row.max_guests is not None
    }
    number = max_guests.combine(found.values())
    if number is None:
        return None
    guests = {point.guests for row in rows for point in row.points}
    return RunCapacity(
        number=number,
        largest=max(guests),
        first_beyond=tuple(
            name
            for name, fitting in found.items()
            if fitting.high == number.high is not None
        ),
        has_free_guest=1 in guests
        and all(1 not in row.statuses for row in rows),
    )
