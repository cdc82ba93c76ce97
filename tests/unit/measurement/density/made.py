"""Curves made by hand, for the tests of this folder."""

import dataclasses

from rally_vmperf.measurement import repetition
from rally_vmperf.measurement import sample
from rally_vmperf.measurement.density import curve
from rally_vmperf.measurement.density import judging

RATE = sample.Metric(
    name="cpu.sysbench.rate", unit="events/s", better="higher"
)
TIME = sample.Metric(name="cpu.compress_time", unit="s", better="lower")
LATENCY = sample.Metric(
    name="disk.randread.latency_p99", unit="s", better="lower"
)
COUNT = sample.Metric(
    name="network.retransmits", unit="1", better="lower", scale="count"
)
#: What disturbs each repetition as a whole.
NOISE = (1.0, 1.002, 0.997, 1.001, 0.9985)

#: Two processors shared: guests -> the rate of each guest.
SHARED = {1: [312.0], 2: [310.0, 305.0], 3: [205.0, 204.0, 203.0]}


GAP = (repetition.Missing(what=RATE.name, source="g3", reason="it died"),)


def observations(sources, by_metric):
    """Return observations, ``{metric: one value a source}``."""
    return tuple(
        sample.Observation(
            source=source, sample=sample.Sample(metric=metric, value=value)
        )
        for metric, values in by_metric.items()
        for source, value in zip(sources, values, strict=True)
    )


def reference(by_metric=None, copies=1):
    """Return bare metal, ``{metric: one value a repetition}``, all alike."""
    by_metric = by_metric or {}
    count = max((len(values) for values in by_metric.values()), default=0)
    return repetition.Reference(
        name="r740",
        machine="compute-1",
        recorded_at="2026-01-02T03:04:05Z",
        repetitions=tuple(
            observations(
                [f"copy-{place}" for place in range(copies)],
                {
                    metric: [values[number]] * copies
                    for metric, values in by_metric.items()
                },
            )
            for number in range(count)
        ),
    )


def part(number, **changes):
    """Return a repetition that holds nothing."""
    arguments = {
        "number": number,
        "planned": 3,
        "counted": True,
        "state": "complete",
        "expected": (),
        "observations": (),
        "missing": (),
        "findings": (),
        "reference": reference(),
    }
    return repetition.Repetition(**{**arguments, **changes})


def level(number, guests, by_metric, skipped="", **changes):
    """Return a level, ``{metric: one value a guest}``."""
    names = tuple(f"g{place + 1}" for place in range(guests))
    changes.setdefault("observations", observations(names, by_metric))
    changes.setdefault("expected", tuple(by_metric))
    return curve.Level(
        guests=guests,
        position=guests,
        skipped=skipped,
        machines=names,
        starts=(),
        repetition=part(number, **changes),
    )


def one(number, levels, **changes):
    """Return a curve of these levels."""
    changes.setdefault("counted", True)
    return curve.Curve(
        number=number,
        planned=changes.get("planned", 3),
        counted=changes["counted"],
        levels=tuple(sorted(levels, key=lambda each: each.guests)),
        hosts={"g1": "host-1", "g2": "host-1", "g3": "host-2"},
        whole=part(number, **changes),
    )


def several(by_metric, count=3, bare=None, noise=NOISE, **changes):
    """Return curves, ``{metric: {guests: [one value a guest]}}``.

    :param bare: ``{metric: one value a repetition}`` of each copy
    """
    changes.setdefault("planned", count)
    numbers = sorted({n for values in by_metric.values() for n in values})
    return [
        one(
            place + 1,
            [
                level(
                    place + 1,
                    guests,
                    {
                        metric: [
                            value * noise[place % len(noise)]
                            for value in values[guests]
                        ]
                        for metric, values in by_metric.items()
                        if guests in values
                    },
                    reference=reference(bare, guests),
                    **changes,
                )
                for guests in numbers
            ],
            **changes,
        )
        for place in range(count)
    ]


def given(judge, curves):
    """Return the judge after it was given these curves."""
    for entry in curves:
        judge.add(entry)
    return judge


def judge(curves, max_percent=None, **arguments):
    """Return a judge of degradation that was given these curves."""
    limits = {"*": 15} if max_percent is None else max_percent
    return given(judging.DegradationJudge(limits, **arguments), curves)


def judgement(curves, max_percent=None, **arguments):
    return judge(curves, max_percent, **arguments).judgement()


def fairness(curves, *limits, **arguments):
    """Return the judgement on fairness of these curves."""
    return given(
        judging.FairnessJudge(*limits, **arguments), curves
    ).judgement()


def with_level(curves, number, level):
    """Return the curves with one level of one of them exchanged."""
    return [
        dataclasses.replace(
            one,
            levels=tuple(
                level if each.guests == level.guests else each
                for each in one.levels
            ),
        )
        if one.number == number
        else one
        for one in curves
    ]


def killed(number=2):
    """Return curves of which a guest died at level 3."""
    broken = level(
        number,
        3,
        {RATE: [205.0, 204.0, 203.0]},
        state="incomplete",
        missing=GAP,
        observations=observations(["g1", "g2"], {RATE: [205.0, 204.0]}),
    )
    curves = with_level(several({RATE: SHARED}), number, broken)
    return [
        dataclasses.replace(
            one,
            whole=part(number, state="incomplete", missing=GAP),
        )
        if one.number == number
        else one
        for one in curves
    ]
