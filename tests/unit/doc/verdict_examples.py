# SPDX-License-Identifier: Apache-2.0
"""The verdicts of constructed runs, which a page shows."""

from rally_vmperf.judging import verdict_table
from rally_vmperf.questions import source_judge
from tests.unit import made

_LIMITS = {"cpu.*.rate": 5, "disk.*.iops": 20, "memory.*": 10}
_SKIPPED = ("network.sockperf.to_peer.rate",)


def _add_skipped(records):
    """Return records of runs that skipped a network workload."""
    return made.with_finding(
        records,
        *("workload_skipped", "sockperf"),
        detail="no peer",
        metrics=_SKIPPED,
    )


#: Status of a run -> its records and limits in percent.
_RUNS = {
    "passed": (made.records(), _LIMITS),
    "inconclusive": (made.records(), {**_LIMITS, "memory.*": 4}),
    "void": (
        made.with_finding(
            made.records(),
            "wrong_host",
            detail="runs on compute2, not on compute1",
        ),
        _LIMITS,
    ),
}
STATUSES = tuple(_RUNS)


def get_run(status):
    """Return the records and the limits of a run."""
    records, percent = _RUNS[status]
    sla = {
        "max_percent": {**percent, "network.sockperf.*": 15},
        "unmeasured": "skip",
    }
    return _add_skipped(records), sla


def lines(status):
    """Return the table of verdicts of a run without the version of rules."""
    records, sla = get_run(status)
    source = made.source_of(records, {"vmperf_overhead": sla}, folder=None)
    *shown, _ = verdict_table.lines(source_judge.judge_source(source))
    return shown
