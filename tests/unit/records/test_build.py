"""Tests of records as a run builds them, from one guest to a thousand."""

import dataclasses
import json
import math
import pathlib
import random
import tempfile
import unittest

from rally_vmperf.execution import assignment
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.samples import histogram
from rally_vmperf.measurement.samples import merged
from rally_vmperf.measurement.samples import sample
from rally_vmperf.records import build
from rally_vmperf.records import codec
from rally_vmperf.records import journal
from rally_vmperf.records import merged as merged_
from rally_vmperf.records import model
from rally_vmperf.records import schema
from rally_vmperf.workloads import base as workloads
from tests.unit import made
from tests.unit.measurement.samples.test_cpu_seconds import usage

RATE = sample.Metric(
    name="cpu.sysbench.rate", unit="events/s", better="higher"
)
START = repetition.Synchronisation(
    workload="sysbench",
    command="cpu",
    bound="time",
    skew=0.003,
    uncertainty=0.001,
    overlap=0.98,
)
STEAL = finding.Finding(kind="steal_time", subject="g1", detail="9 %")
AGED = finding.Finding(kind="baseline_old", subject="baseline", detail="99 d")
GAP = repetition.Missing(name="cpu.x", machine="g2", reason="killed")
#: The workloads of tasks/kvm-overhead.yaml, with its defaults.
DEFAULT = [
    {"name": "sysbench"},
    {"name": "bzip2"},
    {"name": "mbw"},
    {"name": "fio"},
    {"name": "iperf3"},
]
ENDS = workloads.Endpoints(
    peer="192.0.2.1", partner="192.0.2.2", own_ports=range(5201, 5204)
)
#: A value of each unit, as long in writing as those of a real run.
TYPICAL = {
    "events/s": 312.45,
    "s": 0.0008123,
    "B/s": 9.84e9,
    "ops/s": 9123.4,
    "bit/s": 9.41e9,
    "1": 40.0,
}


def observe(names, metrics, chance):
    """Return what each of these machines reported of each metric."""
    return tuple(
        sample.Observation(
            source=name,
            sample=sample.Sample(
                metric=metric,
                value=TYPICAL[metric.unit] * chance.uniform(0.5, 2),
            ),
        )
        for name in names
        for metric in metrics
    )


def setting(guests, metrics, reference=None, **changes):
    """Return what stays the same over a run of so many guests."""
    names = [f"vmperf-guest-{number}" for number in range(1, guests + 1)]
    whole = {
        "shape": {"vcpus": 1, "memory_mib": 1024, "copies": guests},
        "machines": [
            model.Machine(
                name=name,
                role="guest",
                host="compute-1.example.org",
                boot_id=f"8f7d2c4e-0000-4000-8000-{place:012d}#1",
            )
            for place, name in enumerate(names)
        ],
        "details": {},
        "workloads": [
            {"name": one["name"], "label": "", "arguments": {}}
            for one in DEFAULT
        ],
        "expected_metrics": [metric.name for metric in metrics],
        "metrics": codec.encode_metrics(metrics),
        "reference": reference,
        "findings": (),
    }
    return names, build.Setting(**{**whole, **changes})


def identity(question="density"):
    """Return which repetition this is."""
    return build.Identity(
        question=question,
        task="t",
        rally_workload="w",
        repetition=2,
        planned_repetitions=3,
        counted=True,
    )


def took(runs):
    """Return what the workloads' commands took, as long as in a real run."""
    return [
        usage(
            step.name,
            workload=one.title,
            runs=runs,
            user=1.2345 * runs,
            work=98765.4 * runs,
        )
        for one in assignment.assign(DEFAULT)
        for step in one.workload.commands(one.arguments, ENDS)
    ]


