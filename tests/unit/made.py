"""Documents, repetitions and rows that tests of several packages share.

A run writes documents, judges read repetitions, and drawings read rows.
"""

import atexit
import copy
import dataclasses
import pathlib
import random
import shutil
import tempfile

from rally_vmperf.baseline import document as baseline_documents
from rally_vmperf.judging.results import build
from rally_vmperf.judging.results import curve
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition as repetitions_
from rally_vmperf.measurement.density import points
from rally_vmperf.measurement.samples import sample
from rally_vmperf.questions import source_judge as questions
from rally_vmperf.questions.density import question as density
from rally_vmperf.questions.overhead import question as overhead
from rally_vmperf.records import files
from rally_vmperf.records import model
from rally_vmperf.records import sources

#: Where the files lie that the records name.
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="vmperf-made-"))
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)

RATE = {"unit": "events/s", "better": "higher", "scale": "ratio"}
SESSION = "5e55" * 8

# Records of one guest and one metric.


def columns(machines, samples):
    """Return the samples of a repetition as records have them.

    :param samples: The value, or the list of values, of each machine by
        metric; None for a machine without any.
    """
    return {"machines": list(machines), "values": samples}


def table(repetitions, copies=1):
    """Return the samples of bare metal as baselines have them.

    :param repetitions: The values of the copies by metric, each.
    """
    names = dict.fromkeys(name for samples in repetitions for name in samples)
    missing = [None] * copies
    return {
        "machines": [f"copy-{number}" for number in range(1, copies + 1)],
        "values": {
            name: [samples.get(name, missing) for samples in repetitions]
            for name in names
        },
    }


def condition(samples=(), **changes):
    """Return a condition of a record with some keys changed.

    :param samples: The values of the machines in their order by metric.
    """
    whole = {
        "axes": {},
        "position": 1,
        "state": "complete",
        "skip_reason": "",
        "machines": ["g1"],
        "reference_copies": None,
        "missing": [],
        "findings": [],
        "synchronisation": [],
    }
    whole.update(changes)
    return {
        "observations": columns(whole["machines"], dict(samples)),
        **whole,
    }


def _frame(**changes):
    """Return what all records hold alike."""
    whole = {
        "version": 4,
        "question": "overhead",
        "task": "8f7d2c4e-0000-4000-8000-000000000001",
        "run": "8f7d2c4e-0000-4000-8000-000000000002",
        "number": 1,
        "planned_repetitions": 3,
        "counted": True,
        "state": "complete",
        "started_at": "2026-01-02T03:04:05+00:00",
        "finished_at": "2026-01-02T03:05:05+00:00",
        "software": {"rally-vmperf": "1.0.0", "rally": "5.1.1"},
        "shape": {"vcpus": 1, "memory_mib": 1024, "copies": 1},
        "machines": [],
        "workloads": [{"name": "sysbench", "label": "", "arguments": {}}],
        "metrics": {},
        "expected_metrics": [],
        "bare_metal": None,
        "order": {"kind": "listed", "seed": 0},
        "options": {},
        "conditions": [],
        "missing": [],
        "findings": [],
        "raw_file": None,
        "machines_file": None,
    }
    return {**whole, **changes}


def reference_document(name, machine, copies):
    """Return bare metal as records hold it.

    :param copies: The values of repetitions by number of copies and metric.
    """
    return {
        "name": name,
        "machine": machine,
        "recorded_at": "2026-03-01T00:00:00+00:00",
        "digest": "0" * 64,
        "session": SESSION,
        "fingerprint": {"kernel": "6.1.0-18-amd64"},
        "tools": {},
        "references": {
            str(number): {"repetitions": table(entries_of_copies, number)}
            for number, entries_of_copies in copies.items()
        },
    }


def machine(name, role="guest", host=""):
    """Return a machine of a record."""
    boot = f"id-{name}#1" if role == "guest" else ""
    return model.Machine(name=name, role=role, host=host, boot_id=boot)


def machine_entry(*arguments, **options):
    """Return a machine as the document of a record names it."""
    return vars(machine(*arguments, **options))


