"""Repetitions made by hand, for the tests of this folder."""

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import judging
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement import sample

RATE = sample.Metric(name="disk.randread.iops", unit="ops/s", better="higher")
TIME = sample.Metric(name="cpu.compress.time", unit="s", better="lower")
COUNT = sample.Metric(
    name="network.tcp.retransmits", unit="1", better="lower", scale="count"
)
BARE = {
    RATE: (12300.0, 12350.0, 12280.0, 12320.0),
    TIME: (10.0, 10.02, 9.97, 10.01),
    COUNT: (0.0, 0.0, 1.0, 0.0),
}

NEAR = {RATE: (11000.0, 11050.0, 10980.0, 11020.0)}  # overhead 10.6 %
FAR = {RATE: (9000.0, 9050.0, 8980.0, 9020.0)}  # overhead 26.8 %
BOTH = {**NEAR, TIME: (13.0, 13.02, 12.98, 13.01)}  # overhead 30 %

GAP = (repetition.Missing(what="fio", source="guest-0", reason="gone"),)


def observations(source, values):
    """Return one observation a metric."""
    return tuple(
        sample.Observation(
            source=source, sample=sample.Sample(metric=metric, value=value)
        )
        for metric, value in values.items()
    )


def reference(bare=None):
    """Return a baseline, ``{metric: one value a repetition}``."""
    bare = BARE if bare is None else bare
    longest = max((len(values) for values in bare.values()), default=0)
    return repetition.Reference(
        name="r740",
        machine="compute-1",
        recorded_at="2026-01-02T03:04:05Z",
        repetitions=tuple(
            observations(
                "copy-0",
                {
                    metric: values[place]
                    for metric, values in bare.items()
                    if place < len(values)
                },
            )
            for place in range(longest)
        ),
    )


def one(number, values, **changes):
    """Return one repetition of one guest, ``{metric: value}``."""
    arguments = {
        "number": number,
        "planned": 4,
        "counted": True,
        "state": "complete",
        "expected": tuple(values),
        "observations": observations("guest-0", values),
        "missing": (),
        "findings": (),
        "reference": reference(),
    }
    return repetition.Repetition(**{**arguments, **changes})


def several(values, **changes):
    """Return repetitions, ``{metric: one value a repetition}``."""
    count = len(next(iter(values.values())))
    changes.setdefault("planned", count)
    return [
        one(
            place + 1,
            {metric: series[place] for metric, series in values.items()},
            **changes,
        )
        for place in range(count)
    ]


def judge(entries, max_percent=None, **arguments):
    """Return a judge that was given these repetitions."""
    limits = {"*": 15} if max_percent is None else max_percent
    got = judging.OverheadJudge(limits, **arguments)
    for entry in entries:
        got.add(entry)
    return got


def judgement(entries, max_percent=None, **arguments):
    return judge(entries, max_percent, **arguments).judgement()


def seen(kind, subject="guest-0"):
    return (finding.Finding(kind=kind, subject=subject, seen="so it is"),)
