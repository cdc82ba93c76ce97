"""All that was seen in a run: by its parts, and in its figures."""

import collections.abc

from rally_vmperf.measurement import doubts
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement import rows

Seen = collections.abc.Iterator[tuple[finding.Finding, int | None]]


def everything(
    entries: collections.abc.Sequence[repetition.Repetition],
    compared: collections.abc.Iterable[rows.Row],
) -> Seen:
    """Return findings with the number of the repetition that shows them.

    What the figures of all repetitions show together has no number.
    """
    for entry in entries:
        for one in entry.findings:
            yield one, entry.number
    comparisons = [row.comparison for row in compared if row.comparison]
    for comparison in comparisons:
        for one in doubts.about(comparison):
            yield one, None
    if any(one.low is not None for one in comparisons):
        yield one_session(entries[0].reference), None
    yield from baseline_changed(entries)


def one_session(reference: repetition.Reference) -> finding.Finding:
    """Return the finding on what an interval is conditional."""
    return finding.Finding(
        kind="interval_one_session",
        subject=reference.name,
        seen=f"recorded {reference.recorded_at} on {reference.machine}",
    )


def baseline_changed(
    entries: collections.abc.Sequence[repetition.Repetition],
) -> Seen:
    """Return a finding for each repetition with another baseline."""
    for entry in entries[1:]:
        if entry.reference != entries[0].reference:
            yield (
                finding.Finding(
                    kind="baseline_changed",
                    subject=entries[0].reference.name,
                    seen=f"{_named(entries[0].reference)}, later "
                    f"{_named(entry.reference)}",
                ),
                entry.number,
            )


def _named(reference: repetition.Reference) -> str:
    return f"{reference.name!r} recorded {reference.recorded_at}"