def entry(**changes):
    """Return a baseline's entry with some keys changed."""
    copies = (changes.get("shape") or {}).get("copies", 1)
    whole = {
        "workload": "sysbench",
        "arguments": {"threads": 1, "time": 10, "max_prime": 10000},
        "shape": {"vcpus": 1, "memory_mib": 1024, "copies": 1},
        "limited_by": "cgroup v2",
        "facts": {},
        "metrics": {
            "cpu.sysbench.rate": dict(RATE),
            "cpu.sysbench.latency_p95": {
                "unit": "s",
                "better": "lower",
                "scale": "ratio",
            },
        },
        "repetitions": table(
            [
                {
                    "cpu.sysbench.rate": [value] * copies,
                    "cpu.sysbench.latency_p95": [round(1 / value, 6)] * copies,
                }
                for value in (100.0, 101.0, 99.0)
            ],
            copies,
        ),
        "findings": [],
    }
    return {**copy.deepcopy(whole), **changes}


def baseline(**changes):
    """Return a baseline from its document with some keys changed."""
    return baseline_documents.decode(baseline_document(**changes), "it")


def baseline_document(**changes):
    """Return the document of a valid baseline with some keys changed."""
    whole = {
        "version": 4,
        "name": "metal",
        "session": SESSION,
        "recorded_at": "2026-01-01T00:00:00+00:00",
        "software": {"rally-vmperf": "1"},
        "machine": {"name": "host-1", "fingerprint": {"kernel": "6.1"}},
        "entries": [entry()],
    }
    return {**whole, **changes}


# Records of overhead, realistic in form: what a run with all workloads holds.

#: Metric -> unit, direction, scale, value of bare metal, loss in percent.
METRICS = {
    "cpu.events.rate": ("events/s", "higher", "ratio", 3421.0, 2.1),
    "cpu.latency.p95": ("s", "lower", "ratio", 0.00117, 2.6),
    "memory.mbw.memcpy.bandwidth": ("B/s", "higher", "ratio", 9.84e9, 4.2),
    "disk.fio.randread.iops": ("ops/s", "higher", "ratio", 48210.0, 21.7),
    "disk.fio.randread.latency.p99": ("s", "lower", "ratio", 0.00081, 38.0),
    "network.iperf3.to_peer.throughput": (
        "bit/s",
        "higher",
        "ratio",
        9.4e9,
        0.9,
    ),
    "network.iperf3.to_peer.retransmits": ("1", "lower", "count", 2.0, 0.0),
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
    findings = [("peer_on_host", "peer", "the peer shares the host's boot")]
    if emulated:
        findings += [
            ("emulated_guest", name, "runs under TCG") for name in names
        ]
    return _frame(
        number=number,
        planned_repetitions=planned_repetitions,
        counted=counted,
        started_at=f"2026-03-04T05:{number:02d}:00+00:00",
        finished_at=f"2026-03-04T05:{number:02d}:50+00:00",
        shape={"vcpus": 2, "memory_mib": 2048, "copies": guests},
        machines=[
            *(machine_entry(name, host="compute-1") for name in names),
            machine_entry("peer", "peer"),
        ],
        workloads=[
            {
                "name": "fio",
                "label": "",
                "arguments": {"size_mib": 512, "patterns": ["randread"]},
            },
            {"name": "sysbench", "label": "", "arguments": {"threads": 2}},
        ],
        metrics=_meanings(METRICS),
        expected_metrics=list(METRICS),
        conditions=[
            condition(
                machines=names,
                samples={
                    name: [
                        _value(name, number + place, 20 if emulated else 1)
                        for place in range(guests)
                    ]
                    for name in METRICS
                },
                reference_copies=guests,
            )
        ],
        findings=[
            {"kind": kind, "subject": subject, "detail": detail}
            for kind, subject, detail in findings
        ],
        bare_metal=reference_document(
            "r740",
            "compute-1",
            {
                guests: [
                    {
                        name: [
                            _value(name, place + copied, 0)
                            for copied in range(1, guests + 1)
                        ]
                        for name in METRICS
                    }
                    for place in range(5)
                ]
            },
        ),
        machines_file=write_machines(details),
    )


def write_machines(details):
    """Write the facts of machines; return the reference to the file."""
    return vars(files.write_machines(FOLDER, details, print))


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
        {**whole, "bare_metal": None, "findings": []}
        for whole in records(count, warmup, **arguments)
    ]


