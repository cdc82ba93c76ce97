# SPDX-License-Identifier: Apache-2.0
"""Tests of records as a run writes them, from one guest to a thousand."""

import dataclasses
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
from rally_vmperf.records import journal
from rally_vmperf.records import model
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
    metrics=("cpu.sysbench.rate",),
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
AGE = "2026-03-01T00:00:00+00:00"
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


def guest_names(guests):
    """Return the names of so many guests."""
    return [f"vmperf-guest-{number}" for number in range(1, guests + 1)]


def copy_names(copies):
    """Return the names of so many copies of bare metal."""
    return [f"copy-{number}" for number in range(1, copies + 1)]


def record_of(guests, metrics, conditions, bare_metal=None, **changes):
    """Return the record of a repetition of so many guests.

    :param changes: fields of the repetition
    """
    whole = {
        "run": "w",
        "question": "density",
        "number": 2,
        "planned_repetitions": 3,
        "counted": True,
        "state": "complete",
        "expected_metrics": tuple(metrics),
        "conditions": tuple(conditions),
    }
    return model.Record(
        repetition=repetition.Repetition(**{**whole, **changes}),
        task="t",
        started_at="2026-01-02T03:04:05+00:00",
        finished_at="2026-01-02T03:05:05+00:00",
        software=model.software(),
        shape=model.RecordedShape(vcpus=1, memory_mib=1024, copies=guests),
        machines=tuple(
            model.RecordedMachine(
                name=name,
                role="guest",
                host="compute-1.example.org",
                boot_id=f"8f7d2c4e-0000-4000-8000-{place:012d}#1",
            )
            for place, name in enumerate(guest_names(guests))
        ),
        workloads=tuple(
            model.RecordedWorkload(
                name=workload["name"], label="", arguments={}
            )
            for workload in DEFAULT
        ),
        metrics=tuple(metrics),
        order=model.Order(kind="shuffled", seed=3),
        options={"idle_guests": "paused"},
        bare_metal=bare_metal,
    )


def command_usage(runs):
    """Return the usage of the workloads' commands, sized as in a real run."""
    return [
        usage(
            step.name,
            workload=assigned.title,
            runs=runs,
            user=1.2345 * runs,
            work=98765.4 * runs,
        )
        for assigned in assignment.assign(DEFAULT)
        for step in assigned.workload.commands(assigned.arguments, ENDS)
    ]


