# SPDX-License-Identifier: Apache-2.0
"""A task of Rally's with records in it, in the form of its JSON export."""

from rally_vmperf.records import model
from tests.unit import made


def results(workloads):
    """Return the document that ``rally task report --json`` writes.

    :param workloads: The pairs of records, or their documents, and limits,
        for curves by the name of the SLA; None for an iteration that failed
        before it had a record.
    """
    return {
        "info": {
            "rally_version": "5.1.1",
            "generated_at": "2026-03-04T06:00:00",
            "format_version": "1.2",
        },
        "tasks": [
            {
                "uuid": "8f7d2c4e-0000-4000-8000-000000000001",
                "title": "Overhead of guests",
                "description": "",
                "status": "finished",
                "tags": [],
                "env_uuid": "n/a",
                "env_name": "n/a",
                "created_at": "2026-03-04T05:00:00",
                "updated_at": "2026-03-04T06:00:00",
                "pass_sla": True,
                "subtasks": [
                    {
                        "uuid": "8f7d2c4e-0000-4000-8000-000000000004",
                        "title": "One",
                        "description": "",
                        "status": "finished",
                        "created_at": "2026-03-04T05:00:00",
                        "updated_at": "2026-03-04T06:00:00",
                        "sla": {},
                        "workloads": [
                            _workload(place, records, limits)
                            for place, (records, limits) in enumerate(
                                workloads
                            )
                        ],
                    }
                ],
            }
        ],
    }


def _workload(position, records, limits):
    records = [
        made.document(record) if isinstance(record, model.Record) else record
        for record in records
    ]
    iterations = [_iteration(n, record) for n, record in enumerate(records)]
    failed = sum(1 for iteration in iterations if iteration["error"])
    density = {record["question"] for record in records if record} == {
        "density"
    }
    return {
        "uuid": f"8f7d2c4e-0000-4000-8000-{position:012d}",
        "description": "Guests against bare metal.",
        "runner": {"constant": {"times": len(records), "concurrency": 1}},
        "hooks": [],
        "scenario": {
            "VMPerf.density" if density else "VMPerf.overhead": {
                "workloads": [{"name": "fio"}]
            }
        },
        "min_duration": 50.0,
        "max_duration": 50.0,
        "start_time": 1772600000.0,
        "load_duration": 60.0 * len(records) + 60,
        "full_duration": 60.0 * len(records) + 120,
        "statistics": {
            "durations": {
                "total": _statistics(len(records)),
                "atomics": [],
            }
        },
        "data": iterations,
        "failed_iteration_count": failed,
        "total_iteration_count": len(records),
        "created_at": "2026-03-04T05:00:00",
        "updated_at": "2026-03-04T06:00:00",
        "contexts": {},
        "contexts_results": [],
        "position": position,
        "pass_sla": True,
        "sla_results": {
            "sla": [
                {
                    "criterion": "failure_rate",
                    "detail": f"{failed} failed",
                    "success": not failed,
                },
                {
                    "criterion": "vmperf_overhead",
                    "detail": "an old sentence",
                    "success": True,
                },
            ]
        },
        "sla": (limits if density else {"vmperf_overhead": limits})
        if limits
        else {},
    }


def _statistics(count):
    figures = ("min", "median", "90%ile", "95%ile", "max", "avg")
    return {
        "name": "total",
        "display_name": "total",
        "count_per_iteration": 1,
        "children": [],
        "data": {
            **dict.fromkeys(figures, 50.0),
            "success": "100.0%",
            "iteration_count": count,
        },
    }


def _iteration(number, record):
    iteration = {
        "timestamp": 1772600000.0 + 60 * number,
        "duration": 50.0,
        "idle_duration": 0.0,
        "error": [],
        "output": {"additive": [], "complete": []},
        "atomic_actions": [],
    }
    if record is None:
        iteration["error"] = ["GuestError", "never answered", "traceback"]
    else:
        decoded = model.decode(record)
        iteration["output"]["additive"].append(
            model.request_chart("Whole run", decoded)
        )
        # The document itself, whose texts nobody has made harmless.
        iteration["output"]["complete"].append(
            {**model.encode_output(decoded), "data": record}
        )
    return iteration