def incomplete(complete, metric="disk.fio.randread.iops"):
    """Return a copy of a record that lacks a metric of its first guest."""
    changed = copy.deepcopy(complete)
    (only,) = changed["conditions"]
    changed["state"] = only["state"] = "incomplete"
    only["observations"]["values"][metric][0] = None
    only["missing"] = [
        {"name": metric, "machine": "g1", "reason": "fio: no space left"}
    ]
    return changed


def keep_files(folder):
    """Put the files that records name into the folder of a journal."""
    shutil.copytree(FOLDER, folder, dirs_exist_ok=True)


def redescribe(whole, change):
    """Have the machines' file of a record say something else.

    :param change: A function that changes the details by name of the machine.
    """
    reference = model.FileReference(**whole["machines_file"])
    details = files.read(FOLDER, reference)["machines"]
    change(details)
    whole["machines_file"] = write_machines(details)


def rename_metrics(whole, rename):
    """Give every metric of a record another name."""
    whole["metrics"] = {rename(n): m for n, m in whole["metrics"].items()}
    whole["expected_metrics"] = list(whole["metrics"])
    for samples in list_samples(whole):
        for name in list(samples):
            samples[rename(name)] = samples.pop(name)


def list_samples(whole):
    """Return the values by metric of all conditions and of bare metal."""
    bare = (whole["bare_metal"] or {"references": {}})["references"]
    return [
        *(
            condition["observations"]["values"]
            for condition in whole["conditions"]
        ),
        *(
            entry_of_copies["repetitions"]["values"]
            for entry_of_copies in bare.values()
        ),
    ]


#: Times of a fixed amount of work.
_FIXED_WORK = ("cpu.bzip2.compress_time",)


def _meanings(metrics):
    keys = ("unit", "better", "scale")
    return {
        name: {
            **dict(zip(keys, meaning[:3], strict=True)),
            **({"additive": True} if name in _FIXED_WORK else {}),
        }
        for name, meaning in metrics.items()
    }


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


def _value(name, place, losses):
    """Return a sample; ``losses`` is 0 for bare metal, 1 for a guest."""
    _, better, scale, value, loss = METRICS[name]
    if scale == "count":
        return float(place % 4 * (1 + losses))
    factor = 1 + min(loss, 90) * losses / 100
    noise = 1 + _VARY[place % len(_VARY)] / 100
    return value * noise * (1 / factor if better == "higher" else factor)


# Records of density, as a run on a host with two processors leaves them.

#: Metric -> unit, direction, scale, value of a solo guest.
DENSITY_METRICS = {
    "cpu.sysbench.rate": ("events/s", "higher", "ratio", 400.0),
    "cpu.bzip2.compress_time": ("s", "lower", "ratio", 2.5),
    "disk.fio.randread.iops": ("ops/s", "higher", "ratio", 9000.0),
    "disk.fio.randread.latency_p99": ("s", "lower", "ratio", 0.004),
    "network.iperf3.to_peer.throughput": ("bit/s", "higher", "ratio", 2.0e9),
    "network.iperf3.to_peer.retransmits": ("1", "lower", "count", 3.0),
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
    **changes,
):
    """Return a complete, valid record of levels, some keys changed.

    :param hosts: The hosts, each with as many guests as the largest level.
    :param bare_metal: The numbers of copies that the baseline has.
    :param noise: The noise of the values, as a share of them.
    """
    most = max(levels)
    noisy = _noisy(noise, f"{seed}/{number}")
    names = [f"g{place}" for place in range(1, most * hosts + 1)]
    homes = {n: f"compute-{i // most + 1}" for i, n in enumerate(names)}
    details = {name: _tiny(name, host) for name, host in homes.items()}
    whole = _frame(
        question="density",
        run="8f7d2c4e-0000-4000-8000-000000000003",
        number=number,
        planned_repetitions=planned_repetitions,
        counted=counted,
        started_at=f"2026-03-04T05:{number:02d}:00+00:00",
        finished_at=f"2026-03-04T05:{number:02d}:50+00:00",
        shape={"vcpus": 1, "memory_mib": 512, "copies": len(names)},
        machines=[machine_entry(n, host=homes[n]) for n in names],
        workloads=[
            {"name": name, "label": "", "arguments": {}}
            for name in ("sysbench", "bzip2", "fio", "iperf3")
        ],
        metrics=_meanings(DENSITY_METRICS),
        expected_metrics=list(DENSITY_METRICS),
        order={"kind": "listed", "seed": seed},
        options={"idle_guests": "running"},
        conditions=[
            _level(
                guests,
                position,
                [
                    names[h * most + i]
                    for h in range(hosts)
                    for i in range(guests)
                ],
                guests if guests in bare_metal else None,
                noisy,
            )
            for position, guests in enumerate(levels, 1)
        ],
        bare_metal=reference_document(
            "r740",
            "compute-1",
            {
                guests: _copies(guests, noise, seed)
                for guests in levels
                if guests in bare_metal
            },
        )
        if bare_metal
        else None,
        machines_file=write_machines(details),
    )
    return {**whole, **changes}


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