def shapes(machines, repetitions, chance):
    """Return distributions and lines, sized as in a real run.

    They cover all machines: latencies of fio, rates of fio and iperf3.
    """
    every = [
        metric
        for assigned in assignment.assign(DEFAULT)
        for metric in assigned.metrics()
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
            dataclasses.replace(distribution, machines=machines)
            for machines, sampled in distributions
            for distribution in merged.distributions([("g1", sampled)])
        ),
        "time_series": tuple(
            dataclasses.replace(series, machines=machines)
            for series in merged.time_series(
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


def bare(numbers, metrics, chance, shaped=False):
    """Return bare metal of five repetitions in so many copies.

    :param shaped: True if it has distributions and time series.
    """
    identity = {"name": "metal", "machine": "compute-1", "recorded_at": AGE}
    references = {}
    for number in numbers:
        together = shapes(number, 5, chance) if shaped else {}
        references[number] = repetition.Reference(
            **identity,
            repetitions=tuple(
                observe(copy_names(number), metrics, chance) for _ in range(5)
            ),
            command_usage=tuple(command_usage(5 * number)) if shaped else (),
            percentiles=5
            * shaped
            * (
                {
                    metric: percentile
                    for distribution in together.get("distributions", ())
                    for metric, percentile in distribution.values().items()
                },
            ),
            distributions=tuple(
                dataclasses.replace(distribution, percentiles=())
                for distribution in together.get("distributions", ())
            ),
            time_series=merged.merge_time_series(
                [together.get("time_series", ())]
            ),
        )
    return made.bare_metal(references, fingerprint={})


class TestBuilt(unittest.TestCase):
    """The measurements of a run are encoded and decoded."""

    def setUp(self):
        """Build a record of two levels, the larger first."""
        super().setUp()
        self.conditions = [
            repetition.Condition(
                axes={"guests": 2},
                position=1,
                state="incomplete",
                machines=("g1", "g2"),
                observations=observe(["g1"], [RATE], random.Random(1)),
                missing=(GAP,),
                findings=(STEAL,),
                synchronisation=(START,),
                reference_copies=1,
                command_usage=(usage(user=0.25), usage("write")),
            ),
            repetition.Condition(
                axes={"guests": 3},
                position=2,
                state="skipped",
                skip_reason="too many",
            ),
        ]
        self.written = record_of(
            3,
            [RATE],
            self.conditions,
            bare([1], [RATE], random.Random(1)),
            state="incomplete",
            missing=(GAP,),
            findings=(AGED,),
        )
        self.record = model.FORMAT.encode(self.written)

    def test_it_is_a_record(self):
        """By the schema, and through the journal."""
        model.FORMAT.decode(self.record)
        with tempfile.TemporaryDirectory() as folder:
            run_journal = journal.Journal(folder, "w")
            run_journal.append(self.written)
            self.assertEqual([model.shorten(self.written)], run_journal.read())

    def test_it_is_read_as_it_was_written(self):
        """Reading and writing are inverse, but for rounded numbers."""
        read = model.decode(self.record)
        self.assertEqual(
            dataclasses.replace(
                read,
                repetition=self.written.repetition,
                bare_metal=self.written.bare_metal,
            ),
            self.written,
        )
        self.assertEqual(self.record, model.FORMAT.encode(read))
        self.assertEqual(list(self.record), list(model.FORMAT.encode(read)))

    def test_each_condition_has_its_own(self):
        """Samples, gaps, findings, starts and bare metal."""
        (two,) = (
            model.decode(self.record).repetition.select(guests=2).conditions
        )
        self.assertEqual(("g1", "g2"), two.machines)
        self.assertEqual((START,), two.synchronisation)
        self.assertEqual("incomplete", two.state)
        self.assertEqual((GAP,), two.missing)
        self.assertEqual((STEAL,), two.findings)
        self.assertEqual(
            ["g1"], [observation.source for observation in two.observations]
        )
        self.assertEqual("metal", two.reference.name)
        self.assertEqual(
            "too many", self.record["conditions"][1]["skip_reason"]
        )

    def test_a_condition_is_read_as_it_was_written(self):
        """With what only its repetition knows."""
        for written, read in zip(
            self.conditions,
            model.decode(self.record).repetition.conditions,
            strict=True,
        ):
            self.assertEqual((2, 3), (read.number, read.planned_repetitions))
            self.assertEqual(
                dataclasses.replace(
                    read,
                    number=0,
                    planned_repetitions=0,
                    expected_metrics=(),
                    reference=repetition.NO_REFERENCE,
                ),
                dataclasses.replace(
                    # Rounded.
                    written,
                    observations=read.observations,
                ),
            )

    def test_the_whole_has_the_rest(self):
        """The fields that do not belong to a condition."""
        whole = model.decode(self.record).repetition
        self.assertEqual((GAP,), whole.missing)
        self.assertEqual((GAP,), whole.all_missing)
        self.assertEqual((AGED,), whole.findings)
        self.assertNotIn("raw_file", self.record)


class TestSize(unittest.TestCase):
    """A record stays small, and is written however many guests there are."""

    def setUp(self):
        """Open a journal, and know what all workloads measure."""
        super().setUp()
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.journal = journal.Journal(pathlib.Path(folder), "w")
        self.metrics = [
            metric
            for assigned in assignment.assign(DEFAULT)
            for metric in assigned.metrics()
        ]
        self.chance = random.Random(4)

    def build(self, guests, numbers, bare_metal, question="density"):
        """Return the record of a repetition."""
        names = guest_names(guests)
        reported = [
            metric
            for metric in self.metrics
            if not metric.optional or metric.name.endswith(("_p50", "_p99"))
        ]
        conditions = [
            repetition.Condition(
                axes={} if question == "overhead" else {"guests": number},
                position=number,
                state="complete",
                machines=tuple(names[:number]),
                observations=observe(names[:number], reported, self.chance),
                synchronisation=(START,) * 12,
                command_usage=tuple(command_usage(number)),
                **shapes(number, 1, self.chance),
                reference_copies=number,
            )
            for number in numbers
        ]
        return model.shorten(
            record_of(
                guests,
                self.metrics,
                conditions,
                bare_metal,
                question=question,
            )
        )

    def test_28_levels_of_all_workloads(self):
        """Below 1 MB, with bare metal in as many copies each."""
        levels = range(1, 29)
        owed = [metric for metric in self.metrics if not metric.optional]
        reference = bare(levels, owed, self.chance, shaped=True)
        record = self.build(28, levels, reference)
        self.journal.append(record)
        self.assertLess(self.journal.path.stat().st_size, 1_000_000)
        self.assertEqual([record], self.journal.read())
        read = record.repetition
        self.assertEqual(28, len(read.conditions))
        (only,) = read.select(guests=28).conditions
        for condition in (only, only.reference):
            self.assertEqual(4, len(condition.distributions))
            self.assertEqual(6, len(condition.time_series))
            self.assertEqual(28, condition.distributions[0].machines)
        self.assertEqual(28 * (len(owed) + 8), len(only.observations))

    def test_1000_guests(self):
        """They are written, and read as they were."""
        reference = bare([1], self.metrics, self.chance)
        record = self.build(1000, [1000], reference, "overhead")
        self.journal.append(record)
        self.assertEqual([record], self.journal.read())
        read = record.repetition
        owed = [metric for metric in self.metrics if not metric.optional]
        self.assertEqual(1000, len(read.hosts))
        self.assertEqual(
            1000 * (len(owed) + 8), len(read.condition.observations)
        )
