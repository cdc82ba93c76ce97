"""Documents that tests of several packages start from."""

import copy
import typing as t

RATE = {"unit": "events/s", "better": "higher", "scale": "ratio"}
RETRANSMITS = {"unit": "1", "better": "lower", "scale": "count"}


def observation(source: str, metric: str, value: float) -> dict[str, t.Any]:
    """Return one value as records and baselines hold it."""
    return {"source": source, "metric": metric, "value": value}


def record(**changes: t.Any) -> dict[str, t.Any]:
    """Return a complete, valid record with some keys changed."""
    whole = {
        "version": 1,
        "kind": "overhead",
        "task": "task-1",
        "workload": "workload-1",
        "repetition": 2,
        "planned": 3,
        "counted": True,
        "state": "complete",
        "started_at": "2026-01-02T03:04:05+00:00",
        "finished_at": "2026-01-02T03:05:05+00:00",
        "software": {"rally-vmperf": "1"},
        "shape": {"vcpus": 1, "memory_mib": 1024, "copies": 1},
        "machines": [{"name": "g1", "role": "guest"}],
        "workloads": [{"name": "sysbench", "label": "", "arguments": {}}],
        "metrics": {"cpu.sysbench.rate": dict(RATE)},
        "expected": ["cpu.sysbench.rate"],
        "runs": [
            {
                "workload": "sysbench",
                "command": "cpu",
                "machine": "g1",
                "started": 1.0,
                "ended": 3.0,
                "seconds": 2.0,
                "exit_status": 0,
            }
        ],
        "samples": [observation("g1", "cpu.sysbench.rate", 90.0)],
        "missing": [],
        "findings": [],
        "reference": {
            "name": "metal",
            "machine": "host-1",
            "recorded_at": "2026-01-01T00:00:00+00:00",
            "digest": "0" * 64,
            "repetitions": [
                [observation("copy-1", "cpu.sysbench.rate", value)]
                for value in (100.0, 101.0, 99.0)
            ],
        },
        "raw": "",
    }
    return {**copy.deepcopy(whole), **changes}


def entry(**changes: t.Any) -> dict[str, t.Any]:
    """Return a baseline's entry with some keys changed."""
    whole = {
        "workload": "sysbench",
        "arguments": {"threads": 1, "time": 10, "max_prime": 10000},
        "shape": {"vcpus": 1, "memory_mib": 1024, "copies": 1},
        "held": "cgroup v2",
        "facts": {},
        "metrics": {
            "cpu.sysbench.rate": dict(RATE),
            "cpu.sysbench.latency_p95": {
                "unit": "s",
                "better": "lower",
                "scale": "ratio",
            },
        },
        "repetitions": [
            [
                observation("copy-1", "cpu.sysbench.rate", value),
                observation("copy-1", "cpu.sysbench.latency_p95", 1 / value),
            ]
            for value in (100.0, 101.0, 99.0)
        ],
        "findings": [],
    }
    return {**copy.deepcopy(whole), **changes}


def baseline(**changes: t.Any) -> dict[str, t.Any]:
    """Return a valid baseline with some keys changed."""
    whole = {
        "version": 1,
        "name": "metal",
        "recorded_at": "2026-01-01T00:00:00+00:00",
        "software": {"rally-vmperf": "1"},
        "machine": {"name": "host-1", "fingerprint": {"kernel": "6.1"}},
        "entries": [entry()],
    }
    return {**whole, **changes}