def shapes(machines, repetitions, chance):
    """Return distributions and lines, as long as those of a real run.

    Of all machines together: latencies of fio, rates of fio and iperf3.
    """
    every = [
        metric
        for one in assignment.assign(DEFAULT)
        for metric in one.metrics()
    ]
    distributions = []
    for name in sample.distribution_names(metric.name for metric in every):
        # About as many as a disk of spinning rust does in ten seconds.
        requests = 70_000 if "rand" in name else 2_000
        requests *= machines * repetitions
        middle = chance.uniform(0.0002, 0.002)
        distributions.append(
            (
                machines,
                sample.Distribution(
                    metric=sample.Metric(name=name, unit="s", better="lower"),
                    histogram=histogram.Histogram.of(
                        (middle * 1.02**step, count)
                        for step in range(-200, 200)
                        if (
                            count := round(
                                requests / 100 * math.exp(-((step / 57) ** 2))
                            )
                        )
                    ),
                ),
            )
        )
    names = ("bit/s", "ops/s")
    return {
        "distributions": tuple(
            dataclasses.replace(one, machines=machines)
            for machines, found in distributions
            for one in merged.distributions([("g1", found)])
        ),
        "time_series": tuple(
            dataclasses.replace(one, machines=machines)
            for one in merged.time_series(
                (
                    name,
                    sample.Series(
                        metric=metric,
                        points=tuple(
                            (second, 1e4 * chance.uniform(1, 2))
                            for second in range(1, 11)
                        ),
                    ),
                )
                for name in ("g1", "g2")
                for metric in every
                if metric.unit in names
            )
        ),
    }


def bare(numbers, metrics, chance):
    """Return a reference of five repetitions in so many copies."""
    return made.reference_document(
        "metal",
        "compute-1",
        {
            number: [
                codec.encode_samples(
                    observe(codec.copy_names(number), metrics, chance),
                    codec.copy_names(number),
                )
                for _ in range(5)
            ]
            for number in numbers
        },
    )


class TestBuilt(unittest.TestCase):
    """What a run measured comes back as a repetition."""

    def setUp(self):
        """Build a record of two levels, the larger first."""
        super().setUp()
        _, same = setting(
            3, [RATE], made.record()["reference"], findings=(AGED,)
        )
        self.record = build.build(
            identity(),
            same,
            [
                build.ConditionResult(
                    axes={"guests": 2},
                    position=1,
                    state="incomplete",
                    machines=("g1", "g2"),
                    observations=observe(["g1"], [RATE], random.Random(1)),
                    missing=(GAP,),
                    findings=(STEAL, STEAL),
                    synchronisation=(START,),
                    reference_copies=1,
                    command_usage=(
                        usage(user=0.25),
                        usage(work=None, unit=""),
                        usage("write"),
                    ),
                ),
                build.ConditionResult(
                    axes={"guests": 3},
                    position=2,
                    state="skipped",
                    skip_reason="too many",
                ),
            ],
            state="incomplete",
            started_at=build.now(),
            order=model.Order(kind="shuffled", seed=3),
            options={"idle_guests": "paused"},
            missing=[GAP],
            findings=[AGED],
        )

    def test_it_is_a_record(self):
        """By the schema, and through the journal."""
        schema.check(self.record)
        with tempfile.TemporaryDirectory() as folder:
            kept = journal.Journal(folder, "w")
            kept.append(self.record)
            self.assertEqual([self.record], kept.read())

    def test_each_condition_has_its_own(self):
        """Samples, gaps, findings, starts and bare metal."""
        (two,) = codec.decode(self.record).select(guests=2).conditions
        self.assertEqual(("g1", "g2"), two.machines)
        self.assertEqual((START,), two.synchronisation)
        self.assertEqual("incomplete", two.state)
        self.assertEqual((GAP,), two.missing)
        self.assertEqual((STEAL,), two.findings)
        self.assertEqual(["g1"], [one.source for one in two.observations])
        self.assertEqual("metal", two.reference.name)
        self.assertEqual(
            "too many", self.record["conditions"][1]["skip_reason"]
        )

    def test_commands_are_added_up(self):
        """Over machines; work only where all tell."""
        (two,) = codec.decode(self.record).select(guests=2).conditions
        both = usage(
            runs=2, seconds=20, user=1.25, system=6, work=None, unit=""
        )
        self.assertEqual((both, usage("write")), two.command_usage)

    def test_the_whole_has_the_rest(self):
        """What is of no condition, and of all repetitions, each once."""
        whole = codec.decode(self.record)
        self.assertEqual((GAP,), whole.missing)
        self.assertEqual((GAP,), whole.all_missing)
        self.assertEqual((AGED,), whole.findings)
        self.assertEqual({"raw": None, "machines": None}, self.record["files"])


