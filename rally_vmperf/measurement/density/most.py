"""How many guests fit within a limit, in words."""

from rally_vmperf.measurement.density import points


def sentences(row: points.Row) -> list[str]:
    """Return how many guests fit within the limit, where it is known."""
    fits = row.fits
    if fits is None or row.limit is None or not row.measured:
        return []
    limit = f"within the limit of {row.limit:g} %"
    high = "" if fits.high is None else f" and at most {fits.high}"
    if fits.tested is None:
        words = f"undecided how many guests are {limit}"
        if fits.low:
            words += f", at least {fits.low}{high}"
    elif fits.tested == 0 and fits.high == 0:
        words = f"not even 1 guest {limit}"
    elif fits.high == fits.tested:
        words = f"at most {_guests(fits.tested)} {limit}"
    elif _broken(row):
        words = f"at least {fits.tested}{high} guests {limit}"
    else:
        words = f"all that was tested, up to {_guests(fits.tested)}, {limit}"
    if fits.predicted is not None:
        words += f"; the law predicts {fits.predicted}, {_between(fits)}"
    if fits.extrapolated and row.law is not None:
        words += f", extrapolated beyond {row.law.largest}"
    return [f"{row.metric.name}: {words}"]


def _broken(row: points.Row) -> bool:
    """Return whether a measured number of guests bounds the largest."""
    fits = row.fits
    largest = max((one.guests for one in row.points), default=0)
    return fits is not None and fits.high is not None and fits.high < largest


def _between(fits: points.Fits) -> str:
    if fits.high is None:
        return f"at least {fits.low}"
    return f"between {fits.low} and {fits.high}"


def _guests(number: int) -> str:
    return f"{number} {'guest' if number == 1 else 'guests'}"