def level_of(whole, guests):
    """Return the condition of a record with so many guests."""
    (condition,) = (
        candidate
        for candidate in whole["conditions"]
        if candidate["axes"]["guests"] == guests
    )
    return condition


def skipped(guests, position, reason):
    """Return a level that was not run."""
    return condition(
        axes={"guests": guests},
        position=position,
        state="skipped",
        skip_reason=reason,
        machines=[],
    )


def lose(whole, guests, name):
    """Have a guest die in the middle of a level of a record."""
    level = level_of(whole, guests)
    gone = list(DENSITY_METRICS)[2:]
    for metric in gone:
        place = level["machines"].index(name)
        level["observations"]["values"][metric][place] = None
    level["missing"] = [
        {
            "name": metric,
            "machine": name,
            "reason": f"{name} no longer answers",
        }
        for metric in sorted(gone)
    ]
    level["state"] = whole["state"] = "incomplete"


def broken():
    """Return records of eight levels with a death, a skip and a void."""
    records = density_records(
        tuple(range(1, 9)), bare_metal=(1, 2, 4), noise=0.04
    )
    lose(records[3], 5, "g3")
    records[2]["conditions"][-1] = skipped(8, 8, "the total fell")
    records[4]["conditions"][5]["findings"] = [
        {"kind": "guest_rebooted", "subject": "g1", "detail": "booted anew"}
    ]
    return records


def few(records, names=("disk.fio.randread.iops",)):
    """Return records with these metrics alone, which are drawn quickly."""
    for record in records:
        record["metrics"] = {name: record["metrics"][name] for name in names}
        record["expected_metrics"] = [*names]
        for samples in list_samples(record):
            for name in samples.keys() - set(names):
                del samples[name]
    return records


def decoded(records):
    """Return records and those in documents; None for an invalid document."""
    return [
        document
        if isinstance(document, model.Record)
        else model.decode_or_none(document)
        for document in records
    ]


def run_of(records, limits=None, folder=FOLDER, question="overhead"):
    """Return a run as a report shows it, judged by limits by SLA."""
    source = sources.Source(
        question=question,
        scenario="",
        records=decoded(records),
        criteria=limits or {},
        folder=folder,
    )
    return questions.create_report(questions.judge_source(source))


def density_run(records, limits=None):
    """Return a run of density as a report shows it, judged by the limits."""
    return run_of(records, limits, question="density")


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


def _level(guests, position, machines, copies, noisy):
    alone = len(machines) == 1
    return condition(
        axes={"guests": guests},
        position=position,
        machines=machines,
        samples=_samples(len(machines), guests, noisy, 1.0),
        reference_copies=copies,
        synchronisation=[
            {
                "workload": workload,
                "command": command,
                "bound": bound,
                "skew": None if alone else 0.004 * noisy(),
                "uncertainty": None if alone else 0.001,
                "overlap": None if alone else 0.99,
                "metrics": [metric],
            }
            for workload, command, bound, metric in (
                ("sysbench", "cpu", "time", "cpu.sysbench.rate"),
                ("bzip2", "compress", "size", "cpu.bzip2.compress_time"),
                ("fio", "randread", "time", "disk.fio.randread.iops"),
                ("iperf3", "to_peer", "time", "network.iperf3.throughput"),
            )
        ],
    )


