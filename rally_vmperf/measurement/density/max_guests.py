# SPDX-License-Identifier: Apache-2.0
"""The largest number of guests within a limit, from measured levels."""

import collections.abc
import dataclasses

from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import units

Verdicts = collections.abc.Mapping[int, verdict.Status]


@dataclasses.dataclass(frozen=True, kw_only=True)
class MaxGuests:
    """The largest number of guests within the limit.

    :param tested: The largest measured number up to which all levels are
        within the limit; 0 if the first is not; None if undecided.
    :param low: The smallest number that the measurements allow.
    :param high: The largest number that the measurements allow; None if
        they allow any.
    """

    tested: int | None
    low: int | None
    high: int | None

    def sentence(
        self,
        limit: float | None,
        largest: int,
        *,
        all_limits: str = "all limits",
    ) -> str:
        """Return how many guests fit within the limit, as a clause.

        :param limit: The limit in percent; None for the limits of several
            metrics.
        :param largest: The largest number of guests in the task.
        :param all_limits: The name of the limits of several metrics.
        """
        limit_text = f"within {all_limits}"
        if limit is not None:
            limit_text = f"within the limit of {limit:g} %"
        if self.tested is None:
            text = f"undecided how many guests are {limit_text}"
            ends = [f"at least {self.low}"] if self.low else []
            ends += [] if self.high is None else [f"at most {self.high}"]
            return f"{text}, {' and '.join(ends)}" if ends else text
        if self.tested == 0 and self.high == 0:
            return f"not even 1 guest {limit_text}"
        if self.high is not None and self.tested in (0, self.high):
            most = units.number_of("guest", self.high)
            return f"at most {most} {limit_text}"
        if self.high is not None and self.high < largest:
            return (
                f"at least {self.tested} and at most {self.high} guests "
                f"{limit_text}"
            )
        tested = units.number_of("guest", self.tested)
        return f"up to {tested}, the largest tested number, {limit_text}"


def max_guests(verdicts: Verdicts) -> MaxGuests:
    """Return the largest number of guests within the limit, with bounds.

    ``tested`` is the last passed level before the first level that is not
    passed.

    :param verdicts: The verdicts of the levels, by number of guests.
    """
    passed, tested = _last_passed(verdicts)
    failed = [
        guests
        for guests, status in verdicts.items()
        if status == "failed" and guests > passed
    ]
    return MaxGuests(
        tested=tested,
        low=passed if verdicts else None,
        high=min(failed) - 1 if failed else None,
    )


def combine(
    metrics: collections.abc.Iterable[MaxGuests],
) -> MaxGuests | None:
    """Return the largest number of guests within all limits.

    :param metrics: The numbers for each metric.
    :returns: The number, or None without metrics.
    """
    all_metrics = [*metrics]
    if not all_metrics:
        return None
    low = min(metric.low or 0 for metric in all_metrics)
    highs = [metric.high for metric in all_metrics if metric.high is not None]
    high = min(highs, default=None)
    tested = [
        metric.tested for metric in all_metrics if metric.tested is not None
    ]
    is_decided = len(tested) == len(all_metrics) or low == high
    return MaxGuests(
        tested=min(tested, default=None) if is_decided else None,
        low=low,
        high=high,
    )


def _last_passed(verdicts: Verdicts) -> tuple[int, int | None]:
    """Return the last level that passes, and it again if decided.

    It is decided if the next level failed or does not exist.
    """
    passed = 0
    for guests, status in sorted(verdicts.items()):
        if status != "passed":
            return passed, passed if status == "failed" else None
        passed = guests
    return passed, passed if verdicts else None
