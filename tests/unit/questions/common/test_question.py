# SPDX-License-Identifier: Apache-2.0
"""Tests of the one builder of requests for runs."""

import unittest
from unittest import mock

from rally_vmperf.execution import protocols
from rally_vmperf.guests import models
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.samples import sample
from rally_vmperf.questions import table
from rally_vmperf.questions.common import task
from rally_vmperf.runs import run_request

ENVIRONMENT = run_request.RunEnvironment(
    run_cache=run_request.RunCache(),
    task="t",
    owner="w",
    booted=models.BootedGuests(guests=(), client_key=""),
    options={"ssh_timeout": 5},
    baseline=None,
    journal=mock.sentinel.journal,
    connect=mock.sentinel.connect,
    progress=mock.sentinel.progress,
    warn=mock.sentinel.warn,
)


class TestCreateRun(unittest.TestCase):
    """A run of any interface is requested by its task."""

    def test_request(self):
        """The request has the environment and the task's arguments."""
        question = table.questions()["overhead"]
        subtask = task.Task(
            title="",
            scenario=question.scenario,
            arguments=question.arguments(
                workloads=[{"name": "sysbench"}],
                warmup=1,
                peer={"address": "192.0.2.1"},
                control={"address": "192.0.2.2"},
                shape="whole",
                neighbours={"guests": 1},
            ),
            contexts={},
            criteria={},
            runner="serial",
            times=4,
        )
        with mock.patch.object(
            type(question), "start", autospec=True
        ) as start:
            question.create_run(subtask, ENVIRONMENT)
        _, request, arguments = start.call_args.args
        self.assertIs(subtask.arguments, arguments)
        self.assertEqual(
            {
                **vars(ENVIRONMENT),
                "question": "overhead",
                "times": 4,
                "warmup": 1,
                "workloads": [{"name": "sysbench"}],
                "peer": {"address": "192.0.2.1"},
                "control": {"address": "192.0.2.2"},
                "protocol": protocols.Protocol(shape="whole"),
                "criteria": {},
                "tolerate": frozenset(finding.KINDS),
                "vcpus": None,
                "skipped": (),
            },
            vars(request),
        )


class TestCriterion(unittest.TestCase):
    """The options of a criterion are parsed once, for all interfaces."""

    def test_limits_by_option(self):
        parsed = table.criteria()["vmperf_overhead"].parse(
            {"max_percent": {"cpu.*": 5}, "statistic": "worst"}
        )
        self.assertEqual("worst", parsed.options.statistic)
        self.assertEqual(
            {"max_percent": {"cpu.*": 5}, "max": {}, "min": {}},
            {
                option: limits.patterns
                for option, limits in parsed.limits.items()
            },
        )
        judge = parsed.create_judge()
        self.assertIs(parsed.options, judge.options)
        self.assertIs(parsed.limits, judge.limits)

    def test_limits_by_variant(self):
        parsed = table.criteria()["vmperf_tuning"].parse(
            {
                "min_gain_percent": {"a": {"cpu.*": 5}},
                "max_loss_percent": {"b": {"*": 1}, "a": {"disk.*": 2}},
                "confidence": 0.9,
            }
        )
        self.assertEqual(
            {
                "a": {
                    "min_gain_percent": {"cpu.*": 5},
                    "max_loss_percent": {"disk.*": 2},
                },
                "b": {"max_loss_percent": {"*": 1}},
            },
            {
                variant: {
                    option: limits.patterns
                    for option, limits in by_option.items()
                }
                for variant, by_option in parsed.by_variant.items()
            },
        )
        self.assertFalse(parsed.limits)
        self.assertEqual(0.9, parsed.create_judge().options.confidence)

    def test_no_options(self):
        """A report without limits has figures and no verdict."""
        for criterion in table.criteria().values():
            with self.subTest(criterion.name):
                judgement = criterion.parse({}).create_judge().judgement()
                self.assertEqual("void", judgement.status)

    def test_limits_of_a_variant_that_conflict(self):
        """They are rejected with their keys, also in a limits file."""
        limits = {"disk.*": 5, "*.rate": 9}
        metrics = [
            sample.Metric(name, "1/s", "higher")
            for name in ("cpu.rate", "disk.rate", "disk.time")
        ]
        parsed = table.criteria()["vmperf_tuning"].parse(
            {"max_loss_percent": {"virtio": limits}}
        )
        for may_be_unmatched in (True, False):
            with self.assertRaisesRegex(
                task.InvalidTask,
                "^sla vmperf_tuning max_loss_percent virtio: .* match disk.r",
            ):
                parsed.check_limits(metrics, may_be_unmatched=may_be_unmatched)