def _samples(sources, guests, noisy, speed):
    by_source = [
        [_shared(name, guests, noisy(), speed) for name in DENSITY_METRICS]
        for _ in range(sources)
    ]
    return {
        name: [values[place] for values in by_source]
        for place, name in enumerate(DENSITY_METRICS)
    }


def _shared(name, guests, noise, speed):
    _, better, scale, alone = DENSITY_METRICS[name]
    if scale == "count":
        return float(round(alone * guests))
    share = min(1.0, _CAPACITY[name] / guests) * speed * noise
    return alone * share if better == "higher" else alone / share


# Repetitions, as judges are given them.

IOPS = sample.Metric(
    name="disk.fio.randread.iops", unit="ops/s", better="higher"
)
TIME = sample.Metric(
    name="cpu.bzip2.compress_time", unit="s", better="lower", additive=True
)
COUNT = sample.Metric(
    name="network.tcp.retransmits", unit="1", better="lower", scale="count"
)
BARE = {
    IOPS: (12300.0, 12350.0, 12280.0, 12320.0),
    TIME: (10.0, 10.02, 9.97, 10.01),
    COUNT: (0.0, 0.0, 1.0, 0.0),
}

NEAR = {IOPS: (11000.0, 11050.0, 10980.0, 11020.0)}  # overhead 10.6 %
FAR = {IOPS: (9000.0, 9050.0, 8980.0, 9020.0)}  # overhead 26.8 %
BOTH = {**NEAR, TIME: (13.0, 13.02, 12.98, 13.01)}  # overhead 30 %

GAP = (repetitions_.Missing(name="fio", machine="g1", reason="gone"),)


def observations(sources, by_metric):
    """Return observations.

    :param by_metric: The value or the list of values of each source, or None,
        by metric.
    """
    return tuple(
        sample.Observation(
            source=source, sample=sample.Sample(metric=metric, value=value)
        )
        for metric, cells in by_metric.items()
        for source, cell in zip(sources, cells, strict=True)
        for value in (cell if isinstance(cell, list) else [cell])
        if value is not None
    )


def reference(by_metric=None, copies=1):
    """Return bare metal, ``{metric: one value a repetition}``, all alike."""
    by_metric = by_metric or {}
    longest = max((len(values) for values in by_metric.values()), default=0)
    return repetitions_.Reference(
        name="r740",
        machine="compute-1",
        recorded_at="2026-01-02T03:04:05Z",
        repetitions=tuple(
            observations(
                [f"copy-{place}" for place in range(copies)],
                {
                    metric: [values[place]] * copies
                    for metric, values in by_metric.items()
                    if place < len(values)
                },
            )
            for place in range(longest)
        ),
    )


def overlapping(share, *metrics):
    """Return the start of a command of which machines did a share at once."""
    return (
        repetitions_.Synchronisation(
            workload="w",
            command="c",
            bound="time",
            skew=0.1,
            uncertainty=0.01,
            overlap=share,
            metrics=tuple(metric.name for metric in metrics),
        ),
    )


def build_condition(number, by_metric, axes=None, **changes):
    """Return a condition, ``{metric: one value a guest}``."""
    guests = len(next(iter(by_metric.values()), ()))
    names = tuple(changes.get("machines", ()))
    if len(names) != guests:
        names = tuple(f"g{place + 1}" for place in range(guests))
    whole = {
        "axes": axes or {},
        "number": number,
        "planned_repetitions": 3,
        "counted": True,
        "position": 1,
        "state": "complete",
        "skip_reason": "",
        "machines": names,
        "expected_metrics": tuple(by_metric),
        "observations": observations(names, by_metric),
        "missing": (),
        "findings": (),
        "synchronisation": (),
        "reference": reference(),
    }
    return repetitions_.Condition(**{**whole, **changes})


def repetition(number, conditions, **changes):
    """Return a repetition of these conditions."""
    whole = {
        "number": number,
        "planned_repetitions": 3,
        "counted": True,
        "state": "complete",
        "expected_metrics": (),
        "conditions": tuple(conditions),
        "hosts": {"g1": "host-1", "g2": "host-1", "g3": "host-2"},
        "missing": (),
        "findings": (),
    }
    return repetitions_.Repetition(**{**whole, **changes})


