# SPDX-License-Identifier: Apache-2.0
"""Records with distributions and lines, of the form that fio gives."""

import dataclasses
import math
import random

from rally_vmperf.measurement.samples import histogram
from rally_vmperf.measurement.samples import merged
from rally_vmperf.measurement.samples import sample
from tests.unit import made

LATENCY = sample.Metric(
    name="disk.fio.randread.latency", unit="s", better="lower"
)


def shaped(record):
    """Return a record with what its machines had together.

    Latencies grow with the guests, and some requests wait for a flush; the
    rate sags in the middle.
    """
    chance = random.Random(record.repetition.number)

    def shape(condition):
        if condition.skip_reason:
            return condition
        shapes = _shapes(len(condition.machines), 0.0004, chance)
        return dataclasses.replace(condition, **shapes)

    def shape_reference(copies, reference):
        shapes = _shapes(copies, 0.0003, chance)
        percentiles = {
            metric: value
            for distribution in shapes["distributions"]
            for metric, value in distribution.values().items()
        }
        return dataclasses.replace(
            reference,
            **shapes,
            percentiles=(percentiles,) * len(reference.repetitions),
        )

    metrics = (LATENCY, *sample.percentiles(LATENCY), made.IOPS)
    record = made.with_references(
        made.with_conditions(record, shape), shape_reference
    )
    return made.with_fields(
        record, metrics=tuple(dict.fromkeys((*record.metrics, *metrics)))
    )


def _shapes(machines, middle, chance):
    middle *= machines**0.8 * chance.uniform(0.97, 1.03)
    requests = 40_000
    readings = []
    for place in range(machines):
        counts = []
        for step in range(-120, 330):
            fast = math.exp(-((step / 30) ** 2)) / 53
            flush = 0.004 * math.exp(-(((step - 200) / 25) ** 2)) / 44
            count = round(requests * (fast + flush))
            if count:
                counts.append((middle * 1.02**step, count))
        readings.append(
            (
                f"g{place}",
                sample.Distribution(
                    metric=LATENCY, histogram=histogram.Histogram.of(counts)
                ),
            )
        )
        points = tuple(
            (
                float(second),
                3.2
                / middle
                * chance.uniform(0.94, 1.06)
                * (0.6 if second in (5, 6) else 1),
            )
            for second in range(1, 11)
        )
        readings.append(
            (f"g{place}", sample.Series(metric=made.IOPS, points=points))
        )
    return {
        "distributions": merged.distributions(readings),
        "time_series": merged.time_series(readings),
    }
