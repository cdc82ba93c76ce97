# SPDX-License-Identifier: Apache-2.0
"""The limit that a run came closest to, or exceeded most."""

import math

from rally_vmperf.judging import summary
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import units


def describe(judgement: summary.Judgement) -> str:
    """Return the closest figure and its limit as a sentence, or "".

    It is that of the results with the status of the run, by the share of the
    limit that the figure takes.
    """
    candidates = [
        (_share(value), result, value)
        for result in judgement.limited
        for value in [result.to_value()]
        if value.status == judgement.status != "void"
    ]
    measured = [each for each in candidates if math.isfinite(each[0])]
    if not measured:
        return ""
    _, result, value = max(measured, key=lambda candidate: candidate[0])
    is_beyond = judgement.status == "failed" or _share(value) > 1
    word = "Furthest beyond" if is_beyond else "Closest"
    return f"{word}: {result.metric_title}, {format_figure(value)}"


def format_figure(value: verdict.FigureValue) -> str:
    """Return a figure as text: ``81.1 % at 4 guests (limit 5 %)``."""
    estimate = value.estimate
    if estimate is None or value.limit is None:
        return value.reason or "not measured"
    shown, _ = units.show_estimate(estimate, value.unit, value.limit)
    if value.guests is not None:
        shown = f"{shown} at {units.number_of('guest', value.guests)}"
    least = "least " if value.is_minimum else ""
    limit = units.show_limit(value.limit, value.unit)
    return f"{shown} ({least}limit {limit})"


def _share(value: verdict.FigureValue) -> float:
    """Return the share of its limit that a figure takes; above 1 is beyond.

    A limit of zero or less has no shares: the distance counts instead. Of
    two negative gains, the share is that of the losses.
    """
    if value.value is None or value.limit is None:
        return math.nan
    figure, limit = value.value, value.limit
    if value.is_minimum:
        if max(figure, limit) < 0:
            return figure / limit
        figure, limit = limit, figure
    if limit <= 0:
        return 1 + (figure - limit) / 100
    return figure / limit
