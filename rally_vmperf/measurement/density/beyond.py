"""Whether a broken limit can still be kept by the repetitions to come."""

from rally_vmperf.measurement import beyond
from rally_vmperf.measurement import statistics
from rally_vmperf.measurement.density import comparing
from rally_vmperf.measurement.density import points


def beyond_return(row: points.Row, planned: int) -> bool:
    """Return whether a row has failed, and will have failed in the end.

    That is so if one of its levels has. Losses are asked as overhead is; a
    fairness that is beyond its limit in one of three repetitions or more
    stays there, as the worst is judged.

    :param planned: how many counted repetitions the task asks for
    """
    return row.limit is not None and any(
        _level(row, guests, row.limit, planned)
        for guests, status in row.statuses.items()
        if status == "failed"
    )


def _level(row: points.Row, guests: int, limit: float, planned: int) -> bool:
    if row.figure != "loss":
        point = row.point(guests)
        return point is not None and (len(point.gathered) >= statistics.FEWEST)
    found = comparing.of_points(
        row.metric, row.points, guests, row.of, row.against, row.confidence
    )
    if found is None:
        return False
    both = row.against == "one_guest"
    best = beyond.surest(found, planned, both)
    return best is not None and best > limit
