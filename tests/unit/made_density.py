"""Records of curves, as a run on a host with two processors leaves them."""

import random
import typing as t

#: Metric -> unit, direction, scale, value of a lone guest.
METRICS: dict[str, tuple[str, str, str, float]] = {
    "cpu.sysbench.rate": ("events/s", "higher", "ratio", 400.0),
    "cpu.compress_time": ("s", "lower", "ratio", 2.5),
    "disk.randread.iops": ("ops/s", "higher", "ratio", 9000.0),
    "disk.randread.latency_p99": ("s", "lower", "ratio", 0.004),
    "network.to_peer.throughput": ("bit/s", "higher", "ratio", 2.0e9),
    "network.to_peer.retransmits": ("1", "lower", "count", 3.0),
}
#: What the whole host gives, in lone guests.
_CAPACITY = {
    "cpu.sysbench.rate": 2.0,
    "cpu.compress_time": 2.0,
    "disk.randread.iops": 1.6,
    "disk.randread.latency_p99": 1.6,
    "network.to_peer.throughput": 1.0,
}
#: Loss of a lone guest against a lone copy.
_VIRTUALISATION = 0.9


def record(
    number: int = 1,
    levels: tuple[int, ...] = (1, 2, 3),
    *,
    planned: int = 3,
    counted: bool = True,
    hosts: int = 1,
    bare_metal: tuple[int, ...] = (),
    noise: float = 0.01,
    seed: int = 7,
    **changes: t.Any,
) -> dict[str, t.Any]:
    """Return a complete, valid record of a curve, some keys changed.

    :param hosts: each has as many guests as the largest level
    :param bare_metal: numbers of copies that the baseline has
    :param noise: of the values, as a share of them
    """
    most = max(levels)
    noisy = _noisy(noise, f"{seed}/{number}")
    names = [f"g{place}" for place in range(1, most * hosts + 1)]
    whole = {
        "version": 1,
        "kind": "density",
        "task": "8f7d2c4e-0000-4000-8000-000000000001",
        "workload": "8f7d2c4e-0000-4000-8000-000000000003",
        "repetition": number,
        "planned": planned,
        "counted": counted,
        "state": "complete",
        "started_at": f"2026-03-04T05:{number:02d}:00+00:00",
        "finished_at": f"2026-03-04T05:{number:02d}:50+00:00",
        "software": {"rally-vmperf": "1.0.0", "rally": "5.1.1"},
        "shape": {"vcpus": 1, "memory_mib": 512, "copies": len(names)},
        "machines": [
            _guest(name, index // most) for index, name in enumerate(names)
        ],
        "workloads": [
            {"name": name, "label": "", "arguments": {}, "facts": {}}
            for name in ("sysbench", "bzip2", "fio", "iperf3")
        ],
        "metrics": {
            name: {"unit": unit, "better": better, "scale": scale}
            for name, (unit, better, scale, _) in METRICS.items()
        },
        "expected": list(METRICS),
        "runs": [],
        "samples": [],
        "missing": [],
        "findings": [],
        "reference": None,
        "order": {"kind": "listed", "seed": seed},
        "others": "idle",
        "levels": [
            _level(
                guests,
                position,
                [
                    names[h * most + i]
                    for h in range(hosts)
                    for i in range(guests)
                ],
                _reference(guests, _noisy(noise, f"{seed} bare {guests}"))
                if guests in bare_metal
                else None,
                noisy,
            )
            for position, guests in enumerate(levels, 1)
        ],
        "raw": "",
    }
    return {**whole, **changes}


def skipped(guests: int, position: int, why: str) -> dict[str, t.Any]:
    """Return a level that was not run."""
    return {
        "guests": guests,
        "position": position,
        "state": "skipped",
        "skipped": why,
        "machines": [],
        "samples": [],
        "runs": [],
        "missing": [],
        "findings": [],
        "starts": [],
        "reference": None,
    }


def lose(whole: dict[str, t.Any], guests: int, name: str) -> None:
    """Have a guest die in the middle of a level of a record."""
    (level,) = (one for one in whole["levels"] if one["guests"] == guests)
    gone = set(list(METRICS)[2:])
    level["samples"] = [
        one
        for one in level["samples"]
        if one["source"] != name or one["metric"] not in gone
    ]
    level["missing"] = [
        {"what": metric, "source": name, "reason": f"{name} answers no more"}
        for metric in sorted(gone)
    ]
    level["state"] = whole["state"] = "incomplete"
    whole["missing"] = whole["missing"] + level["missing"]


def _guest(name: str, host: int) -> dict[str, t.Any]:
    return {
        "name": name,
        "role": "guest",
        "nova": {
            "id": f"id-{name}",
            "host_id": f"hash-{host + 1}",
            "host": f"compute-{host + 1}",
            "hypervisor": f"compute-{host + 1}",
            "flavor": {
                "id": "1",
                "name": "vmperf.tiny",
                "vcpus": 1,
                "memory_mib": 512,
                "disk_gib": 2,
                "extra_specs": {},
            },
            "image": {"id": "2", "name": "vmperf-guest"},
        },
        "fingerprint": {"virtualisation": "kvm"},
        "tools": {},
    }


def _noisy(noise: float, seed: str) -> t.Callable[[], float]:
    """Return what gives numbers around 1, the same ones for a seed."""
    numbers = random.Random(seed)
    return lambda: 1 + numbers.uniform(-noise, noise)


def _reference(copies: int, noisy: t.Callable[[], float]) -> dict[str, t.Any]:
    return {
        "name": "r740",
        "machine": "compute-1",
        "recorded_at": "2026-03-01T00:00:00+00:00",
        "digest": "0" * 64,
        "repetitions": [
            _samples(
                [f"copy-{place}" for place in range(1, copies + 1)],
                copies,
                noisy,
                1 / _VIRTUALISATION,
            )
            for _ in range(3)
        ],
    }


def _level(
    guests: int,
    position: int,
    machines: list[str],
    reference: dict[str, t.Any] | None,
    noisy: t.Callable[[], float],
) -> dict[str, t.Any]:
    return {
        "guests": guests,
        "position": position,
        "state": "complete",
        "skipped": "",
        "machines": machines,
        "samples": _samples(machines, guests, noisy, 1.0),
        "runs": [],
        "missing": [],
        "findings": [],
        "starts": [
            {
                "workload": workload,
                "command": command,
                "bound": bound,
                "skew": None if len(machines) == 1 else 0.004 * noisy(),
                "uncertainty": None if len(machines) == 1 else 0.001,
                "overlap": None if len(machines) == 1 else 0.99,
            }
            for workload, command, bound in (
                ("sysbench", "cpu", "time"),
                ("bzip2", "compress", "size"),
                ("fio", "randread", "time"),
                ("iperf3", "to_peer", "time"),
            )
        ],
        "reference": reference,
    }


def _samples(
    sources: list[str],
    guests: int,
    noisy: t.Callable[[], float],
    speed: float,
) -> list[dict[str, t.Any]]:
    return [
        {
            "source": source,
            "metric": name,
            "value": _value(name, guests, noisy(), speed),
        }
        for source in sources
        for name in METRICS
    ]


def _value(name: str, guests: int, noise: float, speed: float) -> float:
    _, better, scale, alone = METRICS[name]
    if scale == "count":
        return float(round(alone * guests))
    share = min(1.0, _CAPACITY[name] / guests) * speed * noise
    return alone * share if better == "higher" else alone / share
