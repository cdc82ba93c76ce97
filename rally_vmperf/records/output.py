"""Records in Rally's output: how they are written and read."""

import collections.abc
import typing as t

from rally_vmperf.measurement import repetition
from rally_vmperf.records import codec
from rally_vmperf.records import schema

#: Name of the chart that carries a record.
CHART = "VMPerfRecord"
#: Name of the chart that shows all repetitions of a run.
RUN_CHART = "VMPerfRun"

Json = collections.abc.Mapping[str, t.Any]


def encode(record: Json) -> dict[str, t.Any]:
    """Return a complete output of Rally's that carries a record."""
    return {
        "title": f"Record of repetition {record['repetition']}",
        "chart_plugin": CHART,
        "data": record,
    }


def mark(title: str) -> dict[str, t.Any]:
    """Return an additive output that only requests the chart of a run.

    Rally feeds additive outputs to a table of its own, so the data must be
    pairs of name and number; the figures are in the records.
    """
    return {
        "title": title,
        "chart_plugin": RUN_CHART,
        "data": [["repetitions", 1]],
    }


def find(iteration: Json) -> Json | None:
    """Return the valid record in an iteration of Rally's, if there is one."""
    for record in carried(iteration):
        try:
            return schema.check(record)
        except schema.RecordError:
            return None
    return None


def carried(iteration: Json) -> list[t.Any]:
    """Return the records in an iteration, valid or not."""
    return [
        part["data"]
        for part in iteration.get("output", {}).get("complete", ())
        if part.get("chart_plugin") == CHART and "data" in part
    ]


def decode(iteration: Json) -> repetition.Repetition | None:
    """Return the repetition in an iteration, None without a valid record."""
    return codec.readable(find(iteration))
