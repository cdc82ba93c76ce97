"""Records made by hand, for the tests of reports, charts and commands.

They are realistic in form: what a record of a run with all workloads holds.
"""

import copy

#: Metric -> unit, direction, scale, value of bare metal, loss in percent.
METRICS = {
    "cpu.events.rate": ("events/s", "higher", "ratio", 3421.0, 2.1),
    "cpu.latency.p95": ("s", "lower", "ratio", 0.00117, 2.6),
    "memory.memcpy.rate": ("B/s", "higher", "ratio", 9.84e9, 4.2),
    "disk.randread.iops": ("ops/s", "higher", "ratio", 48210.0, 21.7),
    "disk.randread.latency.p99": ("s", "lower", "ratio", 0.00081, 38.0),
    "network.to_peer.throughput": ("bit/s", "higher", "ratio", 9.4e9, 0.9),
    "network.to_peer.retransmits": ("1", "lower", "count", 2.0, 0.0),
}
LIMITS = {
    "max_percent": {
        "cpu.*": 5,
        "memory.*": 4,
        "disk.*": 20,
        "disk.*.latency.*": 60,
        "network.*": 10,
    },
    "max": {"network.*.retransmits": 100},
}
#: Differences between repetitions, in percent.
_NOISE = (0.0, 0.4, -0.5, 0.2, -0.3, 0.6, -0.1)


def record(number=1, guests=1, planned=5, counted=True, emulated=False):
    """Return the record of one complete repetition."""
    names = [f"g{place}" for place in range(1, guests + 1)]
    return {
        "version": 1,
        "kind": "overhead",
        "task": "8f7d2c4e-0000-4000-8000-000000000001",
        "workload": "8f7d2c4e-0000-4000-8000-000000000002",
        "repetition": number,
        "planned": planned,
        "counted": counted,
        "state": "complete",
        "started_at": f"2026-03-04T05:{number:02d}:00+00:00",
        "finished_at": f"2026-03-04T05:{number:02d}:50+00:00",
        "software": {"rally-vmperf": "1.0.0", "rally": "5.1.1"},
        "shape": {"vcpus": 2, "memory_mib": 2048, "copies": guests},
        "machines": [*map(machine, names), peer()],
        "workloads": [
            {
                "name": "fio",
                "label": "",
                "arguments": {"size_mib": 512, "patterns": ["randread"]},
                "facts": {},
            },
            {"name": "sysbench", "label": "", "arguments": {"threads": 2}},
        ],
        "metrics": {
            name: dict(
                zip(("unit", "better", "scale"), meaning[:3], strict=True)
            )
            for name, meaning in METRICS.items()
        },
        "expected": list(METRICS),
        "runs": [],
        "samples": [
            {
                "source": guest,
                "metric": name,
                "value": _value(name, number + place, 20 if emulated else 1),
            }
            for place, guest in enumerate(names)
            for name in METRICS
        ],
        "missing": [],
        "findings": findings(names, emulated),
        "reference": {
            "name": "r740",
            "machine": "compute-1",
            "recorded_at": "2026-03-01T00:00:00+00:00",
            "digest": "0" * 64,
            "repetitions": [
                [
                    {
                        "source": f"copy-{copied}",
                        "metric": name,
                        "value": _value(name, place + copied, 0),
                    }
                    for copied in range(1, guests + 1)
                    for name in METRICS
                ]
                for place in range(5)
            ],
        },
        "raw": "",
    }


def machine(name):
    """Return a guest as Nova and it itself describe it."""
    return {
        "name": name,
        "role": "guest",
        "nova": {
            "id": "5c1f0000-0000-4000-8000-000000000003",
            "host": "compute-1",
            "host_id": "c0ffee" * 8,
            "flavor": {
                "name": "m1.small",
                "vcpus": 2,
                "memory_mib": 2048,
                "disk_gib": 10,
                "extra_specs": {"hw:cpu_policy": "dedicated"},
            },
            "image": {"name": "debian-12", "id": "image-id"},
        },
        "fingerprint": {
            "cpu_model": "Intel(R) Xeon(R) Gold 6130",
            "kernel": "6.1.0-18-amd64",
            "virtualisation": "kvm",
            "mitigations": {"spectre_v2": "Retpolines", "mds": "Not affected"},
        },
        "tools": {"fio": {"version": "fio-3.33", "checksum": "ab" * 32}},
    }


def peer():
    """Return the other end of network workloads."""
    return {
        "name": "peer",
        "role": "peer",
        "nova": {},
        "fingerprint": {"kernel": "6.1.0-18-amd64"},
        "tools": {},
    }


def findings(names, emulated):
    """Return what is seen in every repetition."""
    found = [("peer_on_host", "peer", "the peer shares the host's boot")]
    if emulated:
        found += [("emulated_guest", name, "runs under TCG") for name in names]
    return [
        {"kind": kind, "subject": subject, "seen": seen}
        for kind, subject, seen in found
    ]


def records(count=5, warmup=1, **arguments):
    """Return the records of a run."""
    return [
        record(number, planned=count, counted=number > warmup, **arguments)
        for number in range(1, count + warmup + 1)
    ]


def incomplete(complete, metric="disk.randread.iops"):
    """Return a copy of a record that lacks a metric of its first guest."""
    changed = copy.deepcopy(complete)
    changed["state"] = "incomplete"
    changed["samples"] = [
        row
        for row in changed["samples"]
        if (row["metric"], row["source"]) != (metric, "g1")
    ]
    changed["missing"] = [
        {"what": metric, "source": "g1", "reason": "fio: no space left"}
    ]
    return changed


def _value(name, place, losses):
    """Return a sample; ``losses`` is 0 for bare metal, 1 for a guest."""
    _, better, scale, value, loss = METRICS[name]
    if scale == "count":
        return float(place % 4 * (1 + losses))
    factor = 1 + min(loss, 90) * losses / 100
    noise = 1 + _NOISE[place % len(_NOISE)] / 100
    return value * noise * (1 / factor if better == "higher" else factor)
