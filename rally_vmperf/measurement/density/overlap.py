# SPDX-License-Identifier: Apache-2.0
"""The simultaneity of a command on several machines: skew and overlap."""

import collections.abc
import dataclasses
import heapq
import math

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.samples import units

#: Share of the run in which all machines must work. Below it the samples
#: are not those of concurrent machines.
MIN_OVERLAP = 0.9


@dataclasses.dataclass(frozen=True, kw_only=True)
class Span:
    """The working time of one machine, on the controller's clock, in seconds.

    :param kept_up_until: The end of the uncounted load after the counted
        run; None if the machine stopped with its counted run.
    :param error: The error of all times, in the same direction.
    :raises ValueError: If a time is not a finite number or the error is
        negative.
    """

    machine: str
    started: float
    ended: float
    kept_up_until: float | None = None
    error: float = 0.0

    def __post_init__(self) -> None:
        working_until = (
            self.ended if self.kept_up_until is None else self.kept_up_until
        )
        times = (self.started, self.ended, working_until, self.error)
        if not all(math.isfinite(time) for time in times) or self.error < 0:
            raise ValueError(
                f"{self.machine} worked from {self.started} to {self.ended}, "
                f"until {working_until}, give or take {self.error}: "
                "times must be finite, and the error must be >= 0"
            )

    @property
    def seconds(self) -> float:
        """The duration of the counted run in seconds; 0 if negative."""
        return max(0.0, self.ended - self.started)

    @property
    def working_until(self) -> float:
        """The time at which the machine's load ends, counted or not."""
        if self.kept_up_until is None:
            return self.ended
        return max(self.ended, self.kept_up_until)


def compute_synchronisation(
    workload: str,
    command: str,
    bound: repetition.Bound,
    spans: collections.abc.Sequence[Span],
    metrics: collections.abc.Iterable[str],
) -> repetition.Synchronisation:
    """Return the start skew and the overlap of one command."""
    if len(spans) < 2:
        skew = uncertainty = overlap = None
    else:
        skew, uncertainty = _compute_skew(spans)
        overlap = (
            _overlap_of_time_bound(spans)
            if bound == "time"
            else _overlap_of_size_bound(spans)
        )
    return repetition.Synchronisation(
        workload=workload,
        command=command,
        bound=bound,
        skew=skew,
        uncertainty=uncertainty,
        overlap=overlap,
        metrics=tuple(sorted(metrics)),
    )


def common_window(
    spans: collections.abc.Collection[Span],
) -> tuple[float, float] | None:
    """Return begin and end of the time all machines worked, or None.

    None for fewer than two machines, and if there is no such time.
    """
    if len(spans) < 2:
        return None
    begin = max(span.started for span in spans)
    end = min(span.ended for span in spans)
    return (begin, end) if begin < end else None


def findings(
    starts: collections.abc.Iterable[repetition.Synchronisation],
) -> list[finding.Finding]:
    """Return findings on commands that did not overlap, as a list.

    A command without metrics has no samples to void.
    """
    return [
        finding.Finding(
            kind="partial_overlap",
            subject=subject,
            detail=f"{start.command}: all worked during "
            f"{_percent_below(start.overlap)} % of the run, "
            f"{MIN_OVERLAP * 100:g} % is required; {_describe_skew(start)}",
        )
        for start in starts
        if start.overlap is not None and start.overlap < MIN_OVERLAP
        for subject in start.metrics
    ]


def _compute_skew(
    spans: collections.abc.Sequence[Span],
) -> tuple[float, float]:
    """Return the last start less the first, and its error, in seconds.

    Both ends vary within their machines' errors; therefore the true last
    machine may differ from the one that seems last.
    """
    skew = max(span.started for span in spans) - min(
        span.started for span in spans
    )
    latest = heapq.nlargest(
        2, spans, key=lambda span: span.started + span.error
    )
    first = heapq.nsmallest(
        2, spans, key=lambda span: span.started - span.error
    )
    largest = max(
        (late.started + late.error) - (early.started - early.error)
        for late in latest
        for early in first
        if late is not early
    )
    smallest = max(span.started - span.error for span in spans) - min(
        span.started + span.error for span in spans
    )
    return skew, max(largest - skew, skew - max(0.0, smallest))


def _overlap_of_time_bound(spans: collections.abc.Sequence[Span]) -> float:
    """Return the common time as a share of the longest run."""
    common = min(span.ended for span in spans) - max(
        span.started for span in spans
    )
    return _limit_share(common, max(span.seconds for span in spans))


def _overlap_of_size_bound(spans: collections.abc.Sequence[Span]) -> float:
    """Return the smallest share of a counted run in which all worked."""
    begin = max(span.started for span in spans)
    end = min(span.working_until for span in spans)
    return min(
        _limit_share(
            min(span.ended, end) - max(span.started, begin), span.seconds
        )
        for span in spans
    )


def _limit_share(seconds: float, run_seconds: float) -> float:
    """Return a time as a share of a run, between 0 and 1."""
    if run_seconds <= 0:
        return 0.0
    return min(1.0, max(0.0, seconds) / run_seconds)


def _percent_below(share: float) -> str:
    """Return a share in percent as text, rounded down."""
    return units.show_percent(math.floor(share * 1000) / 10)


def _describe_skew(start: repetition.Synchronisation) -> str:
    """Return how far apart machines started, as a clause."""
    if start.skew is None or start.uncertainty is None:
        return "their starts are not known"
    return (
        f"they started within {start.skew * 1000:.0f} ms, give or take "
        f"{start.uncertainty * 1000:.0f} ms"
    )
