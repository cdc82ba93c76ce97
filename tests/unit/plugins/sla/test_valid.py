"""Tests of the SLA on findings, as Rally uses it."""

import unittest

import ddt
import jsonschema

from rally_vmperf.plugins.sla import criteria
from rally_vmperf.questions import table
from rally_vmperf.records import model
from tests.unit import made
from tests.unit.plugins.sla import test_overhead

Valid = criteria.SLAS["vmperf_valid"]


def found(kind, **changes):
    """Return a finding of a record."""
    return {"kind": kind, "subject": "g1", "detail": "x", **changes}


@ddt.ddt
class TestValid(unittest.TestCase):
    """No figure has a limit."""

    def judged(self, findings=(), rates=(90.0, 91.0, 89.0), **criterion):
        """Return an SLA that has seen repetitions with these findings."""
        sla = Valid(criterion)
        for number, rate in enumerate(rates, 1):
            sla.add_iteration(
                test_overhead.iteration(rate, number, findings=list(findings))
            )
        return sla

    @ddt.data(
        ([], {}, "passed: no finding voids the run"),
        (["swap_or_oom"], {}, "void: 1 finding is not tolerated"),
        (["swap_or_oom"], {"tolerate": ["swap_or_oom"]}, "passed"),
        (["swap_or_oom"], {"tolerate": ["guest_faster"]}, "void"),
        (["steal_time"], {}, "passed: .*, with 2 warnings: steal_time"),
        (["steal_time"], {"refuse": ["steal_time"]}, "void: 1 finding is"),
        (["bare_metal_unrestricted"], {"refuse": ["steal_time"]}, "passed"),
    )
    @ddt.unpack
    def test_findings(self, kinds, criterion, words):
        """What voids and is not tolerated fails, and what is refused."""
        sla = self.judged([found(kind) for kind in kinds], **criterion)
        result = sla.result()
        self.assertRegex(result["detail"], f"^{words}")
        self.assertIs(words.startswith("passed"), result["success"])
        for kind in kinds:
            if not result["success"]:
                self.assertIn("(g1: x)", result["detail"], kind)

    @ddt.data((3, 0, True), (3, 1, False), (5, 2, True), (5, 3, False))
    @ddt.unpack
    def test_late_commands(self, count, late, success):
        """Three repetitions without one are valid, fewer are not."""
        sla = Valid({})
        bad = found("partial_overlap", subject="cpu.sysbench.rate")
        for number in range(1, count + 1):
            findings = [bad] if number <= late else []
            sla.add_iteration(
                test_overhead.iteration(
                    90.0 + number, number, findings=findings
                )
            )
        result = sla.result()
        self.assertIs(success, result["success"], result["detail"])
        if not success:
            self.assertIn("(cpu.sysbench.rate: x)", result["detail"])

    def test_a_guest_that_is_too_fast(self):
        """Is seen in the figures, where no metric has a limit."""
        sla = self.judged(rates=(190.0, 191.0, 189.0))
        self.assertFalse(sla.result()["success"])
        self.assertIn("significantly faster", sla.details())
        sla = self.judged(
            rates=(190.0, 191.0, 189.0), tolerate=["guest_faster"]
        )
        self.assertTrue(sla.result()["success"], sla.details())

    @ddt.data(
        # Guests measure up to 91 events/s, bare metal up to 101.
        ({"cpu.*": 101.0}, "passed"),
        ({"cpu.*": 99.0}, "void: 1 finding is .*: bare metal shows 101 "),
        ({"cpu.*": 90.5}, "void: 2 findings .*the guest shows 91.0 .*do 90.5"),
        ({"disk.*": 1.0}, "inconclusive: .*'disk.\\*' matches no metric"),
    )
    @ddt.unpack
    def test_physical_limit(self, limits, words):
        """A value above it is void on either side."""
        sla = self.judged(physical_limit=limits)
        self.assertRegex(" ".join(sla.details().split()), f"^{words}")
        self.assertIs(words == "passed", sla.result()["success"])

    def test_physical_limit_of_a_warmup(self):
        """A value above it in a warm-up voids nothing, nor a tolerated one."""
        limits = {"cpu.*": 101.0}
        for counted in (False, True):
            sla = Valid({"physical_limit": limits})
            for number, rate in enumerate((300.0, 90.0, 91.0, 89.0), 1):
                sla.add_iteration(
                    test_overhead.iteration(
                        rate, number, counted=counted or number > 1
                    )
                )
            self.assertIs(counted, "300 events/s" in sla.details())
            self.assertIsNot(counted, sla.result()["success"], sla.details())
        sla = self.judged(
            physical_limit={"cpu.*": 1.0}, tolerate=["above_physical_limit"]
        )
        self.assertTrue(sla.result()["success"], sla.details())

    def test_nothing(self):
        """Nothing measured is no valid run, nor is half of one."""
        self.assertRegex(self.judged(rates=()).details(), "^void: nothing")
        sla = Valid({})
        sla.add_iteration(test_overhead.iteration(90.0, 1))
        self.assertFalse(sla.result()["success"])
        self.assertRegex(sla.details(), "^inconclusive: measurements are")

    def test_merged(self):
        """Repetitions of another instance count."""
        bad = self.judged([found("swap_or_oom")], rates=(90.0,))
        good = Valid({})
        for number in (2, 3):
            good.add_iteration(test_overhead.iteration(90.0, number))
        good.merge(bad)
        self.assertFalse(good.result()["success"])

    def test_density(self):
        """Curves are judged by what their question sees."""
        judge = table.VALID.judge()
        records = made.density_records()
        for record in records:
            judge.add(model.decode(record).repetition)
        self.assertEqual("passed", judge.judgement().status)
        judge = table.VALID.judge()
        for record in records:
            record["findings"] = [found("swap_or_oom")]
            judge.add(model.decode(record).repetition)
        self.assertEqual("void", judge.judgement().status)

    def test_physical_limit_of_density(self):
        """It applies to each guest at each number of guests."""
        for limit, status in ((1e15, "passed"), (1.0, "void")):
            judge = table.VALID.parse(
                {"physical_limit": {"*": limit}}
            ).create_judge()
            for record in made.density_records():
                judge.add(model.decode(record).repetition)
            self.assertEqual(status, judge.judgement().status)

    @ddt.data(
        {"tolerate": ["typo"]},
        {"refuse": "steal_time"},
        {"max": 1},
        {"physical_limit": {"*": 0}},
        {"physical_limit": {}},
    )
    def test_schema(self, criterion):
        """It is closed."""
        with self.assertRaises(jsonschema.ValidationError):
            jsonschema.validate(criterion, Valid.CONFIG_SCHEMA)
