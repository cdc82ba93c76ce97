# SPDX-License-Identifier: Apache-2.0
"""Repetitions with conditions and samples, as judges are given them."""

import dataclasses

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition as repetitions_
from rally_vmperf.measurement.samples import sample

EVENTS = sample.Metric(
    name="cpu.sysbench.rate", unit="events/s", better="higher"
)
LATENCY = sample.Metric(
    name="disk.fio.randread.latency_p99", unit="s", better="lower"
)
IOPS = sample.Metric(
    name="disk.fio.randread.iops", unit="ops/s", better="higher"
)
TIME = sample.Metric(
    name="cpu.bzip2.compress_time", unit="s", better="lower", additive=True
)
COUNT = sample.Metric(
    name="network.tcp.retransmits", unit="1", better="lower", scale="count"
)
BARE = {
    IOPS: (12300.0, 12350.0, 12280.0, 12320.0),
    TIME: (10.0, 10.02, 9.97, 10.01),
    COUNT: (0.0, 0.0, 1.0, 0.0),
}

NEAR = {IOPS: (11000.0, 11050.0, 10980.0, 11020.0)}  # overhead 10.6 %
FAR = {IOPS: (9000.0, 9050.0, 8980.0, 9020.0)}  # overhead 26.8 %
BOTH = {**NEAR, TIME: (13.0, 13.02, 12.98, 13.01)}  # overhead 30 %


def observations(sources, by_metric):
    """Return observations.

    :param by_metric: The value or the list of values of each source, or None,
        by metric.
    """
    return tuple(
        sample.Observation(
            source=source, sample=sample.Sample(metric=metric, value=value)
        )
        for metric, cells in by_metric.items()
        for source, cell in zip(sources, cells, strict=True)
        for value in (cell if isinstance(cell, list) else [cell])
        if value is not None
    )


def build_reference(repetitions):
    """Return bare metal.

    :param repetitions: The value of each copy by metric, per repetition.
    """
    return repetitions_.Reference(
        name="r740",
        machine="compute-1",
        recorded_at="2026-01-02T03:04:05Z",
        repetitions=tuple(
            observations(_name_copies(by_metric), by_metric)
            for by_metric in repetitions
        ),
    )


def _name_copies(by_metric):
    copies = len(next(iter(by_metric.values()), ()))
    return [f"copy-{number}" for number in range(1, copies + 1)]


def reference(by_metric=None, copies=1):
    """Return bare metal, ``{metric: one value a repetition}``, all alike."""
    by_metric = by_metric or {}
    longest = max((len(values) for values in by_metric.values()), default=0)
    return build_reference(
        [
            {
                metric: [values[place]] * copies
                for metric, values in by_metric.items()
                if place < len(values)
            }
            for place in range(longest)
        ]
    )


def overlapping(share, *metrics):
    """Return the start of a command of which machines did a share at once."""
    return (
        repetitions_.Synchronisation(
            workload="w",
            command="c",
            bound="time",
            skew=0.1,
            uncertainty=0.01,
            overlap=share,
            metrics=tuple(metric.name for metric in metrics),
        ),
    )


def build_condition(number, by_metric, axes=None, **changes):
    """Return a condition, ``{metric: one value a guest}``."""
    guests = len(next(iter(by_metric.values()), ()))
    names = tuple(changes.get("machines", ()))
    if len(names) != guests:
        names = tuple(f"g{place + 1}" for place in range(guests))
    whole = {
        "axes": axes or {},
        "number": number,
        "planned_repetitions": 3,
        "counted": True,
        "position": 1,
        "state": "complete",
        "skip_reason": "",
        "machines": names,
        "expected_metrics": tuple(by_metric),
        "observations": observations(names, by_metric),
        "missing": (),
        "findings": (),
        "synchronisation": (),
        "reference": reference(),
    }
    return repetitions_.Condition(**{**whole, **changes})


def repetition(number, conditions, **changes):
    """Return a repetition of these conditions."""
    whole = {
        "number": number,
        "planned_repetitions": 3,
        "counted": True,
        "state": "complete",
        "expected_metrics": (),
        "conditions": tuple(conditions),
        "hosts": {"g1": "host-1", "g2": "host-1", "g3": "host-2"},
        "missing": (),
        "findings": (),
    }
    return repetitions_.Repetition(**{**whole, **changes})


def build_repetition(number, values, **changes):
    """Return one repetition of one guest, ``{metric: value}``."""
    changes = {
        "reference": reference(BARE),
        "planned_repetitions": 4,
        **changes,
    }
    only = build_condition(number, {m: [value] for m, value in values.items()})
    return repetition(
        number,
        [dataclasses.replace(only, **changes)],
        **{
            key: changes[key]
            for key in (
                "planned_repetitions",
                "counted",
                "state",
                "expected_metrics",
            )
            if key in changes
        },
    )


def several(values, **changes):
    """Return repetitions, ``{metric: one value a repetition}``."""
    count = len(next(iter(values.values())))
    changes.setdefault("planned_repetitions", count)
    return [
        build_repetition(
            place + 1,
            {metric: series[place] for metric, series in values.items()},
            **changes,
        )
        for place in range(count)
    ]


def changed(entry, **changes):
    """Return a repetition whose only condition is changed."""
    only = dataclasses.replace(entry.conditions[0], **changes)
    state = {"state": changes["state"]} if "state" in changes else {}
    return dataclasses.replace(entry, conditions=(only,), **state)


def build_findings(kind, subject="g1", metrics=()):
    return (
        finding.Finding(
            kind=kind, subject=subject, detail="so it is", metrics=metrics
        ),
    )
