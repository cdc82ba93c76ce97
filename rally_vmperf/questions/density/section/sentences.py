"""Sentences and figures, as text, of one metric of a density run."""

from rally_vmperf.measurement.density import law as laws
from rally_vmperf.measurement.density import rows
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units
from rally_vmperf.questions.density.section import shares


def limit_of(series: shares.Series, share: shares.Share) -> float | None:
    """Return the limit as a share, None where it does not hold."""
    row = series.row
    if row.limit is None or share.guests not in row.statuses:
        return None
    if row.compare_to == "solo_guest":
        return 1 - row.limit / 100 if series.base == 1 else None
    if share.bare is None:
        return None
    return share.bare * (1 - row.limit / 100)


def whose(row: rows.Row) -> str:
    """Return whose loss the limit is on, and against what."""
    who = "the mean guest" if row.statistic == "mean" else "the worst guest"
    whom = {"solo_guest": "a lone guest", "bare_metal": "a bare-metal copy"}
    return f"of {who} against {whom[row.compare_to]}"


def curve(series: shares.Series) -> str:
    """Return a curve as a sentence, for readers who cannot see it."""
    parts = [
        f"{units.number_of('guest', one.guests)} {percent(one.value)}"
        + (" (void)" if one.void else "")
        if one.value is not None
        else f"{units.number_of('guest', one.guests)} not measured"
        for one in series.shares
    ]
    return f"rate per guest in percent of {whole(series)}: {', '.join(parts)}"


def whole(series: shares.Series) -> str:
    """Return what 100 % stands for."""
    if series.base == 1:
        return "a lone guest"
    return f"one of {units.number_of('guest', series.base)}"


def unit(series: shares.Series) -> str:
    """Return what totals are counted in: ``lone guests``."""
    return "lone guests" if series.base == 1 else f"times {whole(series)}"


def total_of(series: shares.Series) -> str:
    """Return of which guests the total is."""
    if series.hosts == 1:
        return "all guests together"
    return "all guests of a host"


def percent(share: float) -> str:
    """Return a share as text: ``48.1 %``."""
    return f"{units.show_percent(share * 100)} %"


def rate(metric: sample.Metric, value: float) -> str:
    """Return a rate as text; that of a time is ``0.4 per s``."""
    if metric.better == "higher":
        return units.show(value, metric.unit)
    return units.show(value, f"per {metric.unit}")


def fits(row: rows.Row) -> list[str]:
    """Return how many guests fit within the limit, as the verdict says it."""
    return [
        sentence(one.removeprefix(f"{row.metric.name}: "))
        for one in row.remarks()
    ]


def sentence(text: str) -> str:
    """Return text as a sentence: with a capital and a full stop."""
    return f"{text[0].upper()}{text[1:]}."


def law(row: rows.Row) -> list[str]:
    """Return the fitted law with its intervals and its goodness."""
    found = row.law
    if found is None:
        return []
    most = found.largest
    peak = f"no peak can be told up to {units.number_of('guest', most)}"
    if found.peak is not None:
        peak = f"the total is largest at {found.peak:.1f} guests"
    elif found.total(most) > found.total(most - 1):
        peak = f"the total still rises at {units.number_of('guest', most)}"
    return [
        f"Universal Scalability Law: contention "
        f"{coefficient(found.contention)}, coherency "
        f"{coefficient(found.coherency)}; it explains "
        f"{percent(found.r_squared)} of the totals' variance, and {peak}."
    ]


def coefficient(found: laws.Coefficient) -> str:
    """Return a fitted number with its interval."""
    if found.low is None or found.high is None:
        return f"{found.value:.3g} (no interval)"
    return f"{found.value:.3g} ({found.low:.3g} to {found.high:.3g})"


def span(low: float | None, high: float | None, unit: str) -> str:
    """Return an interval in brackets, or nothing."""
    if low is None or high is None:
        return ""
    ends = f"{units.show_percent(low)} to {units.show_percent(high)}"
    return f" ({ends}{unit})"


def skew(seconds: float, error: float | None, repetition: int) -> str:
    """Return how far apart starts were: ``2.10 ms ± 400 us (3)``."""
    words = units.show(seconds, "s")
    if error is not None:
        words += f" ± {units.show(error, 's')}"
    return f"{words} ({repetition})"