def build_repetition(number, values, **changes):
    """Return one repetition of one guest, ``{metric: value}``."""
    changes = {
        "reference": reference(BARE),
        "planned_repetitions": 4,
        **changes,
    }
    only = build_condition(number, {m: [value] for m, value in values.items()})
    return repetition(
        number,
        [dataclasses.replace(only, **changes)],
        **{
            key: changes[key]
            for key in (
                "planned_repetitions",
                "counted",
                "state",
                "expected_metrics",
            )
            if key in changes
        },
    )


def several(values, **changes):
    """Return repetitions, ``{metric: one value a repetition}``."""
    count = len(next(iter(values.values())))
    changes.setdefault("planned_repetitions", count)
    return [
        build_repetition(
            place + 1,
            {metric: series[place] for metric, series in values.items()},
            **changes,
        )
        for place in range(count)
    ]


def changed(entry, **changes):
    """Return a repetition whose only condition is changed."""
    only = dataclasses.replace(entry.conditions[0], **changes)
    state = {"state": changes["state"]} if "state" in changes else {}
    return dataclasses.replace(entry, conditions=(only,), **state)


def feed_judge(judge, entries):
    """Return the judge after the repetitions were added."""
    for entry in entries:
        judge.add(entry)
    return judge


def judge(entries, max_percent=None, **arguments):
    """Return a judge of overhead with these repetitions."""
    limits = {"*": 15} if max_percent is None else max_percent
    options = {"max_percent": limits, **arguments}
    return feed_judge(overhead.OVERHEAD.parse(options).create_judge(), entries)


def judgement(entries, max_percent=None, **arguments):
    return judge(entries, max_percent, **arguments).judgement()


def build_findings(kind, subject="g1", metrics=()):
    return (
        finding.Finding(
            kind=kind, subject=subject, detail="so it is", metrics=metrics
        ),
    )


# Repetitions whose conditions are numbers of guests.

EVENTS = sample.Metric(
    name="cpu.sysbench.rate", unit="events/s", better="higher"
)
LATENCY = sample.Metric(
    name="disk.fio.randread.latency_p99", unit="s", better="lower"
)
#: What disturbs each repetition as a whole.
NOISE = (1.0, 1.002, 0.997, 1.001, 0.9985)

#: Two processors shared: guests -> the rate of each guest.
SHARED = {1: [312.0], 2: [310.0, 305.0], 3: [205.0, 204.0, 203.0]}

LEVEL_GAP = (
    repetitions_.Missing(name=EVENTS.name, machine="g3", reason="it died"),
)


def level(number, guests, by_metric, **changes):
    """Return a condition of so many guests, ``{metric: one value each}``."""
    at_all = guests * changes.get("batches", 1)
    names = tuple(f"g{place + 1}" for place in range(at_all))
    changes = {"position": guests, "machines": names, **changes}
    return build_condition(number, by_metric, {"guests": guests}, **changes)


def levels(
    by_metric,
    count=3,
    bare=None,
    noise=NOISE,
    apart=False,
    batches=None,
    **changes,
):
    """Return repetitions, ``{metric: {guests: [one value a guest]}}``.

    :param apart: True if levels vary on their own, not all alike.
    :param batches: The number of groups in which guests ran, by number of
        guests, if not at once.
    :param bare: The value of each copy, ``{metric: one value a repetition}``.
    """
    changes.setdefault("planned_repetitions", count)
    numbers = sorted({n for values in by_metric.values() for n in values})
    return [
        repetition(
            place + 1,
            [
                level(
                    place + 1,
                    guests,
                    {
                        metric: [
                            value
                            * noise[(place + guests * apart) % len(noise)]
                            for value in values[guests]
                        ]
                        for metric, values in by_metric.items()
                        if guests in values
                    },
                    reference=reference(bare, guests),
                    batches=(batches or {}).get(guests, 1),
                    **changes,
                )
                for guests in numbers
            ],
            **{k: v for k, v in changes.items() if k != "findings"},
        )
        for place in range(count)
    ]


