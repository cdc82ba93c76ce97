"""Rows of a density judgement made by hand, for the tests of drawings.

Guests follow the Universal Scalability Law up to a noise that is the same
each time.
"""

import statistics

from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import sample
from rally_vmperf.measurement.density import points

#: Metric -> unit, direction, value of a lone guest, contention, coherency.
METRICS = {
    "cpu.events.rate": ("events/s", "higher", 412.0, 0.31, 0.012),
    "cpu.compress_time": ("s", "lower", 2.51, 0.29, 0.02),
    "memory.memcpy.rate": ("B/s", "higher", 9.84e9, 0.02, 0.004),
    "disk.randread.iops": ("ops/s", "higher", 48210.0, 0.42, 0.035),
    "disk.randread.latency.p99": ("s", "lower", 0.00081, 0.5, 0.05),
    "network.to_peer.throughput": ("bit/s", "higher", 9.4e9, 0.9, 0.003),
}
#: What guests of a level have in percent of their mean, in this order.
_UNFAIR = (2.0, -3.0, 1.0, 0.5, -0.5, -1.5, 0.0, 1.5)
#: The same for repetitions.
_NOISE = (0.0, 0.9, -1.1, 0.4, -0.6)
_BARE = 1.09


def row(name, levels=(1, 2, 3), limit=20.0, void=(), gaps=(), **changes):
    """Return what is known of a metric.

    :param void: numbers of guests whose figures mean nothing
    :param gaps: numbers of guests for which nothing was measured
    """
    unit, better, *_ = METRICS[name]
    metric = sample.Metric(name=name, unit=unit, better=better)
    shown = tuple(_point(metric, n, n in void, n in gaps) for n in levels)
    usable = [one for one in shown if one.usable]
    law = _law(metric, max(levels)) if len(usable) > 3 else None
    statuses = {
        one.guests: _status(one, limit)
        for one in shown
        if one.guests > 1 and limit is not None
    }
    whole = {
        "metric": metric,
        "points": shown,
        "line": points.Line(
            percent=11.2, low=9.8, high=12.7, linear=None, seen="two losses"
        ),
        "law": law,
        "fits": None if limit is None else _fits(shown, limit, law),
        "limit": limit,
        "pattern": name,
        "statuses": statuses,
        "status": "void" if void else max(statuses.values(), default=None),
        "findings": (),
        "reason": "",
    }
    return points.Row(**{**whole, **changes})


def unmeasured(name, reason="no counted repetition holds it"):
    """Return a metric of which nothing is known."""
    return row(name, gaps=(1, 2, 3), line=None, fits=None, reason=reason)


def _share(metric, guests):
    contention, coherency = METRICS[metric.name][3:]
    more = guests - 1
    return 1 / (1 + contention * more + coherency * guests * more)


def _value(metric, rate):
    lone = METRICS[metric.name][2]
    return lone * rate if metric.better == "higher" else lone / rate


def _rate(metric, value):
    return value if metric.better == "higher" else 1 / value


def _gathered(metric, guests):
    return tuple(
        gathering.Gathered(
            number=number,
            observations=tuple(
                sample.Observation(
                    source=f"g{place}",
                    sample=sample.Sample(
                        metric=metric,
                        value=_value(
                            metric,
                            _share(metric, guests)
                            * (1 + noise * guests / 100)
                            * (1 + _UNFAIR[place % 8] * (guests > 1) / 100),
                        ),
                    ),
                )
                for place in range(1, guests + 1)
            ),
        )
        for number, noise in enumerate(_NOISE, 2)
    )


def _point(metric, guests, void, gap):
    entries = () if gap else _gathered(metric, guests)
    additive = "latency" not in metric.name
    totals = tuple(
        sum(_rate(metric, value) for value in entry.values)
        for entry in entries
        if additive
    )
    alone = guests == 1
    bare = None if alone or gap else _loss(1 - _share(metric, guests) / 1.09)
    return points.Point(
        guests=guests,
        gathered=entries,
        mean=None if gap else _value(metric, _share(metric, guests)),
        worst=None
        if gap
        else points.Worst(
            guest="g1",
            host="compute-1",
            value=_value(metric, _share(metric, guests) * 0.95),
            loss=None if alone else _loss(1 - _share(metric, guests) * 0.95),
        ),
        spread_percent=None if alone or gap else 1.7,
        fairness=None if gap else 1 - 0.001 * guests,
        total=statistics.fmean(totals) if totals else None,
        totals=totals,
        loss=None if alone or gap else _loss(1 - _share(metric, guests)),
        bare_mean=_value(metric, _share(metric, guests) * _BARE),
        bare_total=_rate(metric, _value(metric, _share(metric, guests)))
        * guests
        * _BARE
        if additive
        else None,
        bare_loss=bare,
        bare_worst_loss=bare,
        void="started one after the other" if void else "",
        reason="no counted repetition holds it of every guest" if gap else "",
    )


def _loss(share):
    return points.Loss(
        percent=share * 100, low=share * 100 - 2.2, high=share * 100 + 2.2
    )


def _law(metric, largest):
    contention, coherency = METRICS[metric.name][3:]
    alone = _rate(metric, METRICS[metric.name][2])
    peak = ((1 - contention) / coherency) ** 0.5
    return points.Law(
        rate=_coefficient(alone),
        contention=_coefficient(contention),
        coherency=_coefficient(coherency),
        r_squared=0.993,
        peak=peak,
        contradicted="",
        largest=largest,
    )


def _coefficient(value):
    return points.Coefficient(value=value, low=value * 0.9, high=value * 1.1)


def _status(point, limit):
    if not point.usable:
        return "void" if point.void else "inconclusive"
    if point.loss.high <= limit:
        return "passed"
    return "failed" if point.loss.low > limit else "inconclusive"


def _fits(shown, limit, law):
    tested = 0
    for point in shown:
        if not point.usable or (point.loss and point.loss.percent > limit):
            break
        tested = point.guests
    beyond = tested == shown[-1].guests
    return points.Fits(
        tested=tested,
        predicted=tested + 3 if law and beyond else None,
        low=tested,
        high=tested + 1,
        extrapolated=bool(law and beyond),
    )
