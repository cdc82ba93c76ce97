# SPDX-License-Identifier: Apache-2.0
"""A run with every verdict and every kind of sample, and hostile rows."""

import collections
import functools

from rally_vmperf.questions import source_judge
from rally_vmperf.records import table
from rally_vmperf.report import export
from tests.unit import made

#: Metric -> the status of its overhead by ``LIMITS``.
STATUSES = {
    "cpu.events.rate": "passed",
    "cpu.latency.p95": "inconclusive",
    "disk.fio.randread.iops": "failed",
    "network.iperf3.to_peer.throughput": "void",
}
LIMITS = {
    "vmperf_overhead": {
        "max_percent": {
            "cpu.events.rate": 50,
            "cpu.latency.p95": 2.6,
            "disk.fio.randread.iops": 1,
            "network.iperf3.to_peer.throughput": 50,
        }
    }
}
#: A text that ends strings, lines, elements, cells or documents.
HOSTILE = "=1+1\"\\,|`'\r\n\x00\x1b[2J</testsuite>{{x}} & \u202e"


def records():
    """Return a warm-up and five repetitions of two guests.

    A sample is missing, and the samples of a metric are void.
    """
    whole = made.records(guests=2)
    whole[2] = made.incomplete(whole[2])
    findings = made.build_findings(
        "above_physical_limit", "network.iperf3.to_peer.throughput"
    )
    return made.with_condition(whole, findings=findings)


@functools.cache
def run():
    """Return the judged run."""
    return source_judge.judge_source(made.source_of(records(), LIMITS))


def rows():
    """Return the rows of the run."""
    return [*export.list_rows([run()])]


def count_samples(sample_rows):
    """Return the number of samples by kind."""
    names = (name for row in sample_rows for name in table.count_names(row))
    return collections.Counter(names)


def list_samples(all_rows):
    """Return the rows of samples."""
    return [row for row in all_rows if row.row == "sample"]


def hostile_rows():
    """Return a row of each kind with hostile texts in all text columns."""
    texts = {
        column: f"{HOSTILE}{column}"
        for column in (
            *("run", "question", "title", "criterion", "condition", "guest"),
            *("host", "workload", "metric", "figure", "reason"),
        )
    }
    start = table.Row(
        **texts,
        time="2026-03-04T05:06:07Z",
        unit=f"B/s{HOSTILE}",
        findings=(HOSTILE,),
        counted=True,
        repetition=1,
        position=1,
    )
    judged = {"value": -1.5, "limit": 1.0, "status": "failed"}
    return [
        start._replace(row="verdict", unit=None, passed=False, status="void"),
        start._replace(row="figure", low=-2.0, high=-1.0, **judged),
        start._replace(side="guest", value=2.5, status="valid"),
        start._replace(side="guest", status="missing", unit=None),
    ]
