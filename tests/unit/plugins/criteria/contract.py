# SPDX-License-Identifier: Apache-2.0
"""The promises of every SLA, as a mixin for the test of each."""

import dataclasses
import itertools

import jsonschema

from rally_vmperf.measurement import repetition
from rally_vmperf.plugins import criteria
from rally_vmperf.records import model
from tests.unit import made

#: An iteration whose record is lost, and one whose record is not readable.
LOST = {"error": [], "output": {"additive": [], "complete": []}}
UNREADABLE = {
    "error": [],
    "output": {
        "additive": [],
        "complete": [{"chart_plugin": model.CHART, "data": {"version": 0}}],
    },
}
#: The repetition of a question with an axis that no SLA judges.
FOREIGN = made.repetition(
    1,
    [
        made.build_condition(1, {made.IOPS: [1.0]}, axes={"moon": phase})
        for phase in ("new", "full")
    ],
    question="astronomy",
)
#: A finding that voids every run.
VOID = made.build_findings("wrong_host")


def build_iteration(measured):
    """Return the iteration of Rally with the record of a repetition."""
    chart = model.encode_output(made.record_of(measured))
    return {"error": [], "output": {"additive": [], "complete": [chart]}}


class SLAContract:
    """The promises of an SLA.

    A subclass is a test case. It declares the run and its limits.

    :cvar NAME: The name of the SLA.
    :cvar RUN: The repetitions of a run, at least three.
    :cvar PASSES: The options whose limits the run keeps.
    :cvar FAILS: The options whose limits it exceeds, the first finally.
    :cvar FAILED: The status of the run with these options.
    :cvar UNDECIDED: The options whose limits it neither keeps nor exceeds.
    :cvar UNMATCHED: The options with a limit that matches no metric.
    :cvar FORGIVES: The options with which an undecided run passes.
    :cvar REJECTED: The options that do not match the schema, in addition to
        those that no SLA accepts.
    """

    NAME = ""
    RUN = ()
    PASSES = ()
    FAILS = ()
    FAILED = "failed"
    UNDECIDED = ()
    UNMATCHED = ()
    FORGIVES = {"on_inconclusive": "pass"}  # noqa: RUF012
    REJECTED = ()

    def create_sla(self, run, options):
        """Return the SLA after these repetitions, and its replies.

        :param run: The repetitions, and iterations in place of some.
        """
        sla = criteria.SLAS[self.NAME](options)
        replies = [
            sla.add_iteration(
                measured
                if isinstance(measured, dict)
                else build_iteration(measured)
            )
            for measured in run
        ]
        return sla, replies

    def check(self, status, run, options, passed=False):
        """Check the status of a run and the result, and return the SLA."""
        sla, _ = self.create_sla(run, options)
        result = sla.result()
        judgement = sla.judge.judgement()
        self.assertEqual(self.NAME, result["criterion"])
        self.assertEqual(status, judgement.status, result["detail"])
        self.assertEqual(passed, judgement.passed)
        self.assertIs(passed, result["success"])
        self.assertTrue(result["detail"].startswith(f"{status}: "))
        return sla

    def forgive(self, options=None):
        """Return options with which an undecided run passes."""
        return {**(options or self.PASSES[0]), **self.FORGIVES}

    def void(self, run, **changes):
        """Return repetitions with a finding that voids each."""
        return [
            dataclasses.replace(measured, findings=VOID, **changes)
            for measured in run
        ]

    def test_limits(self):
        """The verdict depends on the limits, and a failure can be final."""
        for status, passed, rows in (
            ("passed", True, self.PASSES),
            (self.FAILED, False, self.FAILS),
            ("inconclusive", False, self.UNDECIDED),
        ):
            for options in rows:
                with self.subTest(options):
                    self.check(status, self.RUN, options, passed)
                    _, replies = self.create_sla(self.RUN, options)
                    self.assertEqual([True] * 2, replies[:2])
                    if status != "failed":
                        self.assertTrue(all(replies))
        _, replies = self.create_sla(self.RUN, self.FAILS[0])
        self.assertIs(self.FAILED != "failed", replies[-1])

    def test_undecided_limits_are_forgiven(self):
        """Only by their option, which forgives no failure."""
        for options in self.UNDECIDED:
            self.check("inconclusive", self.RUN, self.forgive(options), True)
        for options in self.FAILS:
            self.check(self.FAILED, self.RUN, self.forgive(options))

    def test_void_run(self):
        """It passes only if its finding is tolerated, and always continues."""
        run = self.void(self.RUN)
        for options in self.PASSES:
            self.check("void", run, options)
            self.check("void", run, self.forgive(options))
        self.check("void", run, self.FAILS[0])
        _, replies = self.create_sla(run, self.FAILS[0])
        self.assertTrue(all(replies))
        tolerant = {**self.PASSES[0], "tolerate": ["wrong_host"]}
        sla = self.check("passed", run, tolerant, True)
        (host_finding,) = (
            run_finding
            for run_finding in sla.judge.judgement().findings
            if run_finding.finding.kind == "wrong_host"
        )
        self.assertTrue(host_finding.tolerated)

    def test_void_warmup(self):
        """Its findings void nothing, and its samples are not judged."""
        first = self.RUN[0]
        (warmup,) = self.void([first], counted=False)
        later = [
            dataclasses.replace(measured, number=measured.number + 1)
            for measured in self.RUN
        ]
        sla = self.check("passed", [warmup, *later], self.PASSES[0], True)
        self.assertEqual((), sla.judge.judgement().omitted)

    def test_nothing_measured(self):
        """No record, or none with samples, is never a pass."""
        empty = [
            dataclasses.replace(
                measured,
                conditions=tuple(
                    dataclasses.replace(condition, observations=())
                    for condition in measured.conditions
                ),
            )
            for measured in self.RUN
        ]
        for run in ([], [LOST], [UNREADABLE] * 3, [FOREIGN] * 3, empty):
            for options in (self.PASSES[0], self.forgive()):
                self.check("void", run, options)

    def test_missing_measurements(self):
        """A run that lacks anything does not pass, and continues."""
        gap = repetition.Missing(name="tool", machine="g1", reason="it ended")
        for place, measured in enumerate(self.RUN):
            condition = dataclasses.replace(
                measured.conditions[-1],
                state="incomplete",
                missing=(gap,),
                observations=(),
            )
            conditions = (*measured.conditions[:-1], condition)
            for other in (
                LOST,
                dataclasses.replace(
                    measured, state="interrupted", missing=(gap,)
                ),
                dataclasses.replace(
                    measured, state="incomplete", conditions=conditions
                ),
            ):
                run = [*self.RUN]
                run[place] = other
                for options in (self.PASSES[0], self.forgive()):
                    sla, replies = self.create_sla(run, options)
                    self.assertFalse(sla.result()["success"])
                    self.assertTrue(sla.judge.judgement().missing)
                    self.assertEqual([True] * len(run), replies)
        self.check("inconclusive", self.RUN[:-1], self.PASSES[0])

    def test_unmatched_limits(self):
        """A limit without a metric is named, and the run does not pass."""
        for options in self.UNMATCHED:
            sla = self.check("inconclusive", self.RUN, options)
            self.assertTrue(sla.judge.judgement().unmatched)
            self.assertFalse(
                self.create_sla(self.RUN, self.forgive(options))[0].result()[
                    "success"
                ]
            )

    def test_limits_that_are_not_judged(self):
        """The option skips limits without a metric, and they are named."""
        if (
            "unmeasured"
            not in criteria.SLAS[self.NAME].CONFIG_SCHEMA["properties"]
        ):
            return
        skip = {"unmeasured": "skip"}
        for options in self.UNMATCHED:
            sla, _ = self.create_sla(self.RUN, {**options, **skip})
            result = sla.result()
            if sla.judge.judgement().unmatched:
                # A variant that is missing is not a metric.
                self.assertFalse(result["success"])
                continue
            self.assertTrue(result["success"], result["detail"])
            self.assertIn(
                "not judged: no workload measures it (x",
                " ".join(result["detail"].split()),
            )

    def test_few_repetitions(self):
        """A run of two decides no limit, and this is not forgiven."""
        sla = criteria.SLAS[self.NAME]
        if sla.criterion.fewest_repetitions <= 2:
            return
        run = [
            dataclasses.replace(measured, planned_repetitions=2)
            for measured in self.RUN[:2]
        ]
        for options in (*self.PASSES, self.FAILS[-1]):
            self.check("inconclusive", run, options)
            self.check("inconclusive", run, self.forgive(options))

    def test_order_and_merges(self):
        """The verdict depends on neither."""
        iterations = [*map(build_iteration, self.RUN), LOST]
        for options in (self.PASSES[0], self.FAILS[0]):
            single, _ = self.create_sla(iterations, options)
            for number, order in enumerate(
                itertools.islice(itertools.permutations(iterations), 24)
            ):
                cut = number % (len(order) + 1)
                first, _ = self.create_sla(order[:cut], options)
                second, _ = self.create_sla(order[cut:], options)
                final = first.merge(second)
                self.assertEqual(
                    single.judge.judgement(), first.judge.judgement()
                )
                self.assertEqual(single.result(), first.result())
                self.assertIs(not single.judge.is_failure_final(), final)

    def test_figures_without_limits(self):
        """A judge without limits has figures, and its run never passes."""
        judge = criteria.SLAS[self.NAME].criterion.parse({}).create_judge()
        judgement = made.feed_judge(judge, self.RUN).judgement()
        self.assertTrue(judgement.rows)
        self.assertEqual((), judgement.limited)
        self.assertFalse(judgement.passed)

    def test_schema(self):
        """Unknown keys and values are rejected."""
        schema = criteria.SLAS[self.NAME].CONFIG_SCHEMA
        for options in (*self.PASSES, *self.FAILS, *self.UNDECIDED):
            jsonschema.validate(options, schema)
        jsonschema.validate(self.forgive(), schema)
        keep = self.PASSES[0]
        for options in (
            {**keep, "other": 1},
            {**keep, "tolerate": ["made_up"]},
            {**keep, "tolerate": ["wrong_host"] * 2},
            {**keep, "confidence": 1},
            {**keep, "on_inconclusive": "maybe"},
            *self.REJECTED,
        ):
            with (
                self.subTest(options),
                self.assertRaises(jsonschema.ValidationError),
            ):
                jsonschema.validate(options, schema)
