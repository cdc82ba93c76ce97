# SPDX-License-Identifier: Apache-2.0
"""Records of density, as a run on a host with two processors leaves them."""

import random

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.samples import sample
from rally_vmperf.records import model
from tests.unit.made import changes
from tests.unit.made import common_records
from tests.unit.made import repetitions

#: The value of a solo guest by metric.
_VALUES = {
    repetitions.EVENTS: 400.0,
    repetitions.TIME: 2.5,
    repetitions.IOPS: 9000.0,
    repetitions.LATENCY: 0.004,
    sample.Metric(
        "network.iperf3.to_peer.throughput", "bit/s", "higher"
    ): 2.0e9,
    sample.Metric(
        "network.iperf3.to_peer.retransmits", "1", "lower", scale="count"
    ): 3.0,
}
DENSITY_LIMITS = {
    "vmperf_degradation": {
        "max_percent": {"cpu.*": 45, "disk.*": 20, "network.*": 80}
    },
    "vmperf_fairness": {
        "min_index": {"*": 0.9},
        "max_spread_percent": {"disk.*": 5},
    },
}
#: What the whole host gives, in solo guests.
_CAPACITY = {
    "cpu.sysbench.rate": 2.0,
    "cpu.bzip2.compress_time": 2.0,
    "disk.fio.randread.iops": 1.6,
    "disk.fio.randread.latency_p99": 1.6,
    "network.iperf3.to_peer.throughput": 1.0,
}
#: Loss of a solo guest against a single copy.
_VIRTUALISATION = 0.9


def density_record(
    number=1,
    levels=(1, 2, 3),
    *,
    planned_repetitions=3,
    counted=True,
    hosts=1,
    bare_metal=(),
    noise=0.01,
    seed=7,
):
    """Return a complete record of levels.

    :param hosts: The hosts, each with as many guests as the largest level.
    :param bare_metal: The numbers of copies that the baseline has.
    :param noise: The noise of the values, as a share of them.
    """
    most = max(levels)
    noisy = _noisy(noise, f"{seed}/{number}")
    names = [f"g{place}" for place in range(1, most * hosts + 1)]
    homes = {n: f"compute-{i // most + 1}" for i, n in enumerate(names)}
    details = {name: _tiny(name, host) for name, host in homes.items()}
    conditions = [
        _level(
            number,
            guests,
            position,
            [names[h * most + i] for h in range(hosts) for i in range(guests)],
            repetitions.build_reference(_copies(guests, noise, seed))
            if guests in bare_metal
            else repetitions.reference(),
            noisy,
        )
        for position, guests in enumerate(levels, 1)
    ]
    measured = repetitions.repetition(
        number,
        conditions,
        planned_repetitions=planned_repetitions,
        counted=counted,
        expected_metrics=tuple(_VALUES),
        question="density",
        run="8f7d2c4e-0000-4000-8000-000000000003",
    )
    return common_records.record_of(
        measured,
        started_at=f"2026-03-04T05:{number:02d}:00+00:00",
        finished_at=f"2026-03-04T05:{number:02d}:50+00:00",
        shape=model.RecordedShape(vcpus=1, memory_mib=512, copies=len(names)),
        machines=tuple(
            common_records.machine(n, host=homes[n]) for n in names
        ),
        workloads=tuple(
            model.RecordedWorkload(name=name, arguments={})
            for name in ("sysbench", "bzip2", "fio", "iperf3")
        ),
        order=model.Order(kind="listed", seed=seed),
        options={"idle_guests": "running"},
        machines_file=common_records.write_machines(details),
    )


def density_records(levels=(1, 2, 3), planned_repetitions=4, **arguments):
    """Return the records of a density run with a warm-up."""
    return [
        density_record(
            number,
            levels,
            planned_repetitions=planned_repetitions,
            counted=number > 1,
            **arguments,
        )
        for number in range(1, planned_repetitions + 2)
    ]


def kill(record, guests, name):
    """Return a record in which a guest dies in the middle of a level."""
    conditions = record.repetition.conditions
    place = [condition.guests for condition in conditions].index(guests)
    gone = sorted(metric.name for metric in [*_VALUES][2:])
    return changes.lose(record, place, name, gone, f"{name} no longer answers")


def broken():
    """Return records of eight levels with a death, a skip and a void."""
    records = density_records(
        tuple(range(1, 9)), bare_metal=(1, 2, 4), noise=0.04
    )
    records[3] = kill(records[3], 5, "g3")
    records[2] = changes.with_condition(
        records[2], 7, skip_reason="the total fell", **changes.SKIPPED
    )
    rebooted = finding.Finding("guest_rebooted", "g1", "booted anew")
    records[4] = changes.with_condition(records[4], 5, findings=(rebooted,))
    return records


def _tiny(name, host):
    return {
        "nova": {
            "id": f"id-{name}",
            "host_id": f"hash-{host}",
            "host": host,
            "hypervisor": host,
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
        "facts": {},
    }


def _noisy(noise, seed):
    """Return what gives numbers around 1, the same ones for a seed."""
    numbers = random.Random(seed)
    return lambda: 1 + numbers.uniform(-noise, noise)


def _copies(copies, noise, seed):
    noisy = _noisy(noise, f"{seed} bare {copies}")
    return [
        _samples(copies, copies, noisy, 1 / _VIRTUALISATION) for _ in range(3)
    ]


def _level(number, guests, position, machines, reference, noisy):
    alone = len(machines) == 1
    return repetitions.build_condition(
        number,
        _samples(len(machines), guests, noisy, 1.0),
        {"guests": guests},
        position=position,
        machines=tuple(machines),
        reference=reference,
        reference_copies=guests,
        synchronisation=tuple(
            repetition.Synchronisation(
                workload=workload,
                command=command,
                bound=bound,
                skew=None if alone else 0.004 * noisy(),
                uncertainty=None if alone else 0.001,
                overlap=None if alone else 0.99,
                metrics=(metric,),
            )
            for workload, command, bound, metric in (
                ("sysbench", "cpu", "time", "cpu.sysbench.rate"),
                ("bzip2", "compress", "size", "cpu.bzip2.compress_time"),
                ("fio", "randread", "time", "disk.fio.randread.iops"),
                ("iperf3", "to_peer", "time", "network.iperf3.throughput"),
            )
        ),
    )


def _samples(sources, guests, noisy, speed):
    by_source = [
        [_shared(metric, guests, noisy(), speed) for metric in _VALUES]
        for _ in range(sources)
    ]
    return {
        metric: [values[place] for values in by_source]
        for place, metric in enumerate(_VALUES)
    }


def _shared(metric, guests, noise, speed):
    alone = _VALUES[metric]
    if metric.scale == "count":
        return float(round(alone * guests))
    share = min(1.0, _CAPACITY[metric.name] / guests) * speed * noise
    return alone * share if metric.better == "higher" else alone / share
