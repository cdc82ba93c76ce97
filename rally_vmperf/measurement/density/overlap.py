"""How well machines ran a command together: skew and overlap."""

import collections.abc
import dataclasses
import heapq
import math

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.samples import units

#: Share of the run in which all machines must work. Below it the samples
#: do not say what so many machines do at once.
LIMIT = 0.95


@dataclasses.dataclass(frozen=True, kw_only=True)
class Span:
    """When one machine worked, on the controller's clock, in seconds.

    :param kept_up_until: when the uncounted load that followed the counted
        run ended; None where the machine stopped with its counted run
    :param error: by which its times may be wrong, all in the same direction
    :raises ValueError: for a time that is no number, or a negative error
    """

    machine: str
    started: float
    ended: float
    kept_up_until: float | None = None
    error: float = 0.0

    def __post_init__(self) -> None:
        kept = self.ended if self.kept_up_until is None else self.kept_up_until
        times = (self.started, self.ended, kept, self.error)
        if not all(math.isfinite(one) for one in times) or self.error < 0:
            raise ValueError(
                f"{self.machine} worked from {self.started} to {self.ended}, "
                f"until {kept}, give or take {self.error}, "
                "which is no span of time"
            )

    @property
    def seconds(self) -> float:
        """How long the counted run took; 0 where it ends before it starts."""
        return max(0.0, self.ended - self.started)

    @property
    def working_until(self) -> float:
        """When the machine stopped to work, counted or not."""
        if self.kept_up_until is None:
            return self.ended
        return max(self.ended, self.kept_up_until)


def start(
    workload: str,
    command: str,
    bound: repetition.Bound,
    spans: collections.abc.Sequence[Span],
) -> repetition.Synchronisation:
    """Return how well one command ran on all these machines at once."""
    if len(spans) < 2:
        skew = uncertainty = overlap = None
    else:
        skew, uncertainty = _skew(spans)
        overlap = _of_time(spans) if bound == "time" else _of_size(spans)
    return repetition.Synchronisation(
        workload=workload,
        command=command,
        bound=bound,
        skew=skew,
        uncertainty=uncertainty,
        overlap=overlap,
    )


def window(
    spans: collections.abc.Collection[Span],
) -> tuple[float, float] | None:
    """Return from when to when all worked; None for one alone, or never."""
    if len(spans) < 2:
        return None
    begin = max(one.started for one in spans)
    end = min(one.ended for one in spans)
    return (begin, end) if begin < end else None


def findings(
    starts: collections.abc.Iterable[
        tuple[repetition.Synchronisation, collections.abc.Collection[str]]
    ],
) -> list[finding.Finding]:
    """Return findings on commands that did not run at the same time.

    :param starts: each with the names of the metrics that the command gave;
        a command without metrics has no samples to void
    """
    return [
        finding.Finding(
            kind="partial_overlap",
            subject=subject,
            detail=f"{one.command}: all worked during "
            f"{_percent_below(one.overlap)} % of the run, "
            f"{LIMIT * 100:g} % is asked for; {_skew_text(one)}",
        )
        for one, given in starts
        if one.overlap is not None and one.overlap < LIMIT
        for subject in sorted(given)
    ]


def _skew(
    spans: collections.abc.Sequence[Span],
) -> tuple[float, float]:
    """Return last start less first, and by how much that may be wrong.

    Both ends move within their machines' errors, and another machine than
    the one that seems last may truly be it.
    """
    skew = max(one.started for one in spans) - min(
        one.started for one in spans
    )
    latest = heapq.nlargest(2, spans, key=lambda one: one.started + one.error)
    first = heapq.nsmallest(2, spans, key=lambda one: one.started - one.error)
    largest = max(
        (late.started + late.error) - (early.started - early.error)
        for late in latest
        for early in first
        if late is not early
    )
    smallest = max(one.started - one.error for one in spans) - min(
        one.started + one.error for one in spans
    )
    return skew, max(largest - skew, skew - max(0.0, smallest))


def _of_time(spans: collections.abc.Sequence[Span]) -> float:
    """Return common window over longest run."""
    common = min(one.ended for one in spans) - max(
        one.started for one in spans
    )
    return _share(common, max(one.seconds for one in spans))


def _of_size(spans: collections.abc.Sequence[Span]) -> float:
    """Return the worst share of a counted run in which all were working."""
    begin = max(one.started for one in spans)
    end = min(one.working_until for one in spans)
    return min(
        _share(min(one.ended, end) - max(one.started, begin), one.seconds)
        for one in spans
    )


def _share(part: float, whole: float) -> float:
    if whole <= 0:
        return 0.0
    return min(1.0, max(0.0, part) / whole)


def _percent_below(share: float) -> str:
    """Return a share in percent, never rounded up to a limit."""
    return units.show_percent(math.floor(share * 1000) / 10)


def _skew_text(one: repetition.Synchronisation) -> str:
    if one.skew is None or one.uncertainty is None:
        return "their starts are not known"
    return (
        f"they started within {one.skew * 1000:.0f} ms, give or take "
        f"{one.uncertainty * 1000:.0f} ms"
    )
