# SPDX-License-Identifier: Apache-2.0
"""Records of overhead, as a run with all workloads leaves them."""

from rally_vmperf.measurement import finding
from rally_vmperf.measurement.samples import sample
from rally_vmperf.records import model
from tests.unit.made import changes
from tests.unit.made import common_records
from tests.unit.made import repetitions

#: Each metric by name, with the value of bare metal and the loss in percent.
METRICS = {
    name: (sample.Metric(name, unit, better, scale=scale), value, loss)
    for name, unit, better, scale, value, loss in (
        ("cpu.events.rate", "events/s", "higher", "ratio", 3421.0, 2.1),
        ("cpu.latency.p95", "s", "lower", "ratio", 0.00117, 2.6),
        ("memory.mbw.memcpy.bandwidth", "B/s", "higher", "ratio", 9.84e9, 4.2),
        ("disk.fio.randread.iops", "ops/s", "higher", "ratio", 48210.0, 21.7),
        ("disk.fio.randread.latency.p99", "s", "lower", "ratio", 0.00081, 38),
        (
            "network.iperf3.to_peer.throughput",
            "bit/s",
            "higher",
            "ratio",
            9.4e9,
            0.9,
        ),
        ("network.iperf3.to_peer.retransmits", "1", "lower", "count", 2.0, 0),
    )
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
#: Limits on the values of guests, of which one is exceeded.
VALUE_LIMITS = {
    "min": {"cpu.*.rate": 3000, "disk.*.iops": 45000},
    "max": {"*.latency.*": 0.5, "network.*.retransmits": 100},
}
#: Differences between repetitions, in percent.
_VARY = (0.0, 0.4, -0.5, 0.2, -0.3, 0.6, -0.1)


def run_record(
    number=1, guests=1, planned_repetitions=5, counted=True, emulated=False
):
    """Return the record of one complete repetition."""
    names = [f"g{place}" for place in range(1, guests + 1)]
    details = {**{name: _details() for name in names}, "peer": _peer()}
    kinds = [("peer_on_host", "peer", "the peer shares the host's boot")]
    if emulated:
        kinds += [("emulated_guest", name, "runs under TCG") for name in names]
    copies = range(1, guests + 1)
    condition = repetitions.build_condition(
        number,
        _measure(range(number, number + guests), 20 if emulated else 1),
        machines=tuple(names),
        reference=repetitions.build_reference(
            [
                _measure([place + copy for copy in copies], 0)
                for place in range(5)
            ]
        ),
    )
    measured = repetitions.repetition(
        number,
        [condition],
        planned_repetitions=planned_repetitions,
        counted=counted,
        expected_metrics=tuple(metric for metric, *_ in METRICS.values()),
        findings=tuple(finding.Finding(*kind) for kind in kinds),
        question="overhead",
        run="8f7d2c4e-0000-4000-8000-000000000002",
    )
    return common_records.record_of(
        measured,
        started_at=f"2026-03-04T05:{number:02d}:00+00:00",
        finished_at=f"2026-03-04T05:{number:02d}:50+00:00",
        shape=model.RecordedShape(vcpus=2, memory_mib=2048, copies=guests),
        machines=(
            *(
                common_records.machine(name, host="compute-1")
                for name in names
            ),
            common_records.machine("peer", "peer"),
        ),
        workloads=(
            model.RecordedWorkload(
                name="fio",
                arguments={"size_mib": 512, "patterns": ["randread"]},
            ),
            model.RecordedWorkload(name="sysbench", arguments={"threads": 2}),
        ),
        machines_file=common_records.write_machines(details),
    )


def records(count=5, warmup=1, **arguments):
    """Return the records of a run."""
    return [
        run_record(
            number,
            planned_repetitions=count,
            counted=number > warmup,
            **arguments,
        )
        for number in range(1, count + warmup + 1)
    ]


def guest_records(count=5, warmup=1, **arguments):
    """Return the records of a run without bare metal."""
    return [
        changes.with_fields(whole, bare_metal=None, findings=())
        for whole in records(count, warmup, **arguments)
    ]


def incomplete(
    complete, metric="disk.fio.randread.iops", reason="fio: no space left"
):
    """Return a copy of a record that lacks a metric of its first guest."""
    return changes.lose(complete, 0, "g1", [metric], reason)


def _details():
    """Return a guest as Nova and it itself describe it."""
    return {
        "nova": {
            "id": "5c1f0000-0000-4000-8000-000000000003",
            "host": "compute-1",
            "host_id": "c0ffee" * 8,
            "hypervisor_version": "QEMU 7.2.22",
            "nova_microversion": "2.93",
            "flavor": {
                "name": "m1.small",
                "vcpus": 2,
                "memory_mib": 2048,
                "disk_gib": 10,
                "ephemeral_gib": 0,
                "swap_mib": 512,
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
        "facts": {},
    }


def _peer():
    """Return the other end of network workloads."""
    fingerprint = {"kernel": "6.1.0-18-amd64"}
    return {"nova": {}, "fingerprint": fingerprint, "tools": {}, "facts": {}}


def _measure(places, losses):
    """Return samples by metric; ``losses`` is 0 for bare metal."""
    return {
        metric: [_value(metric, place, losses) for place in places]
        for metric, *_ in METRICS.values()
    }


def _value(metric, place, losses):
    """Return a sample; ``losses`` is 0 for bare metal, 1 for a guest."""
    _, value, loss = METRICS[metric.name]
    if metric.scale == "count":
        return float(place % 4 * (1 + losses))
    factor = 1 + min(loss, 90) * losses / 100
    noise = 1 + _VARY[place % len(_VARY)] / 100
    return (
        value * noise * (1 / factor if metric.better == "higher" else factor)
    )
