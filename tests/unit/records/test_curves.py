"""Tests of records of curves, built and read."""

import dataclasses
import tempfile
import unittest

import ddt

from rally_vmperf.execution import measured
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement import sample
from rally_vmperf.measurement.density import curve
from rally_vmperf.records import build
from rally_vmperf.records import build_density
from rally_vmperf.records import codec
from rally_vmperf.records import curves
from rally_vmperf.records import journal
from rally_vmperf.records import output
from rally_vmperf.records import schema
from tests.unit import made

RATE = sample.Metric(
    name="cpu.sysbench.rate", unit="events/s", better="higher"
)
START = curve.Start(
    workload="sysbench",
    command="cpu",
    bound="time",
    skew=0.003,
    uncertainty=0.001,
    overlap=0.98,
)
STEAL = finding.Finding(kind="steal_time", subject="g1", seen="9 %")
GAP = repetition.Missing(what="cpu.x", source="g2", reason="killed")


def seen(source, value):
    """Return an observation of the rate."""
    return sample.Observation(
        source=source, sample=sample.Sample(metric=RATE, value=value)
    )


def built(*levels, **changes):
    """Return a record as a run builds it."""
    whole = made.record()
    return build_density.build_density(
        build.Identity(
            task="t", workload="w", repetition=2, planned=3, counted=True
        ),
        build.Setting(
            shape=whole["shape"],
            machines=made.density_record()["machines"],
            workloads=whole["workloads"],
            expected=[RATE.name],
            metrics=codec.encode_metrics([RATE]),
            reference=None,
            findings=(),
        ),
        levels,
        **{
            "order": build_density.Order(kind="shuffled", seed=3),
            "others": "paused",
            "state": "complete",
            "started_at": build.now(),
            "missing": (),
            "findings": (),
            "raw": "",
            **changes,
        },
    )


class TestBuilt(unittest.TestCase):
    """What a run measured comes back as a curve."""

    def setUp(self):
        """Build a record of two levels, the larger first."""
        super().setUp()
        run = measured.Run(
            workload="sysbench",
            command="cpu",
            machine="g1",
            started=1.0,
            ended=2.0,
            seconds=1.0,
            exit_status=0,
        )
        self.record = built(
            build_density.Level(
                guests=2,
                position=1,
                state="incomplete",
                machines=("g1", "g2"),
                observations=(seen("g1", 80.0),),
                runs=(run,),
                missing=(GAP,),
                findings=(STEAL, STEAL),
                starts=(START,),
                reference=made.record()["reference"],
            ),
            build_density.Level(
                guests=1,
                position=2,
                state="complete",
                machines=("g1",),
                observations=(seen("g1", 90.0),),
            ),
            build_density.Level(
                guests=3, position=3, state="skipped", skipped="too many"
            ),
            state="incomplete",
        )

    def test_it_is_a_record(self):
        """By the schema, and through the journal."""
        schema.check(self.record)
        with tempfile.TemporaryDirectory() as folder:
            kept = journal.Journal(folder, "w")
            kept.append(self.record)
            self.assertEqual([self.record], kept.read())

    def test_levels_ascend(self):
        """Whatever the order in which they ran."""
        read = curves.decode(self.record)
        self.assertEqual([1, 2, 3], [one.guests for one in read.levels])
        self.assertEqual([2, 1, 3], [one.position for one in read.levels])

    def test_each_level_has_its_own(self):
        """Samples, gaps, findings, starts and bare metal."""
        two = curves.decode(self.record).level(2)
        self.assertEqual(("g1", "g2"), two.machines)
        self.assertEqual((START,), two.starts)
        self.assertEqual("incomplete", two.repetition.state)
        self.assertEqual((GAP,), two.repetition.missing)
        self.assertEqual((STEAL,), two.repetition.findings)
        self.assertEqual((seen("g1", 80.0),), two.repetition.observations)
        self.assertEqual("metal", two.repetition.reference.name)
        one = curves.decode(self.record).level(1)
        self.assertEqual(curves.NO_REFERENCE, one.repetition.reference)
        self.assertEqual((), one.repetition.missing)

    def test_a_skipped_level_says_why(self):
        """It lacks nothing that was to be measured."""
        three = curves.decode(self.record).level(3)
        self.assertEqual("too many", three.skipped)
        self.assertEqual("complete", three.repetition.state)
        self.assertEqual((), three.repetition.expected)

    def test_the_whole_holds_all_gaps(self):
        """And no sample, so that nothing counts twice."""
        whole = curves.decode(self.record).whole
        self.assertEqual("incomplete", whole.state)
        self.assertEqual((GAP,), whole.missing)
        self.assertEqual((), whole.observations)

    def test_hosts(self):
        """By the name that Nova gives, else by what stands for one."""
        read = curves.decode(self.record)
        self.assertEqual("compute-1", read.hosts["g3"])
        machines = self.record["machines"]
        for key in ("hypervisor", "host"):
            machines[0]["nova"][key] = None
        machines[1]["nova"] = {}
        read = curves.decode(self.record)
        self.assertEqual("hash-1", read.hosts["g1"])
        self.assertNotIn("g2", read.hosts)


