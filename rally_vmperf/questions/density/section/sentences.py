# SPDX-License-Identifier: Apache-2.0
"""Sentences and figures about one metric of a density run."""

from rally_vmperf.judging.results import result
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units
from rally_vmperf.questions.density.section import shares


def limit_of(series: shares.ShareSeries, share: shares.Share) -> float | None:
    """Return the limit as a share of the solo rate; None if unlimited."""
    row = series.row
    if row.limit is None or share.guests not in row.statuses:
        return None
    if row.compare_to == "solo_guest":
        return 1 - row.limit / 100 if series.base == 1 else None
    if share.bare is None:
        return None
    return share.bare * (1 - row.limit / 100)


def describe_limited_loss(row: result.Curve) -> str:
    """Return which guest is limited against which reference, as text."""
    guest = "the mean guest" if row.statistic == "mean" else "the worst guest"
    references = {
        "solo_guest": "a solo guest",
        "bare_metal": "a bare-metal copy",
    }
    return f"of {guest} against {references[row.compare_to]}"


def curve(series: shares.ShareSeries) -> str:
    """Return the course of a curve as text for screen readers."""
    parts = [
        f"{units.number_of('guest', share.guests)} {percent(share.value)}"
        + (" (void)" if share.void else "")
        if share.value is not None
        else f"{units.number_of('guest', share.guests)} not measured"
        for share in series.shares
    ]
    rates = ", ".join(parts)
    return f"rate per guest in percent of {reference_label(series)}: {rates}"


def reference_label(series: shares.ShareSeries) -> str:
    """Return the name of the reference that is 100 %, as text."""
    if series.base == 1:
        return "a solo guest"
    return f"one of {units.number_of('guest', series.base)}"


def unit(series: shares.ShareSeries) -> str:
    """Return the unit of totals as text: ``solo guests``."""
    return (
        "solo guests"
        if series.base == 1
        else f"times {reference_label(series)}"
    )


def total_of(series: shares.ShareSeries) -> str:
    """Return whose total is drawn as text: all guests, or those of a host."""
    if series.hosts == 1:
        return "all guests together"
    return "all guests of a host"


def percent(share: float) -> str:
    """Return a share as text: ``48.1 %``."""
    return f"{units.show_percent(share * 100)} %"


def rate(metric: sample.Metric, figure: float) -> str:
    """Return a rate as text; the rate of a time is ``0.4 per s``."""
    if metric.better == "higher":
        return units.show(figure, metric.unit)
    return units.show(figure, f"per {metric.unit}")


def max_guests(row: result.Curve) -> list[str]:
    """Return the sentences of a verdict on the host's capacity, a list."""
    return [
        sentence(remark.removeprefix(f"{row.metric.name}: "))
        for remark in row.remarks()
    ]


def sentence(text: str) -> str:
    """Return text as a sentence with a capital and a full stop."""
    return f"{text[0].upper()}{text[1:]}."


def skew(seconds: float, error: float | None, repetition: int) -> str:
    """Return the start skew as text: ``2.10 ms ± 400 us (3)``."""
    text = units.show(seconds, "s")
    if error is not None:
        text += f" ± {units.show(error, 's')}"
    return f"{text} ({repetition})"
