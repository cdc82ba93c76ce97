"""What is missing from a density run, level by level."""

import dataclasses

from rally_vmperf.measurement.density import points
from rally_vmperf.questions.density.section import run as runs

#: Gaps of one level and repetition that are told; the record has them all.
MOST = 4


@dataclasses.dataclass(frozen=True, kw_only=True)
class Gap:
    """One level of one repetition that lacks something.

    :param state: incomplete, interrupted, skipped or never begun
    :param reasons: why, the first few
    :param more: how many are not told
    """

    guests: int
    repetition: int
    counted: bool
    state: str
    reasons: tuple[str, ...]
    more: int


def gaps(run: runs.Run) -> list[Gap]:
    """Return every level that is not whole, by guests and repetition."""
    found = []
    planned = {
        points.guests_of(x) for one in run.repetitions for x in one.conditions
    }
    for one in run.repetitions:
        for guests in planned:
            level = one.at(guests=guests)
            if level is None:
                state: str = "never begun"
                reasons: list[str] = []
            elif level.skipped:
                state, reasons = "skipped", [level.skipped]
            else:
                state = level.state
                reasons = [gap.sentence() for gap in level.missing]
            if state == "complete" and not reasons:
                continue
            found.append(
                Gap(
                    guests=guests,
                    repetition=one.number,
                    counted=one.counted,
                    state=state,
                    reasons=tuple(reasons[:MOST]),
                    more=max(0, len(reasons) - MOST),
                )
            )
    return sorted(found, key=lambda gap: (gap.guests, gap.repetition))
