"""What figures say against themselves, and on what they are conditional."""

import collections.abc

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import loss
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement import statistics
from rally_vmperf.measurement import units

#: A guest that is better than bare metal by more than this, in percent and
#: over the whole interval, did not do the same work on a comparable machine.
#: Below it are the differences of two boots of one machine.
FASTER_PERCENT = 5.0
#: Spread between repetitions, in percent, from which a side is unstable.
UNSTABLE_PERCENT = 10.0


def about(
    comparison: loss.Comparison,
) -> collections.abc.Iterator[finding.Finding]:
    """Return the findings that the figures themselves give rise to."""
    yield from faster(comparison)
    yield from _few(comparison)
    yield from _unstable(comparison)
    values = set(comparison.bare_values), set(comparison.guest_values)
    if comparison.low is not None and max(map(len, values)) == 1:
        seen = "all repetitions are equal on each side"
        yield _finding("no_spread", comparison, seen)


def faster(
    comparison: loss.Comparison,
) -> collections.abc.Iterator[finding.Finding]:
    """Return the finding that the guest is better than bare metal can be."""
    percent = comparison.overhead_percent
    seen = (
        f"the guest is better by {units.show_percent(-percent)} % "
        "of bare metal"
    )
    high = comparison.high
    if high is not None and high < -FASTER_PERCENT:
        yield _finding("guest_faster", comparison, seen)
    elif percent < -FASTER_PERCENT or (high is not None and high < 0):
        yield _finding("guest_slightly_faster", comparison, seen)


def _few(
    comparison: loss.Comparison,
) -> collections.abc.Iterator[finding.Finding]:
    if comparison.low is None:
        seen = (
            f"{comparison.bare_repetitions} of bare metal, "
            f"{comparison.guest_repetitions} of the guest"
        )
        yield _finding("too_few_samples", comparison, seen)


def _unstable(
    comparison: loss.Comparison,
) -> collections.abc.Iterator[finding.Finding]:
    for side, values in (
        ("bare metal", comparison.bare_values),
        ("guest", comparison.guest_values),
    ):
        spread = statistics.spread_percent(values)
        if spread is not None and spread > UNSTABLE_PERCENT:
            seen = f"{side} varies by {units.show_percent(spread)} %"
            yield _finding("unstable", comparison, seen)


def _finding(
    kind: str, comparison: loss.Comparison, seen: str
) -> finding.Finding:
    return finding.Finding(
        kind=kind, subject=comparison.metric.name, seen=seen
    )


def one_session(reference: repetition.Reference) -> finding.Finding:
    """Return the finding on what an interval is conditional."""
    return finding.Finding(
        kind="interval_one_session",
        subject=reference.name,
        seen=f"recorded {reference.recorded_at} on {reference.machine}",
    )


def baseline_changed(
    entries: collections.abc.Iterable[repetition.Condition],
) -> finding.Seen:
    """Return a finding for each repetition with another baseline.

    What measured nothing is compared with nothing.
    """
    first: repetition.Reference | None = None
    for entry in entries:
        if not entry.observations:
            continue
        first = first or entry.reference
        if entry.reference != first:
            yield (
                finding.Finding(
                    kind="baseline_changed",
                    subject=first.name,
                    seen=f"{_named(first)}, later {_named(entry.reference)}",
                ),
                entry.number,
            )


def _named(reference: repetition.Reference) -> str:
    return f"{reference.name!r} recorded {reference.recorded_at}"