def judge_of_degradation(entries, max_percent=None, **arguments):
    """Return a judge of degradation that was given these repetitions."""
    limits = {"*": 15} if max_percent is None else max_percent
    options = {"max_percent": limits, **arguments}
    return feed_judge(
        density.DEGRADATION.parse(options).create_judge(), entries
    )


def degradation(entries, max_percent=None, **arguments):
    return judge_of_degradation(entries, max_percent, **arguments).judgement()


def fairness(entries, min_index=None, max_spread_percent=None, **arguments):
    """Return the judgement on fairness of these repetitions."""
    options = {
        "min_index": min_index or {},
        "max_spread_percent": max_spread_percent or {},
        **arguments,
    }
    judge = density.FAIRNESS.parse(options).create_judge()
    return feed_judge(judge, entries).judgement()


def with_level(entries, number, level):
    """Return the repetitions with one level of one of them exchanged."""
    return [
        dataclasses.replace(
            entry,
            state=level.state if level.state != "skipped" else entry.state,
            conditions=tuple(
                level if each.axes == level.axes else each
                for each in entry.conditions
            ),
        )
        if entry.number == number
        else entry
        for entry in entries
    ]


def killed(number=2):
    """Return repetitions of which a guest died at level 3."""
    broken = level(
        number,
        3,
        {EVENTS: [205.0, 204.0, 203.0]},
        state="incomplete",
        missing=LEVEL_GAP,
        observations=observations(["g1", "g2"], {EVENTS: [205.0, 204.0]}),
    )
    return with_level(levels({EVENTS: SHARED}), number, broken)


#: The fields of a record that belong to its repetition.
_MEASURED = {
    field.name for field in dataclasses.fields(repetitions_.Repetition)
}


def record(rate=90.0, **changes):
    """Return the record of a guest, with one sample.

    :param changes: Other fields of the record or of its repetition.
    """
    measured = {
        "run": "workload-1",
        "question": "overhead",
        "expected_metrics": (EVENTS,),
        "conditions": [
            build_condition(
                2,
                {EVENTS: [rate]},
                reference=reference({EVENTS: (100.0, 101.0, 99.0)}),
            )
        ],
        **{key: changes.pop(key) for key in _MEASURED & changes.keys()},
    }
    number = measured.pop("number", 2)
    changes.setdefault("machines", (machine("g1"),))
    return record_of(
        repetition(number, measured.pop("conditions"), **measured), **changes
    )


def record_of(measured, **changes):
    """Return the record of a repetition as it is read from a journal.

    :param changes: The other fields of the record.
    """
    references = {}
    conditions = []
    for compared in measured.conditions:
        copies = None
        if compared.reference.repetitions:
            copies = max(1, len(compared.machines))
            references[copies] = compared.reference
        conditions.append(
            dataclasses.replace(compared, reference_copies=copies)
        )
    sampled = [
        observation.sample.metric
        for observations_ in (
            *(compared.observations for compared in measured.conditions),
            *(
                observations_
                for compared in references.values()
                for observations_ in compared.repetitions
            ),
        )
        for observation in observations_
    ]
    fields = {
        "task": "task-1",
        "started_at": "2026-01-02T03:04:05+00:00",
        "finished_at": "2026-01-02T03:05:05+00:00",
        "software": {"rally-vmperf": "1.0.0", "rally": "5.1.1"},
        "shape": model.Shape(vcpus=1, memory_mib=1024, copies=1),
        "machines": tuple(
            machine(name, host=host) for name, host in measured.hosts.items()
        ),
        "workloads": (model.Workload(name="sysbench", arguments={}),),
        "metrics": tuple(
            dict.fromkeys((*measured.expected_metrics, *sampled))
        ),
        "bare_metal": bare_metal(references) if references else None,
    }
    measured = dataclasses.replace(measured, conditions=tuple(conditions))
    return model.link(
        model.Record(repetition=measured, **{**fields, **changes})
    )


def bare_metal(references, **changes):
    """Return the bare metal of a record.

    :param references: The samples by number of copies.
    :param changes: Other fields.
    """
    first = next(iter(references.values()))
    return model.BareMetal(
        **{
            "name": first.name,
            "machine": first.machine,
            "recorded_at": first.recorded_at,
            "digest": "0" * 64,
            "session": SESSION,
            "fingerprint": {"kernel": "6.1.0-18-amd64"},
            "tools": {},
            "references": references,
            **changes,
        }
    )