class TestSize(unittest.TestCase):
    """A record stays small, and is written however many guests there are."""

    def setUp(self):
        """Open a journal, and know what all workloads measure."""
        super().setUp()
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.journal = journal.Journal(pathlib.Path(folder), "w")
        self.metrics = [
            metric
            for one in assignment.assign(DEFAULT)
            for metric in one.metrics()
        ]
        self.chance = random.Random(4)

    def build(self, guests, conditions, reference, question="density"):
        """Return the record of a repetition."""
        names, same = setting(guests, self.metrics, reference)
        reported = [
            metric
            for metric in self.metrics
            if not metric.optional or metric.name.endswith(("_p50", "_p99"))
        ]
        return build.build(
            identity(question),
            same,
            [
                build.ConditionResult(
                    axes={} if question == "overhead" else {"guests": number},
                    position=number,
                    state="complete",
                    machines=tuple(names[:number]),
                    observations=observe(
                        names[:number], reported, self.chance
                    ),
                    synchronisation=(START,) * 12,
                    command_usage=took(number),
                    **shapes(number, 1, self.chance),
                    reference_copies=number if reference else None,
                )
                for number in conditions
            ],
            state="complete",
            started_at=build.now(),
        )

    def test_32_levels_of_all_workloads(self):
        """Below 1 MB, with bare metal in as many copies each."""
        levels = range(1, 33)
        owed = [metric for metric in self.metrics if not metric.optional]
        reference = bare(levels, owed, self.chance)
        for copies in reference["copies"]:
            used = took(5 * copies["copies"])
            copies["command_usage"] = codec.encode_commands(used)
            together = shapes(copies["copies"], 5, self.chance)
            copies |= {
                "percentiles": {
                    name: [one["percentiles"]] * 5
                    for name, one in merged_.encode_distributions(
                        together["distributions"]
                    ).items()
                },
                "distributions": merged_.encode_distributions(
                    dataclasses.replace(one, percentiles=())
                    for one in together["distributions"]
                ),
                "time_series": merged_.encode_time_series(
                    merged.merge_time_series([together["time_series"]])
                ),
            }
        record = self.build(32, levels, reference)
        self.journal.append(record)
        self.assertLess(self.journal.path.stat().st_size, 1_000_000)
        self.assertEqual([record], self.journal.read())
        read = codec.decode(record)
        self.assertEqual(32, len(read.conditions))
        (only,) = read.select(guests=32).conditions
        for one in (only, only.reference):
            self.assertEqual(4, len(one.distributions))
            self.assertEqual(6, len(one.time_series))
            self.assertEqual(32, one.distributions[0].machines)
        self.assertEqual(32 * (len(owed) + 8), len(only.observations))

    def test_1000_guests(self):
        """They are written, and read as they were."""
        reference = bare([1], self.metrics, self.chance)
        record = self.build(1000, [1000], reference, "overhead")
        self.journal.append(record)
        (found,) = self.journal.read()
        self.assertEqual(json.loads(json.dumps(record)), found)
        read = codec.decode(found)
        owed = [metric for metric in self.metrics if not metric.optional]
        self.assertEqual(1000, len(read.hosts))
        self.assertEqual(
            1000 * (len(owed) + 8), len(read.condition.observations)
        )
