# SPDX-License-Identifier: Apache-2.0
"""Records in the output of Rally."""

import collections.abc
import typing as t

from rally_vmperf.measurement import repetition
from rally_vmperf.records import model

#: Name of the chart that contains a record.
CHART = "VMPerfRecord"
#: Name of the chart that shows all repetitions of a run.
RUN_CHART = "VMPerfRun"

Json = collections.abc.Mapping[str, t.Any]


def encode(record: model.Record) -> dict[str, t.Any]:
    """Return a complete output for Rally that contains a record, a dict."""
    return {
        "title": f"Record of repetition {record.repetition.number}",
        "chart_plugin": CHART,
        "data": model.FORMAT.encode(record),
    }


def chart_request(title: str, record: model.Record) -> dict[str, t.Any]:
    """Return an additive output for Rally that requests a run's chart.

    Rally adds additive outputs to a table, so the data must be pairs of name
    and number; the metrics are in the records.

    :param record: The record of the repetition.
    """
    measured = record.repetition
    gaps = [*measured.missing]
    for condition in measured.conditions:
        gaps += condition.missing
    return {
        "title": title,
        "chart_plugin": RUN_CHART,
        "data": [["missing measurements", len(gaps)]],
    }


def find_record(iteration: Json) -> model.Record | None:
    """Return the record in a Rally iteration; None without a valid one."""
    for document in documents_of(iteration):
        return model.decode_or_none(document)
    return None


def documents_of(iteration: Json) -> list[t.Any]:
    """Return the records in a Rally iteration as documents, valid or not."""
    return [
        chart["data"]
        for chart in iteration.get("output", {}).get("complete", ())
        if chart.get("chart_plugin") == CHART and "data" in chart
    ]


def decode(iteration: Json) -> repetition.Repetition | None:
    """Return the repetition in an iteration; None without a valid record."""
    record = find_record(iteration)
    return record.repetition if record else None
