"""Tests of the one builder of requests for runs."""

import dataclasses
import unittest
from unittest import mock

from rally_vmperf.execution import protocols
from rally_vmperf.guests import models
from rally_vmperf.measurement import finding
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
        question = dataclasses.replace(
            table.questions()["overhead"], run=lambda *request: request
        )
        subtask = task.Task(
            title="",
            scenario=question.scenario,
            arguments={
                "workloads": [{"name": "sysbench"}],
                "warmup": 1,
                "peer": {"address": "192.0.2.1"},
                "shape": "whole",
                "neighbours": {"guests": 1},
            },
            contexts={},
            criteria={},
            runner="serial",
            times=4,
        )
        request, arguments = question.create_run(subtask, ENVIRONMENT)
        self.assertEqual({"neighbours": {"guests": 1}}, arguments)
        self.assertEqual(
            {
                **vars(ENVIRONMENT),
                "question": "overhead",
                "times": 4,
                "warmup": 1,
                "workloads": [{"name": "sysbench"}],
                "peer": {"address": "192.0.2.1"},
                "protocol": protocols.Protocol(shape="whole"),
                "criteria": {},
                "tolerate": frozenset(finding.KINDS),
                "vcpus": None,
            },
            vars(request),
        )
