"""Records in the output of Rally."""

import collections.abc
import typing as t

from rally_vmperf.measurement import repetition
from rally_vmperf.records import codec
from rally_vmperf.records import schema

#: Name of the chart that contains a record.
CHART = "VMPerfRecord"
#: Name of the chart that shows all repetitions of a run.
RUN_CHART = "VMPerfRun"

Json = collections.abc.Mapping[str, t.Any]


def encode(record: Json) -> dict[str, t.Any]:
    """Return a complete output for Rally that contains a record, a dict."""
    return {
        "title": f"Record of repetition {record['repetition']}",
        "chart_plugin": CHART,
        "data": record,
    }


def chart_request(title: str, record: Json) -> dict[str, t.Any]:
    """Return an additive output for Rally that requests a run's chart.

    Rally adds additive outputs to a table, so the data must be pairs of name
    and number; the metrics are in the records.

    :param record: The record of the repetition.
    """
    gaps = [*record["missing"]]
    for condition in record["conditions"]:
        gaps += condition["missing"]
    return {
        "title": title,
        "chart_plugin": RUN_CHART,
        "data": [["missing measurements", len(gaps)]],
    }


def find_record(iteration: Json) -> Json | None:
    """Return the valid record in a Rally iteration, or None."""
    for record in records_of(iteration):
        try:
            return schema.check(record)
        except schema.RecordError:
            return None
    return None


def records_of(iteration: Json) -> list[t.Any]:
    """Return the records in a Rally iteration as a list, valid or not."""
    return [
        chart["data"]
        for chart in iteration.get("output", {}).get("complete", ())
        if chart.get("chart_plugin") == CHART and "data" in chart
    ]


def decode(iteration: Json) -> repetition.Repetition | None:
    """Return the repetition in an iteration; None without a valid record."""
    record = find_record(iteration)
    try:
        return None if record is None else codec.decode(record)
    except codec.INVALID:
        return None