@ddt.ddt
class TestMade(unittest.TestCase):
    """What other tests start from is what a run leaves."""

    @ddt.data(
        {},
        {"levels": (3, 1, 2), "number": 2, "counted": False},
        {"hosts": 2, "bare_metal": (1, 2)},
    )
    def test_valid(self, given):
        """By the schema; and it decodes."""
        record = schema.check(made.density_record(**given))
        read = curves.decode(record)
        for level in read.levels:
            self.assertEqual(
                level.guests * given.get("hosts", 1), len(level.machines)
            )
            sources = {o.source for o in level.repetition.observations}
            self.assertEqual(set(level.machines), sources)
            copies = given.get("bare_metal", ())
            self.assertEqual(
                level.guests in copies,
                bool(level.repetition.reference.repetitions),
            )

    def test_with_losses(self):
        """A lost guest and a skipped level are valid too."""
        record = made.density_record()
        made.lose(record, 3, "g2")
        record["levels"].append(made.skipped(4, 4, "total falls"))
        read = curves.decode(schema.check(record))
        self.assertEqual("incomplete", read.whole.state)
        self.assertEqual(4, len(read.whole.missing))
        self.assertEqual("total falls", read.level(4).skipped)

    @ddt.data(
        {"levels": None},
        {"order": None},
        {"reference": made.record()["reference"]},
        {"samples": [made.observation("g1", "cpu.sysbench.rate", 1.0)]},
        {"kind": "overhead"},
    )
    def test_refused(self, changes):
        """Each kind of record has its own keys."""
        record = {**made.density_record(), **changes}
        with self.assertRaises(schema.RecordError):
            schema.check({k: v for k, v in record.items() if v is not None})

    def test_an_overhead_has_no_levels(self):
        """It may say how its guests started."""
        schema.check(made.record(starts=[dataclasses.asdict(START)]))
        for key, value in (("levels", []), ("reference", None)):
            with self.assertRaises(schema.RecordError):
                schema.check(made.record(**{key: value}))


class TestOutput(unittest.TestCase):
    """A curve is no repetition, and the other way round."""

    def test_each_is_read_by_its_own(self):
        """What is of the other kind is not readable."""
        for record, repetitions, densities in (
            (made.record(), 1, 0),
            (made.density_record(), 0, 1),
        ):
            iteration = {"output": {"complete": [output.encode(record)]}}
            found = output.decode(iteration)
            self.assertEqual(repetitions, int(found is not None))
            found = output.decode_curve(iteration)
            self.assertEqual(densities, int(found is not None))

    def test_marks_call_for_different_charts(self):
        """With data that Rally can add up."""
        self.assertEqual("VMPerfOverhead", output.mark()["chart_plugin"])
        mark = output.density_mark()
        self.assertEqual("VMPerfDensity", mark["chart_plugin"])
        self.assertEqual([["repetitions", 1]], mark["data"])
