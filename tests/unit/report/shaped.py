"""Records with distributions and lines, of the form that fio gives."""

import math
import random

from rally_vmperf.measurement.samples import histogram
from rally_vmperf.measurement.samples import merged
from rally_vmperf.measurement.samples import sample
from rally_vmperf.records import codec

LATENCY = sample.Metric(
    name="disk.fio.randread.latency", unit="s", better="lower"
)
IOPS = sample.Metric(
    name="disk.fio.randread.iops", unit="ops/s", better="higher"
)


def shaped(record):
    """Add to a record what its machines had together; return it.

    Latencies grow with the guests, and some requests wait for a flush; the
    rate sags in the middle.
    """
    chance = random.Random(record["number"])
    for condition in record["conditions"]:
        if not condition["skip_reason"]:
            condition.update(
                _shapes(len(condition["machines"]), 0.0004, chance)
            )
    bare = (record["bare_metal"] or {"references": {}})["references"]
    for copies, reference in bare.items():
        shapes = _shapes(int(copies), 0.0003, chance)
        (column, *_) = reference["repetitions"]["values"].values()
        percentiles = {
            metric.name: [value] * len(column)
            for distribution in shapes["distributions"]
            for metric, value in zip(
                sample.percentiles(LATENCY),
                distribution["percentiles"],
                strict=True,
            )
            if value is not None
        }
        reference.update(shapes, percentiles=percentiles)
    record["metrics"] |= {
        metric.name: {
            "unit": metric.unit,
            "better": metric.better,
            "scale": metric.scale,
        }
        for metric in (
            LATENCY,
            *sample.percentiles(LATENCY),
            IOPS,
        )
        if metric.name not in record["metrics"]
    }
    return record


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
            (f"g{place}", sample.Series(metric=IOPS, points=points))
        )
    return {
        "distributions": [*map(codec.encode, merged.distributions(readings))],
        "time_series": [*map(codec.encode, merged.time_series(readings))],
    }
