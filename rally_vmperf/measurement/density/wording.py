"""What is said of a metric, one line each."""

from rally_vmperf.measurement import loss
from rally_vmperf.measurement import needed
from rally_vmperf.measurement import statistics
from rally_vmperf.measurement import units
from rally_vmperf.measurement import verdict
from rally_vmperf.measurement.density import levels
from rally_vmperf.measurement.density import points
from rally_vmperf.measurement.density import rates

#: How many levels of a metric are told in full; the report has them all.
SHOWN = 3


def lines(row: points.Row) -> list[str]:
    """Return what is to be said of a metric that has a limit.

    The levels that share its verdict, fewest guests first, and how many
    guests fit.
    """
    if not row.statuses:
        return [f"{row.metric.name}: no number of guests to hold a limit at"]
    same = [
        guests for guests, one in row.statuses.items() if one == row.status
    ]
    told = [sentence(row, guests) for guests in same[:SHOWN]]
    if len(same) > SHOWN:
        others = ", ".join(map(str, same[SHOWN:]))
        told.append(f"{row.metric.name} at {others} guests: {row.status} too")
    return [*told, *fits(row)]


def fits(row: points.Row) -> list[str]:
    """Return how many guests fit within the limit, where it is known."""
    found = row.fits
    if found is None or row.limit is None or not row.measured:
        return []
    limit = f"within the limit of {row.limit:g} %"
    high = "" if found.high is None else f" and at most {found.high}"
    if found.tested is None:
        words = f"undecided how many guests are {limit}"
        if found.low:
            words += f", at least {found.low}{high}"
    elif found.tested == 0 and found.high == 0:
        words = f"not even 1 guest {limit}"
    elif found.high == found.tested:
        words = f"at most {_guests(found.tested)} {limit}"
    elif _broken(row):
        words = f"at least {found.tested}{high} guests {limit}"
    else:
        words = f"all that was tested, up to {_guests(found.tested)}, {limit}"
    if found.predicted is not None:
        words += f"; the law predicts {found.predicted}, {_between(found)}"
    if found.extrapolated and row.law is not None:
        words += f", extrapolated beyond {row.law.largest}"
    return [f"{row.metric.name}: {words}"]


def _broken(row: points.Row) -> bool:
    """Return whether a measured number of guests bounds the largest."""
    found = row.fits
    largest = max((one.guests for one in row.points), default=0)
    return (
        found is not None and found.high is not None and found.high < largest
    )


def _between(found: points.Fits) -> str:
    if found.high is None:
        return f"at least {found.low}"
    return f"between {found.low} and {found.high}"


def sentence(row: points.Row, guests: int) -> str:
    """Return figures, limit and verdict of one number of guests."""
    status = row.statuses.get(guests)
    words = f"{row.metric.name} at {_guests(guests)}: "
    if row.figure == "loss":
        words += _lost(row, guests, status)
    else:
        words += _shared(row, guests, status)
    if status == "void":
        why = _void(row, guests)
        voids = [one.sentence() for one in row.findings if one.voids]
        for one in [why] if why else voids:
            words += f". {one}"
    return words


def _void(row: points.Row, guests: int) -> str:
    if row.figure == "loss":
        return levels.void(row.points, guests, row.against)
    point = row.point(guests)
    return point.void if point else ""


def _lost(row: points.Row, guests: int, status: verdict.Status | None) -> str:
    point = row.point(guests)
    found = rates.compare_points(
        row.metric, row.points, guests, row.of, row.against, row.confidence
    )
    if found is None or point is None or row.limit is None:
        return f"{_absence(row, guests)}: {status or 'not judged'}"
    words = (
        f"{_reference(row, found, guests)}, {_loser(row, point)} "
        f"{_own(row, found.guest)}, loss "
        f"{units.show_percent(found.overhead_percent)} %"
    )
    if row.metric.better == "lower":
        words += " of the rate"
    words += f" ({verdict.interval(found)}), limit {row.limit:g} %"
    if status is None:
        return f"{words}, not held here"
    words += f": {status}"
    if status == "inconclusive":
        more = (
            needed.of_both_sides(found, row.limit)
            if row.against == "one_guest"
            else needed.repetitions_needed(found, row.limit)
        )
        words += f", {more.sentence('loss')}"
    return words


def _reference(row: points.Row, found: loss.Comparison, guests: int) -> str:
    if row.against == "one_guest":
        name = "one guest"
    elif guests == 1:
        name = "one bare-metal copy"
    else:
        name = f"mean of {guests} bare-metal copies"
    return f"{name} {_own(row, found.bare)}"


def _loser(row: points.Row, point: points.Point) -> str:
    if row.of == "mean" or point.worst is None:
        return (
            "guest" if point.guests == 1 else f"mean of {point.guests} guests"
        )
    where = f" on {point.worst.host}" if point.worst.host else ""
    return f"worst of {_guests(point.guests)} ({point.worst.guest}{where})"


def _own(row: points.Row, rate: float) -> str:
    """Show a rate in the metric's own unit."""
    return units.show(rates.convert(row.metric, rate), row.metric.unit)


def _shared(
    row: points.Row, guests: int, status: verdict.Status | None
) -> str:
    point = row.point(guests)
    if point is None or point.fairness is None or point.spread_percent is None:
        return f"{_absence(row, guests)}: {status or 'not judged'}"
    if row.figure == "index":
        worst = point.fairnesses.index(point.fairness)
        figure = f"fairness index {point.fairness:.3f}"
        limit = f"smallest {row.limit:g}" if row.limit is not None else ""
    else:
        worst = point.spreads.index(point.spread_percent)
        figure = f"spread {units.show_percent(point.spread_percent)} %"
        limit = f"largest {row.limit:g} %" if row.limit is not None else ""
    number = point.gathered[worst].number
    words = f"{figure} in its worst repetition ({number})"
    if not limit:
        return f"{words}, no limit"
    words += f", {limit}: {status}"
    if status == "inconclusive":
        words += f", at least {statistics.FEWEST} repetitions would decide"
    return words


def _absence(row: points.Row, guests: int) -> str:
    """Return why there is no figure for so many guests."""
    point = row.point(guests)
    if point is None:
        return "the task has no such level"
    if point.reason:
        return point.reason
    if row.figure != "loss":
        return "a single guest shares with nobody"
    if row.against == "bare_metal":
        copies = "copy" if guests == 1 else "copies"
        return (
            f"the baseline does not have it of {guests} {copies}, record it "
            f"with --copies {guests}"
        )
    lone = row.point(1)
    if lone is None:
        return "the task has no level of one guest to compare with"
    return f"one guest: {lone.reason}"


def _guests(number: int) -> str:
    return f"{number} {'guest' if number == 1 else 'guests'}"
