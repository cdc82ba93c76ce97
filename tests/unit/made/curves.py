# SPDX-License-Identifier: Apache-2.0
"""Rows of a density judgement, for drawings.

Guests follow a smooth curve up to a noise that is the same each time.
"""

from rally_vmperf.judging.results import build
from rally_vmperf.judging.results import result
from rally_vmperf.measurement.density import points
from rally_vmperf.measurement.samples import sample

#: Metric -> unit, direction, value of a solo guest, contention, coherency.
CURVE_METRICS = {
    "cpu.events.rate": ("events/s", "higher", 412.0, 0.31, 0.012),
    "cpu.bzip2.compress_time": ("s", "lower", 2.51, 0.29, 0.02),
    "memory.mbw.memcpy.bandwidth": ("B/s", "higher", 9.84e9, 0.02, 0.004),
    "disk.fio.randread.iops": ("ops/s", "higher", 48210.0, 0.42, 0.035),
    "disk.fio.randread.latency.p99": ("s", "lower", 0.00081, 0.5, 0.05),
    "network.iperf3.to_peer.throughput": (
        "bit/s",
        "higher",
        9.4e9,
        0.9,
        0.003,
    ),
}


#: What guests of a level have in percent of their mean, in this order.
_UNFAIR = (2.0, -3.0, 1.0, 0.5, -0.5, -1.5, 0.0, 1.5)


#: The same for repetitions.
_CURVE_NOISE = (0.0, 0.9, -1.1, 0.4, -0.6)


_BARE = 1.09


def density_row(
    name,
    levels=(1, 2, 3),
    limit=20.0,
    void=(),
    gaps=(),
    compare_to="solo_guest",
    statistic="mean",
    limited=None,
):
    """Return what is known of a metric.

    :param limited: The numbers of guests with the limit; by default all but
        one.
    :param void: The numbers of guests whose figures mean nothing.
    :param gaps: The numbers of guests for which nothing was measured.
    """
    unit, better, *_ = CURVE_METRICS[name]
    metric = sample.Metric(
        name=name,
        unit=unit,
        better=better,
        additive=True if name == "cpu.bzip2.compress_time" else None,
    )
    shown = []
    for guests in levels:
        lone = shown[0] if shown and shown[0].guests == 1 else None
        shown.append(
            _point(metric, guests, guests in void, guests in gaps, lone)
        )
    results = build.build_degradation(
        shown,
        None if limit is None else (limit, name),
        limited or [guests for guests in levels if guests > 1],
        statistic,
        compare_to,
        (),
    )
    return result.Curve(
        results=tuple(row.with_verdict((), False) for row in results)
    )


def unmeasured(name):
    """Return a metric of which nothing is known."""
    return density_row(name, gaps=(1, 2, 3))


def _curve_share(metric, guests):
    contention, coherency = CURVE_METRICS[metric.name][3:]
    more = guests - 1
    return 1 / (1 + contention * more + coherency * guests * more)


def _curve_value(metric, rate):
    lone = CURVE_METRICS[metric.name][2]
    return lone * rate if metric.better == "higher" else lone / rate


def _gathered(metric, guests, factor=1.0):
    return tuple(
        sample.MetricSamples(
            number=number,
            observations=tuple(
                sample.Observation(
                    source=f"g{place}",
                    sample=sample.Sample(
                        metric=metric,
                        value=_curve_value(
                            metric,
                            _curve_share(metric, guests)
                            * factor
                            * (1 + noise * guests / 100)
                            * (1 + _UNFAIR[place % 8] * (guests > 1) / 100),
                        ),
                    ),
                )
                for place in range(1, guests + 1)
            ),
        )
        for number, noise in enumerate(_CURVE_NOISE, 2)
    )


def _point(metric, guests, void, gap, lone):
    entries = () if gap else _gathered(metric, guests)
    return points.Point(
        metric=metric,
        guests=guests,
        samples=entries,
        bare=_gathered(metric, guests, _BARE),
        solo=lone,
        hosts={f"g{place}": "compute-1" for place in range(1, guests + 1)},
        void="started one after the other" if void else "",
        reason="no counted repetition has it for every guest" if gap else "",
    )
