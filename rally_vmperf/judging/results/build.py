# SPDX-License-Identifier: Apache-2.0
"""The results of conditions, before they are judged."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.judging.results import absolute_value
from rally_vmperf.judging.results import figure as figures
from rally_vmperf.judging.results import plausibility
from rally_vmperf.judging.results import result
from rally_vmperf.judging.results import spreads
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import contrasts
from rally_vmperf.measurement.comparison import rate_caps
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.density import points
from rally_vmperf.measurement.samples import sample

#: A limit and the pattern that gave it.
Limit = tuple[float, str] | None
#: Findings on figures that do not measure what they claim.
_IMPLAUSIBLE = {"solo_guest_slow", "guest_faster"}
Results = collections.abc.Iterator[result.Result]
#: The conditions of the reference and of the other side.
Sides = tuple[gathering.Conditions, gathering.Conditions]


def _create(
    figure: figures.Figure, limit: Limit, **fields: t.Any
) -> result.Result:
    """Return an unjudged result of a figure.

    :param fields: The other fields of the result.
    """
    return result.Result(
        figure=figure,
        limit=limit and limit[0],
        pattern=limit and limit[1],
        **fields,
    )


def build_overhead(
    metric: sample.Metric,
    conditions: gathering.Conditions,
    reference: repetition.Reference,
    limit: Limit,
    confidence: float = 0.95,
    statistic: contrasts.Statistic = "mean",
    caps: tuple[rate_caps.Cap, ...] = (),
) -> result.Result:
    """Return the unjudged loss of guests against bare metal.

    :param caps: The bottlenecks that may limit the rate.
    """
    guest = gathering.guest_samples(metric, conditions)
    bare = gathering.bare_metal_samples(metric, reference)
    reason = "" if guest else gathering.NO_COMPLETE_SAMPLES
    if guest and not bare:
        reason = gathering.explain_missing(reference, metric)
    figure = figures.Loss(
        metric=metric,
        confidence=confidence,
        contrast=contrasts.Contrast(
            metric=metric, reference=bare, other=guest, confidence=confidence
        ),
        statistic=statistic,
        caps=caps,
    )
    return _create(figure, limit, reason=reason)


def build_pairs(
    metric: sample.Metric,
    sides: Sides,
    names: tuple[str, str, str],
    limit: Limit,
    confidence: float,
    no_pair: str,
    statistic: contrasts.Statistic = "mean",
    **fields: t.Any,
) -> result.Result:
    """Return the unjudged loss between conditions of the same repetitions.

    Each guest is compared with itself, or, if the conditions have guests of
    their own, with the guest of its rank.

    :param sides: The conditions of the reference and of the other side.
    :param names: The names of both sides and of the loss in sentences.
    :param no_pair: The reason why a metric has no pair.
    :param fields: The other fields of the result.
    """
    reference, other = gathering.pair_samples(metric, *sides)
    reference = gathering.name_alike(metric, reference, other)
    figure = figures.Loss(
        metric=metric,
        confidence=confidence,
        contrast=contrasts.Contrast(
            metric=metric,
            reference=reference,
            other=other,
            confidence=confidence,
            pairing="always",
            has_own_references=True,
        ),
        names=names,
        statistic=statistic,
    )
    reason = "" if reference else no_pair
    return _create(figure, limit, reason=reason, **fields)


def build_absolute(
    metric: sample.Metric,
    conditions: gathering.Conditions,
    reference: repetition.Reference,
    by_option: verdict.LimitsByOption,
    names: collections.abc.Collection[str],
    confidence: float,
    *,
    has_reference: bool = True,
    statistic: contrasts.Statistic = "mean",
    **fields: t.Any,
) -> Results:
    """Yield each unjudged absolute value of a metric.

    :param by_option: The limits of the criterion.
    :param names: The names of all metrics.
    :param has_reference: Whether guests are compared with a reference.
    :param fields: The other fields of the results.
    """
    guest = gathering.guest_samples(metric, conditions)
    for side in verdict.absolute_figures(
        metric, by_option, has_reference=has_reference
    ):
        figure = absolute_value.AbsoluteValue(
            metric=metric,
            confidence=confidence,
            side=side,
            guest=guest,
            bare=gathering.bare_metal_samples(metric, reference),
            statistic=statistic,
        )
        yield _create(
            figure,
            by_option[side].for_metric(metric.name, names),
            reason="" if guest else gathering.NO_COMPLETE_SAMPLES,
            **fields,
        )


def build_spread(
    compared: result.Result,
    kind: spreads.SpreadName,
    limit: Limit,
    statistic: contrasts.Statistic = "mean",
) -> result.Result:
    """Return an unjudged figure of the spread of repetitions.

    :param compared: The samples of the metric, compared with bare metal.
    """
    figure = spreads.SpreadFigure(
        metric=compared.metric,
        confidence=compared.figure.confidence,
        kind=kind,
        compared=compared,
        statistic=statistic,
    )
    return _create(figure, limit, reason=figure.explain_missing())


def build_degradation(
    all_points: collections.abc.Sequence[points.Point],
    limit: Limit,
    levels: collections.abc.Collection[int],
    statistic: contrasts.Statistic,
    compare_to: points.CompareTo,
    tolerate: collections.abc.Collection[str],
    metrics: int = 1,
) -> Results:
    """Yield the unjudged loss at each number of guests.

    :param all_points: The rates of a metric, with those of absent levels.
    :param levels: The numbers of guests to which the limit applies.
    :param tolerate: The kinds of findings that do not void.
    :param metrics: The number of metrics of the run.
    """
    if limit and not levels:
        levels, all_points = (0,), (*all_points, _without_level(all_points))
    slow = points.describe_slow_solo(all_points, metrics)
    is_slow = slow and compare_to == "solo_guest"
    for point in all_points:
        figure = _create_loss(point, statistic, compare_to)
        reason = ""
        if compare_to == "solo_guest" and statistic == "worst":
            reason = point.why_worst_is_unknown
        kinds = {"solo_guest_slow"} if is_slow else set()
        compared = point.compared(statistic, compare_to)
        if compare_to == "bare_metal" and compared:
            kinds |= {
                found.kind
                for found in plausibility.guest_faster(compared, metrics)
            }
        if reason:
            nothing = dataclasses.replace(figure.contrast, reference=())
            figure = dataclasses.replace(figure, contrast=nothing)
        elif figure.estimate() is None:
            reason = points.missing_figure_reason(point, "loss", compare_to)
        void = point.void_against(compare_to)
        is_implausible = bool((kinds & _IMPLAUSIBLE) - {*tolerate})
        yield _create_at(
            figure,
            limit,
            levels,
            reason=reason,
            void=void,
            skipped=point.skipped,
            is_void=bool(void or is_implausible)
            and not (figure.is_reference or point.is_absent),
        )


def _create_loss(
    point: points.Point,
    statistic: contrasts.Statistic,
    compare_to: points.CompareTo,
) -> figures.Loss:
    """Return the loss at a number of guests."""
    is_solo = compare_to == "solo_guest"
    return figures.Loss(
        metric=point.metric,
        confidence=point.confidence,
        point=point,
        contrast=point.contrast(compare_to),
        names=(
            points.reference_label(point.guests, statistic, compare_to),
            point.subject_label,
            "loss",
        ),
        statistic=statistic,
        caps=() if is_solo else (point.caps or ()),
        compare_to=compare_to,
        # The solo guest loses nothing against itself.
        is_reference=is_solo and point.guests == 1 and point.usable,
    )


def build_fairness(
    all_points: collections.abc.Sequence[points.Point],
    kind: t.Literal["index", "spread"],
    limit: Limit,
    levels: collections.abc.Collection[int],
) -> Results:
    """Yield an unjudged figure of fairness at each number of guests.

    :param levels: The numbers of guests to which the limit applies.
    """
    if limit and not levels:
        levels, all_points = (0,), (*all_points, _without_level(all_points))
    for point in all_points:
        figure = spreads.Fairness(
            metric=point.metric,
            confidence=point.confidence,
            point=point,
            kind=kind,
        )
        reason = ""
        if figure.unevenness is None:
            reason = points.missing_figure_reason(point, kind, "solo_guest")
        yield _create_at(
            figure,
            limit,
            levels,
            reason=reason,
            void=point.void,
            is_void=bool(point.void),
        )


def _without_level(
    all_points: collections.abc.Sequence[points.Point],
) -> points.Point:
    """Return a point for a limit that applies to no number of guests."""
    return points.Point(
        metric=all_points[0].metric,
        guests=0,
        samples=(),
        reason="the limit applies to no level",
        is_absent=True,
    )


def _create_at(
    figure: figures.Figure,
    limit: Limit,
    levels: collections.abc.Collection[int],
    **fields: t.Any,
) -> result.Result:
    """Return the unjudged result of a figure at a number of guests."""
    guests = t.cast(points.Point, figure.point).guests
    limit = limit if guests in levels else None
    return _create(figure, limit, guests=guests or None, **fields)