def document(record_):
    """Return a record as the document in a journal."""
    return model.FORMAT.encode(record_)


# Rows of a density judgement, for drawings.  Guests follow a smooth curve up
# to a noise that is the same each time.

#: Metric -> unit, direction, value of a solo guest, contention, coherency.
CURVE_METRICS = {
    "cpu.events.rate": ("events/s", "higher", 412.0, 0.31, 0.012),
    "cpu.bzip2.compress_time": ("s", "lower", 2.51, 0.29, 0.02),
    "memory.mbw.memcpy.bandwidth": ("B/s", "higher", 9.84e9, 0.02, 0.004),
    "disk.fio.randread.iops": ("ops/s", "higher", 48210.0, 0.42, 0.035),
    "disk.fio.randread.latency.p99": ("s", "lower", 0.00081, 0.5, 0.05),
    "network.iperf3.to_peer.throughput": (
        "bit/s",
        "higher",
        9.4e9,
        0.9,
        0.003,
    ),
}
#: What guests of a level have in percent of their mean, in this order.
_UNFAIR = (2.0, -3.0, 1.0, 0.5, -0.5, -1.5, 0.0, 1.5)
#: The same for repetitions.
_CURVE_NOISE = (0.0, 0.9, -1.1, 0.4, -0.6)
_BARE = 1.09


def density_row(
    name,
    levels=(1, 2, 3),
    limit=20.0,
    void=(),
    gaps=(),
    compare_to="solo_guest",
    statistic="mean",
    limited=None,
):
    """Return what is known of a metric.

    :param limited: The numbers of guests with the limit; by default all but
        one.
    :param void: The numbers of guests whose figures mean nothing.
    :param gaps: The numbers of guests for which nothing was measured.
    """
    unit, better, *_ = CURVE_METRICS[name]
    metric = sample.Metric(
        name=name,
        unit=unit,
        better=better,
        additive=True if name in _FIXED_WORK else None,
    )
    shown = []
    for guests in levels:
        lone = shown[0] if shown and shown[0].guests == 1 else None
        shown.append(
            _point(metric, guests, guests in void, guests in gaps, lone)
        )
    results = build.build_degradation(
        shown,
        None if limit is None else (limit, name),
        limited or [guests for guests in levels if guests > 1],
        statistic,
        compare_to,
        (),
    )
    return curve.Curve(
        results=tuple(result.with_verdict((), False) for result in results)
    )


def unmeasured(name):
    """Return a metric of which nothing is known."""
    return density_row(name, gaps=(1, 2, 3))


def _curve_share(metric, guests):
    contention, coherency = CURVE_METRICS[metric.name][3:]
    more = guests - 1
    return 1 / (1 + contention * more + coherency * guests * more)


def _curve_value(metric, rate):
    lone = CURVE_METRICS[metric.name][2]
    return lone * rate if metric.better == "higher" else lone / rate


def _gathered(metric, guests, factor=1.0):
    return tuple(
        sample.MetricSamples(
            number=number,
            observations=tuple(
                sample.Observation(
                    source=f"g{place}",
                    sample=sample.Sample(
                        metric=metric,
                        value=_curve_value(
                            metric,
                            _curve_share(metric, guests)
                            * factor
                            * (1 + noise * guests / 100)
                            * (1 + _UNFAIR[place % 8] * (guests > 1) / 100),
                        ),
                    ),
                )
                for place in range(1, guests + 1)
            ),
        )
        for number, noise in enumerate(_CURVE_NOISE, 2)
    )


def _point(metric, guests, void, gap, lone):
    entries = () if gap else _gathered(metric, guests)
    return points.Point(
        metric=metric,
        guests=guests,
        samples=entries,
        bare=_gathered(metric, guests, _BARE),
        solo=lone,
        hosts={f"g{place}": "compute-1" for place in range(1, guests + 1)},
        void="started one after the other" if void else "",
        reason="no counted repetition has it for every guest" if gap else "",
    )
